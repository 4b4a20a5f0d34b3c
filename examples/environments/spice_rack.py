import random


class SpiceRackEnv:
    """Find the hidden order of four spices from how many stand right and how many stand elsewhere."""

    SPICES = ("anise", "basil", "clove", "dill", "fennel", "ginger", "mace")

    def __init__(self, max_turns=8):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        self.rack = [rng.choice(self.SPICES) for _ in range(4)]
        self.turn = 0
        self.done = False
        return (
            "A rack has four places, and each holds one of these spices, which may repeat: "
            + ", ".join(self.SPICES)
            + ".\nGoal: name the four in order, from left to right.\n"
            "After each try you learn how many stand in their place, and how many more are in the rack but elsewhere.\n"
            f"You have {self.max_turns} tries. Write four names in a box, such as \\boxed{{dill mace dill anise}}."
        ), {}

    def solution(self):
        return [" ".join(self.rack)]

    def step(self, action):
        if self.done:
            return "The rack is closed.", 0.0, True, False, {}
        self.turn += 1
        late = self.turn >= self.max_turns
        names = action.lower().replace(",", " ").split()
        self.done = late
        if len(names) != 4 or any(name not in self.SPICES for name in names):
            return "Name four spices from the list, with spaces between them.", 0.0, False, late, {}
        placed = sum(name == spice for name, spice in zip(names, self.rack))
        shared = sum(min(names.count(spice), self.rack.count(spice)) for spice in set(names))
        if placed == 4:
            self.done = True
            return "All four stand right.", 1.0, True, False, {}
        return f"In their place: {placed}. In the rack but elsewhere: {shared - placed}.", 0.0, False, late, {}
