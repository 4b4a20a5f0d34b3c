import random
from collections import deque


class WaterJugsEnv:
    """Measure an exact amount with three jugs by filling, emptying and pouring."""

    def __init__(self, max_turns=10):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        while True:
            self.sizes = sorted(rng.sample(range(3, 10), 3), reverse=True)
            self.levels = (0, 0, 0)
            farthest = self._farthest()
            if farthest:
                break
        self.target = rng.choice(sorted(farthest))
        self.path = farthest[self.target]
        self.turn = 0
        self.done = False
        jugs = ", ".join(f"{name} holds {size} litres" for name, size in zip("ABC", self.sizes))
        return (
            f"Three empty jugs stand at a well: {jugs}.\n"
            f"Goal: have exactly {self.target} litres in one of them.\n"
            "Actions: 'fill X', 'empty X', 'pour X Y' (until X is empty or Y is full).\n"
            f"You have {self.max_turns} turns. Write one action in a box, such as \\boxed{{pour A B}}."
        ), {}

    def solution(self):
        return list(self.path)

    def step(self, action):
        if self.done:
            return "The game is over.", 0.0, True, False, {}
        self.turn += 1
        late = self.turn >= self.max_turns
        moved = self._moved(self.levels, action.strip().lower())
        if moved is None:
            self.done = late
            return "No such action: 'fill A', 'empty A' or 'pour A B'.", 0.0, False, late, {}
        self.levels = moved
        text = ", ".join(f"{name} {level}/{size}" for name, level, size in zip("ABC", moved, self.sizes))
        won = self.target in moved
        self.done = won or late
        return text + (". Measured!" if won else "."), float(won), won, late and not won, {}

    def _moved(self, levels, action):
        words = action.split()
        jugs = ["abc".find(word) if len(word) == 1 else -1 for word in words[1:]]
        levels = list(levels)
        if -1 in jugs:
            return None
        if words[:1] == ["fill"] and len(jugs) == 1:
            levels[jugs[0]] = self.sizes[jugs[0]]
        elif words[:1] == ["empty"] and len(jugs) == 1:
            levels[jugs[0]] = 0
        elif words[:1] == ["pour"] and len(jugs) == 2 and jugs[0] != jugs[1]:
            amount = min(levels[jugs[0]], self.sizes[jugs[1]] - levels[jugs[1]])
            levels[jugs[0]] -= amount
            levels[jugs[1]] += amount
        else:
            return None
        return tuple(levels)

    def _farthest(self):
        """Amounts that take five to seven actions to measure, with the shortest way to each."""
        moves = [f"{verb} {x}" for verb in ("fill", "empty") for x in "ABC"]
        moves += [f"pour {x} {y}" for x in "ABC" for y in "ABC" if x != y]
        paths, ways = {self.levels: []}, {}
        queue = deque(paths)
        while queue:
            levels = queue.popleft()
            for amount in levels:
                ways.setdefault(amount, paths[levels])
            if len(paths[levels]) == 7:
                continue
            for move in moves:
                after = self._moved(levels, move.lower())
                if after not in paths:
                    paths[after] = [*paths[levels], move]
                    queue.append(after)
        return {amount: way for amount, way in ways.items() if len(way) >= 5}
