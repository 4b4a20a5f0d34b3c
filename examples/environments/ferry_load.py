import random


class FerryLoadEnv:
    """Load a ferry with the most valuable freight that its hold can carry, item by item, and then sail."""

    def __init__(self, max_turns=12):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        names = rng.sample(["anvils", "barley", "candles", "drums", "enamel", "flax", "glass", "hides", "ivory"], 7)
        self.items = {name: (rng.randint(2, 9), rng.randint(5, 40)) for name in names}
        self.capacity = sum(weight for weight, _ in self.items.values()) // 2
        self.aboard = []
        self.turn = 0
        self.done = False
        self.best_value, self.best_names = self._best()
        lines = [f"- {name}: weight {weight}, value {value}" for name, (weight, value) in self.items.items()]
        return (
            f"A ferry carries at most {self.capacity} units of weight. On the quay:\n" + "\n".join(lines) + "\n"
            "Goal: sail with the greatest total value that the ferry can carry.\n"
            "Actions: 'load NAME', 'unload NAME', and 'sail', which ends the trip and pays only for the best freight; "
            "a lesser one pays the square of its share, less a half.\n"
            f"You have {self.max_turns} turns. Write one action in a box, such as \\boxed{{load {names[0]}}}."
        ), {}

    def solution(self):
        return [f"load {name}" for name in self.best_names] + ["sail"]

    def step(self, action):
        if self.done:
            return "The ferry has sailed.", 0.0, True, False, {}
        self.turn += 1
        words = action.strip().lower().split()
        if words == ["sail"]:
            self.done = True
            return self._sail()
        text = self._move(words)
        late = self.turn >= self.max_turns
        self.done = late
        return text, 0.0, False, late, {}

    def _move(self, words):
        if len(words) != 2 or words[0] not in ("load", "unload") or words[1] not in self.items:
            return "No such action. Write 'load NAME', 'unload NAME' or 'sail'."
        verb, name = words
        if (verb == "load") == (name in self.aboard):
            return f"The {name} cannot be moved that way."
        if verb == "unload":
            self.aboard.remove(name)
        elif self._weight() + self.items[name][0] > self.capacity:
            return f"The {name} would sink the ferry: only {self.capacity - self._weight()} units are free."
        else:
            self.aboard.append(name)
        return f"Aboard: {', '.join(self.aboard) or 'nothing'}. Free: {self.capacity - self._weight()} units."

    def _weight(self):
        return sum(self.items[name][0] for name in self.aboard)

    def _value(self, names):
        return sum(self.items[name][1] for name in names)

    def _sail(self):
        share = self._value(self.aboard) / self.best_value
        reward = 1.0 if share >= 1 else max(0.0, share * share - 0.5)
        return f"You sail with {share:.0%} of the best value.", reward, True, False, {}

    def _best(self):
        names = list(self.items)
        best = (0, [])
        for mask in range(1 << len(names)):
            chosen = [name for at, name in enumerate(names) if mask >> at & 1]
            if sum(self.items[name][0] for name in chosen) <= self.capacity:
                best = max(best, (self._value(chosen), chosen), key=lambda pair: pair[0])
        return best
