import random


class GreenhouseEnv:
    """Find by experiments what makes a plant bloom: two causes that must come together, and one that prevents it."""

    FACTORS = ("ash", "fog", "heat", "lime", "moss", "shade", "song")

    def __init__(self, max_turns=12):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        chosen = rng.sample(self.FACTORS, 3)
        self.causes = sorted(chosen[:2])
        self.blocker = chosen[2]
        self.turn = 0
        self.done = False
        return (
            "A plant blooms under a hidden condition. These can be given or left out: "
            + ", ".join(self.FACTORS)
            + ".\n"
            "Two of them together make it bloom, unless a third one is given, which prevents it. The "
            "rest does nothing.\n"
            "Goal: name the two causes and the one that prevents.\n"
            "Actions: 'try' and what is given, all the rest being left out. 'answer' and three "
            "words, the two causes and "
            "then the preventer, ends the game.\n"
            f"You have {self.max_turns} turns. Write your action in a box, such as \\boxed{{try fog lime song}} or "
            "\\boxed{answer heat moss ash}."
        ), {}

    def solution(self):
        return ["try " + " ".join(self.causes), "try " + " ".join([*self.causes, self.blocker]), self._answer()]

    def step(self, action):
        if self.done:
            return "The season is over.", 0.0, True, False, {}
        self.turn += 1
        late = self.turn >= self.max_turns
        self.done = late
        words = action.lower().replace(",", " ").split()
        verb, given = (words[0], words[1:]) if words else ("", [])
        if any(word not in self.FACTORS for word in given) or verb not in ("try", "answer"):
            return "Write 'try' or 'answer' and words of the list.", 0.0, False, late, {}
        if verb == "answer":
            if len(given) != 3:
                return "An answer has three words: two causes and then the preventer.", 0.0, False, late, {}
            self.done = True
            right = sorted(given[:2]) == self.causes and given[2] == self.blocker
            return ("Right." if right else "Wrong."), float(right), True, False, {}
        blooms = set(self.causes) <= set(given) and self.blocker not in given
        return ("It blooms." if blooms else "It stays green."), 0.0, False, late, {}

    def _answer(self):
        return "answer " + " ".join([*self.causes, self.blocker])
