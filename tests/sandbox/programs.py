"""Programs of our own for the sandbox's tests. They are texts; only sandboxes run them."""

COUNTING = '''
import random

class CountingEnv:
    """Count up to a hidden number; one right step ends it."""

    def __init__(self, max_turns=12):
        self.max_turns = max_turns

    def reset(self, seed=None):
        self.secret = random.Random(seed).randint(2, 5)
        self.turns = 0
        return f"Count to the number. It is {self.secret} steps away.", {"turns": 0}

    def step(self, action):
        self.turns += 1
        if action == "crash":
            return 1 / 0
        if action == "stop":
            return "Stopped.", 0, False, True, {}
        done = self.turns >= self.secret
        return f"{self.turns}: {action}", float(done), done, False, {}

    def solution(self):
        return ["next"] * self.secret
'''

STATE = """
import datetime
import random

ONCE = random.random()

class StateEnv:
    def reset(self, seed=None):
        unseeded = random.Random().random()
        system = random.SystemRandom().random()
        return f"{ONCE} {random.random()} {unseeded} {system} {datetime.datetime.now()} {hash('word')}", {}

    def step(self, action):
        return f"{random.random()} {datetime.date.today()} {datetime.datetime.now()}", 0.0, False, False, {}
"""


def returning(step: str = '("", 0.0, False, False, {})', reset: str = '("start", {})', solution: str = "[]") -> str:
    """A program whose methods return these expressions."""
    return f"""
import json, math, random

class OneEnv:
    def __init__(self):
        self.calls = 0

    def reset(self, seed=None):
        return {reset}

    def step(self, action):
        self.calls += 1
        return {step}

    def solution(self):
        return {solution}
"""


def running(at_import: str = "pass", in_step: str = "pass") -> str:
    """A program that runs statements when it is loaded and when it is stepped (indented as given)."""
    step = "\n".join(f"        {line}" for line in in_step.splitlines())
    return f"""
{at_import}

class OneEnv:
    def reset(self, seed=None):
        return "start", {{}}

    def step(self, action):
{step}
        return "done", 1.0, True, False, {{}}
"""
