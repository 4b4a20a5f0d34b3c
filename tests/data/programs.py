"""A whole environment, written by hand, for the tests of exported packages."""

GUESS = '''
import random


class GuessEnv:
    """Higher or lower."""

    def __init__(self, max_turns=5):
        self.max_turns = max_turns

    def reset(self, seed=None):
        self.secret = random.Random(seed).randint(1, 9)
        self.turns = 0
        return "Guess my number from 1 to 9. Answer with \\\\boxed{number}.", {}

    def step(self, action):
        self.turns += 1
        if not action.strip().isdigit():
            return "Give a number.", 0.0, False, self.turns >= self.max_turns, {}
        guess = int(action)
        if guess == self.secret:
            return "Right.", 1.0, True, False, {}
        word = "Higher." if guess < self.secret else "Lower."
        return word, 0.0, False, self.turns >= self.max_turns, {}

    def solution(self):
        return [str(self.secret)]
'''

BROKEN = {
    "no class": "x = 1\n",
    "two classes": "class AEnv: ...\nclass BEnv: ...\n",
    "not Python": "class (",
    "raises": "class AEnv:\n    def reset(self, seed=None):\n        raise ValueError('no')\n",
    "hangs": "class AEnv:\n    def reset(self, seed=None):\n        while True: pass\n",
    "exits": "import os\nclass AEnv:\n    def reset(self, seed=None):\n        os._exit(3)\n",
    "prints": "class AEnv:\n    def reset(self, seed=None):\n        print('{}')\n        return 'seen', {}\n",
}
