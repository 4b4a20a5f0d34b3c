import random


class BouncerRuleEnv:
    """Find out by trials which numbers a bouncer lets in, then sort a queue of six."""

    def __init__(self, max_turns=12):
        self.max_turns = max_turns

    def reset(self, seed=None):
        rng = random.Random(seed)
        kind = rng.choice(["multiple", "digit sum", "distance", "last digit"])
        self.kind, self.number = kind, rng.randint(3, 7)
        self.centre = rng.randint(20, 79)
        self.queue = []
        while len({self._admits(number) for number in self.queue}) < 2:
            self.queue = sorted(rng.sample(range(10, 100), 6))
        self.turn = 0
        self.done = False
        return (
            "A bouncer lets some of the numbers from 10 to 99 into a club, by one fixed rule about the number.\n"
            "Goal: say for each number of this queue whether it gets in: " + ", ".join(map(str, self.queue)) + ".\n"
            "Actions: 'send N' tries a number that is not in the queue. 'answer' and six letters, Y or N, one for each "
            "number of the queue in order, ends the game.\n"
            f"You have {self.max_turns} turns. Write your action in a box, such as \\boxed{{send 30}} or "
            "\\boxed{answer YNNYNY}."
        ), {}

    def solution(self):
        return ["answer " + self._letters()]

    def step(self, action):
        if self.done:
            return "The club is closed.", 0.0, True, False, {}
        self.turn += 1
        late = self.turn >= self.max_turns
        self.done = late
        words = action.strip().split()
        verb = words[0].lower() if words else ""
        if verb == "answer" and len(words) == 2 and len(words[1]) == 6 and set(words[1].upper()) <= {"Y", "N"}:
            self.done = True
            right = words[1].upper() == self._letters()
            return ("All six are right." if right else "Not all six are right."), float(right), True, False, {}
        if verb == "send" and len(words) == 2 and words[1] in map(str, range(10, 100)):
            if int(words[1]) in self.queue:
                return "That one stands in the queue; send another.", 0.0, False, late, {}
            return f"{words[1]} {'gets in' if self._admits(int(words[1])) else 'is turned away'}.", 0.0, False, late, {}
        return "Write 'send N' with N from 10 to 99, or 'answer' and six letters Y or N.", 0.0, False, late, {}

    def _letters(self):
        return "".join("Y" if self._admits(number) else "N" for number in self.queue)

    def _admits(self, number):
        if self.kind == "multiple":
            return number % self.number == 0
        if self.kind == "digit sum":
            return (number // 10 + number % 10) % self.number == 1
        if self.kind == "distance":
            return abs(number - self.centre) <= 4 * self.number
        return number % 10 >= self.number
