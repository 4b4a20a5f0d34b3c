import random


class SwitchboardEnv:
    """Find out by switching which lever drives which of five lamps, where some levers act against others."""

    LEVERS = "ABCDE"

    def __init__(self, max_turns=9):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        order = list(range(5))
        rng.shuffle(order)
        self.lamp_of = order
        self.inverted = [rng.random() < 0.5 for _ in range(5)]
        self.levers = [False] * 5
        self.turn = 0
        self.done = False
        return (
            "Five levers A to E are down. Each drives exactly one of five lamps, numbered 1 to 5; "
            "some levers light their "
            "lamp when they are up, others when they are down.\n"
            f"Now burning: {self._burning()}.\n"
            "Goal: say which lamp each lever drives.\n"
            "Actions: 'flip' and one or more levers, all at once. 'answer' and five lamp numbers, "
            "for A to E in order, ends "
            "the game.\n"
            f"You have {self.max_turns} turns. Write your action in a box, such as \\boxed{{flip B D}} or "
            "\\boxed{answer 3 1 2 5 4}."
        ), {}

    def solution(self):
        return ["flip A B", "flip B C", "answer " + " ".join(str(lamp + 1) for lamp in self.lamp_of)]

    def step(self, action):
        if self.done:
            return "The board is dark.", 0.0, True, False, {}
        self.turn += 1
        late = self.turn >= self.max_turns
        self.done = late
        words = action.upper().replace(",", " ").split()
        verb, rest = (words[0], words[1:]) if words else ("", [])
        if verb == "ANSWER" and sorted(rest) == ["1", "2", "3", "4", "5"]:
            self.done = True
            right = [int(word) - 1 for word in rest] == self.lamp_of
            return ("Right." if right else "Wrong."), float(right), True, False, {}
        if verb == "FLIP" and rest and all(word in list(self.LEVERS) for word in rest):
            for word in sorted(set(rest)):
                at = self.LEVERS.index(word)
                self.levers[at] = not self.levers[at]
            return f"Now burning: {self._burning()}.", 0.0, False, late, {}
        return (
            "Write 'flip' and levers from A to E, or 'answer' and the numbers 1 to 5 in some order.",
            0.0,
            False,
            late,
            {},
        )

    def _burning(self):
        lit = [self.lamp_of[at] + 1 for at in range(5) if self.levers[at] != self.inverted[at]]
        return ", ".join(map(str, sorted(lit))) or "none"
