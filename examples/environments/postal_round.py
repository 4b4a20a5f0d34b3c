import random
from itertools import permutations


class PostalRoundEnv:
    """Deliver letters to five farms by the shortest round, one road at a time."""

    def __init__(self, max_turns=7):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        names = rng.sample(["Ash", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Larch", "Maple", "Oak"], 5)
        cells = [(x, y) for x in range(10) for y in range(10)]
        places = rng.sample(cells, 6)
        self.post = places[0]
        self.farms = dict(zip(names, places[1:]))
        self.best, self.route = min((self._length(order), order) for order in permutations(names))
        self.walked = []
        self.turn = 0
        self.done = False
        farms = "\n".join(f"- {name} at ({x}, {y})" for name, (x, y) in self.farms.items())
        return (
            f"A postman starts at the post office at ({self.post[0]}, {self.post[1]}), visits five "
            f"farms once each, and walks back to the post office. A walk from (a, b) to (c, d) takes "
            f"|a-c| + |b-d| minutes.\n{farms}\n"
            "Goal: the shortest possible round. The last farm ends it, and only a shortest round is paid in full.\n"
            f"You have {self.max_turns} turns. Write the next farm in a box, such as \\boxed{{{names[0]}}}."
        ), {}

    def solution(self):
        return list(self.route)

    def step(self, action):
        if self.done:
            return "The round is over.", 0.0, True, False, {}
        self.turn += 1
        name = action.strip().capitalize()
        if name not in self.farms or name in self.walked:
            late = self.turn >= self.max_turns
            self.done = late
            return "Name a farm that is still waiting for its letters.", 0.0, False, late, {}
        self.walked.append(name)
        if len(self.walked) < len(self.farms):
            late = self.turn >= self.max_turns
            self.done = late
            waiting = [farm for farm in self.farms if farm not in self.walked]
            return (
                f"At {name} after {self._length(self.walked, back=False)} minutes. Waiting: {', '.join(waiting)}.",
                0.0,
                False,
                late,
                {},
            )
        self.done = True
        length = self._length(self.walked)
        reward = 1.0 if length == self.best else max(0.0, 0.5 - 0.1 * (length - self.best))
        return f"The round took {length} minutes; the shortest takes {self.best}.", reward, True, False, {}

    def _length(self, order, back=True):
        stops = [self.post, *(self.farms[name] for name in order), *([self.post] if back else [])]
        return sum(abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in zip(stops, stops[1:]))
