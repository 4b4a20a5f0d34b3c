import random


class NumberMillEnv:
    """Find the hidden linear rule of a mill by feeding it numbers, then foretell what it makes of a large one."""

    def __init__(self, max_turns=8):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.factor = rng.randint(3, 19)
        self.offset = rng.randint(-40, 40)
        self.modulus = rng.randint(83, 199)
        self.target = rng.randint(300, 900)
        self.turn = 0
        self.done = False
        return (
            f"A mill turns a whole number x into a*x + b, and keeps only the remainder after division "
            f"by {self.modulus}.\n"
            "The whole numbers a and b are hidden: a is at least 3 and at most 19.\n"
            f"Goal: say what the mill makes of {self.target}.\n"
            "Actions: 'feed N' with N from 0 to 20 shows what the mill makes of N. 'answer N' ends the game.\n"
            f"You have {self.max_turns} turns. Write your action in a box, such as \\boxed{{feed 7}}."
        ), {}

    def solution(self):
        return ["feed 0", "feed 1", f"answer {self._mill(self.target)}"]

    def step(self, action):
        if self.done:
            return "The mill has stopped.", 0.0, True, False, {}
        self.turn += 1
        late = self.turn >= self.max_turns
        words = action.strip().lower().split()
        self.done = late
        if len(words) != 2 or words[0] not in ("feed", "answer") or not self._is_number(words[1]):
            return "Write 'feed N' or 'answer N', with N in digits.", 0.0, False, late, {}
        number = int(words[1])
        if words[0] == "answer":
            self.done = True
            right = number == self._mill(self.target)
            return ("Right." if right else "Wrong."), float(right), True, False, {}
        if number > 20:
            return "The mill takes 0 to 20 only.", 0.0, False, late, {}
        return f"The mill makes {self._mill(number)} of {number}.", 0.0, False, late, {}

    def _mill(self, number):
        return (self.factor * number + self.offset) % self.modulus

    def _is_number(self, text):
        return text.isascii() and text.isdigit() and len(text) <= 6
