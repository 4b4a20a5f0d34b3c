import random


class BellTowerEnv:
    """Listen to single strokes of a repeating peal, find its pattern, and foretell a far stroke and its neighbours."""

    BELLS = ("bronze", "copper", "iron", "silver")

    def __init__(self, max_turns=14):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.period = rng.randint(3, 5)
        self.peal = [rng.randrange(4) for _ in range(self.period)]
        self.shift = rng.randint(1, 3)
        self.first = rng.randint(60, 200)
        self.turn = 0
        self.done = False
        return (
            "A tower has four bells: bronze, copper, iron, silver. It plays a peal of 3 to 5 strokes "
            "again and again; each "
            "time, every stroke moves a fixed number of bells on in this list (after silver comes bronze).\n"
            f"Goal: name the bells of strokes {self.first}, {self.first + 1} and {self.first + 2}. "
            f"Strokes count from 0.\n"
            "Actions: 'hear N' with N from 0 to 39 tells the bell of stroke N. 'answer' and three "
            "bells ends the game.\n"
            f"You have {self.max_turns} turns. Write your action in a box, such as \\boxed{{hear 12}} or "
            "\\boxed{answer iron iron copper}."
        ), {}

    def solution(self):
        bells = [self._bell(self.first + n) for n in range(3)]
        return ["hear 0", "hear 7", "answer " + " ".join(bells)]

    def step(self, action):
        if self.done:
            return "The tower is silent.", 0.0, True, False, {}
        self.turn += 1
        late = self.turn >= self.max_turns
        self.done = late
        words = action.lower().replace(",", " ").split()
        if words[:1] == ["answer"] and len(words) == 4 and all(word in self.BELLS for word in words[1:]):
            self.done = True
            right = sum(word == self._bell(self.first + n) for n, word in enumerate(words[1:])) == 3
            return ("Right." if right else "Wrong."), float(right), True, False, {}
        if words[:1] == ["hear"] and len(words) == 2 and words[1] in map(str, range(40)):
            return f"Stroke {words[1]}: {self._bell(int(words[1]))}.", 0.0, False, late, {}
        return "Write 'hear N' with N from 0 to 39, or 'answer' and three bells.", 0.0, False, late, {}

    def _bell(self, stroke):
        times, place = divmod(stroke, self.period)
        return self.BELLS[(self.peal[place] + times * self.shift) % 4]
