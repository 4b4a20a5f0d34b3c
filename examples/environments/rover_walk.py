import random
from collections import deque


class RoverWalkEnv:
    """Steer a rover that can only turn and roll forward around rocks to a beacon."""

    SIZE = 6
    TURNS = ((-1, 0), (0, 1), (1, 0), (0, -1))
    NAMES = ("north", "east", "south", "west")

    def __init__(self, max_turns=18):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        cells = [(row, column) for row in range(self.SIZE) for column in range(self.SIZE)]
        while True:
            self.rocks = set(rng.sample(cells, 10))
            free = [cell for cell in cells if cell not in self.rocks]
            self.at, self.beacon = rng.sample(free, 2)
            self.facing = rng.randrange(4)
            path = self._route()
            if path is not None and 8 <= len(path) <= 15:
                break
        self.path = path
        self.turn = 0
        self.done = False
        return (
            f"A rover stands on a field of {self.SIZE} by {self.SIZE}, shown with north at the top "
            "(R rover, B beacon, # rock, . free):\n" + self._map() + f"\nThe rover faces {self.NAMES[self.facing]}.\n"
            "Goal: bring it to the beacon.\n"
            "Actions: 'left' and 'right' turn it on the spot, 'forward' rolls one field; at a rock "
            "or the border it stays.\n"
            f"You have {self.max_turns} actions. Write one action at a time in a box, such as \\boxed{{forward}}."
        ), {}

    def solution(self):
        return list(self.path)

    def step(self, action):
        if self.done:
            return "The rover is switched off.", 0.0, True, False, {}
        self.turn += 1
        late = self.turn >= self.max_turns
        word = action.strip().lower()
        if word not in ("left", "right", "forward"):
            self.done = late
            return "The rover knows 'left', 'right' and 'forward'.", 0.0, False, late, {}
        before = self.at
        self.at, self.facing = self._moved((self.at, self.facing), word)
        won = self.at == self.beacon
        self.done = won or late
        note = (
            "It is at the beacon." if won else "It bumps." if word == "forward" and before == self.at else "It moves."
        )
        text = f"{note} Row {self.at[0] + 1}, column {self.at[1] + 1}, facing {self.NAMES[self.facing]}."
        return text, float(won), won, late and not won, {}

    def _map(self):
        signs = {self.at: "R", self.beacon: "B", **dict.fromkeys(self.rocks, "#")}
        rows = range(self.SIZE)
        return "\n".join("".join(signs.get((row, column), ".") for column in rows) for row in rows)

    def _moved(self, state, word):
        (row, column), facing = state
        if word == "left":
            return (row, column), (facing - 1) % 4
        if word == "right":
            return (row, column), (facing + 1) % 4
        there = (row + self.TURNS[facing][0], column + self.TURNS[facing][1])
        inside = 0 <= there[0] < self.SIZE and 0 <= there[1] < self.SIZE
        return (there if inside and there not in self.rocks else (row, column)), facing

    def _route(self):
        start = (self.at, self.facing)
        paths = {start: []}
        queue = deque([start])
        while queue:
            state = queue.popleft()
            if state[0] == self.beacon:
                return paths[state]
            for word in ("forward", "left", "right"):
                after = self._moved(state, word)
                if after not in paths:
                    paths[after] = [*paths[state], word]
                    queue.append(after)
        return None
