import random
from itertools import permutations


class ManorMysteryEnv:
    """Question witnesses about who was in which room, and name all four rooms at once."""

    GUESTS = ("Ada", "Bruno", "Clara", "Denis")
    ROOMS = ("attic", "cellar", "hall", "library")

    def __init__(self, max_turns=6):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        rooms = list(self.ROOMS)
        rng.shuffle(rooms)
        self.where = dict(zip(self.GUESTS, rooms))
        self.clues = self._clues(rng)
        self.turn = 0
        self.done = False
        return (
            "At midnight Ada, Bruno, Clara and Denis were in the attic, the cellar, the hall and the "
            "library, one in each.\n"
            "Goal: say who was where.\n"
            f"There are {len(self.clues)} witnesses, numbered from 1. Each tells one true thing when asked.\n"
            "Actions: 'ask N', or 'accuse' with the rooms of Ada, Bruno, Clara and Denis in this "
            "order, which ends the game.\n"
            f"You have {self.max_turns} turns. Write your action in a box, such as \\boxed{{ask 2}} or "
            "\\boxed{accuse hall attic library cellar}."
        ), {}

    def solution(self):
        return [f"ask {n + 1}" for n in range(len(self.clues))] + ["accuse " + " ".join(self.where.values())]

    def step(self, action):
        if self.done:
            return "The case is closed.", 0.0, True, False, {}
        self.turn += 1
        late = self.turn >= self.max_turns
        self.done = late
        words = action.lower().replace(",", " ").split()
        if words[:1] == ["accuse"] and sorted(words[1:]) == sorted(self.ROOMS):
            self.done = True
            right = words[1:] == list(self.where.values())
            return ("The case is solved." if right else "The wrong people hang."), float(right), True, False, {}
        if len(words) == 2 and words[0] == "ask" and words[1] in [str(n + 1) for n in range(len(self.clues))]:
            return self.clues[int(words[1]) - 1][0], 0.0, False, late, {}
        return "Write 'ask N', or 'accuse' and four different rooms.", 0.0, False, late, {}

    def _clues(self, rng):
        """True statements, drawn until only one assignment is left."""
        facts = []
        for guest in self.GUESTS:
            for room in self.ROOMS:
                if self.where[guest] != room:
                    facts.append((f"{guest} was not in the {room}.", lambda w, g=guest, r=room: w[g] != r))
        for one, other in permutations(self.GUESTS, 2):
            rooms = sorted((self.where[one], self.where[other]))
            if one < other:
                facts.append(
                    (
                        f"{one} and {other} shared the {rooms[0]} and the {rooms[1]} between them, one in each.",
                        lambda w, a=one, b=other, r=rooms: sorted((w[a], w[b])) == r,
                    )
                )
        while True:
            chosen = rng.sample(facts, 4)
            worlds = [dict(zip(self.GUESTS, rooms)) for rooms in permutations(self.ROOMS)]
            if sum(all(test(world) for _, test in chosen) for world in worlds) == 1:
                return chosen
