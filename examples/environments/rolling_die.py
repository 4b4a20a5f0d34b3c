import random
from collections import deque


class RollingDieEnv:
    """Roll a die over a board so that it arrives at a field with the wanted number on top."""

    SIZE = 4
    STEPS = {"north": (-1, 0), "east": (0, 1), "south": (1, 0), "west": (0, -1)}

    def __init__(self, max_turns=14):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        cells = [(row, column) for row in range(self.SIZE) for column in range(self.SIZE)]
        while True:
            self.at, self.goal = rng.sample(cells, 2)
            self.wanted = rng.randint(1, 6)
            self.faces = (1, 2, 3)
            path = self._route()
            if path is not None and 6 <= len(path) <= 11:
                break
        self.path = path
        self.turn = 0
        self.done = False
        return (
            f"A die lies on a board of {self.SIZE} by {self.SIZE} fields, rows numbered from the "
            f"north, columns from the "
            f"west. It lies at row {self.at[0] + 1}, column {self.at[1] + 1}: 1 on top, 2 to the north, 3 to the east "
            "(opposite faces sum to 7).\n"
            f"Goal: have it at row {self.goal[0] + 1}, column {self.goal[1] + 1} with {self.wanted} on top.\n"
            "Each action rolls it over one edge: 'north', 'east', 'south' or 'west'. It cannot leave the board.\n"
            f"You have {self.max_turns} rolls. Write one at a time in a box, such as \\boxed{{east}}."
        ), {}

    def solution(self):
        return list(self.path)

    def step(self, action):
        if self.done:
            return "The die lies still.", 0.0, True, False, {}
        self.turn += 1
        late = self.turn >= self.max_turns
        word = action.strip().lower()
        after = self._rolled((self.at, self.faces), word) if word in self.STEPS else None
        if after is None:
            self.done = late
            return "It cannot roll that way: 'north', 'east', 'south', 'west', within the board.", 0.0, False, late, {}
        self.at, self.faces = after
        won = self.at == self.goal and self.faces[0] == self.wanted
        self.done = won or late
        text = f"It rolls to row {self.at[0] + 1}, column {self.at[1] + 1}."
        return text + (" That is it!" if won else ""), float(won), won, late and not won, {}

    def _rolled(self, state, word):
        (row, column), (top, north, east) = state
        there = (row + self.STEPS[word][0], column + self.STEPS[word][1])
        if not (0 <= there[0] < self.SIZE and 0 <= there[1] < self.SIZE):
            return None
        faces = {
            "north": (7 - north, top, east),
            "south": (north, 7 - top, east),
            "east": (7 - east, north, top),
            "west": (east, north, 7 - top),
        }
        return there, faces[word]

    def _route(self):
        start = (self.at, self.faces)
        paths = {start: []}
        queue = deque([start])
        while queue:
            state = queue.popleft()
            if state[0] == self.goal and state[1][0] == self.wanted:
                return paths[state]
            for word in self.STEPS:
                after = self._rolled(state, word)
                if after is not None and after not in paths:
                    paths[after] = [*paths[state], word]
                    queue.append(after)
        return None
