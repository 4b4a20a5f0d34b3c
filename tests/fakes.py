"""Stand-ins that behave: they record calls and play a part; nothing is patched, and no user ever gets one."""

import re
from collections.abc import Callable, Sequence
from importlib.resources import files

from spade.evaluating import MarkerError, Talk, opening, unanswered
from spade.evaluation import Mark, Protocol, Question, SuiteCard
from spade.messages import Completion, Request, Role, Usage
from spade.outcomes import CallOutcome, Reply, Step


class ScriptedModel:
    """Answers each request with the next text of a script; the last repeats. An exception in the script is raised."""

    name = "scripted"
    weights = "scripted-1"

    def __init__(self, *script: str | Exception) -> None:
        self._script = list(script)
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        answer = self._script[min(len(self.requests), len(self._script)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return Completion(text=answer, model=self.name, weights=self.weights, usage=Usage(10, 2))


class GuessGame:
    """A number from 1 to 9, drawn from the seed; higher or lower; five guesses. Our own code, so no sandbox."""

    def __init__(self, max_turns: int = 5, failing: Reply | None = None) -> None:
        self.max_turns = max_turns
        self.failing = failing
        self.closed = False
        self.actions: list[str] = []
        self._secret = self._turns = 0

    async def reset(self, seed: int) -> Reply:
        self._secret, self._turns = seed % 9 + 1, 0
        return Reply(CallOutcome.OK, observation="Guess a number from 1 to 9.")

    async def step(self, action: str) -> Reply:
        self.actions.append(action)
        self._turns += 1
        if self.failing is not None:
            return self.failing
        if action == str(self._secret):
            return Reply(CallOutcome.OK, steps=(Step("Right.", 1.0, True, False),))
        word = "higher" if action.isdigit() and int(action) < self._secret else "lower"
        return Reply(CallOutcome.OK, steps=(Step(f"{word}.", 0.0, False, self._turns >= self.max_turns),))

    async def steps(self, actions: Sequence[str]) -> Reply:
        played: list[Step] = []
        for action in actions:
            reply = await self.step(action)
            played += reply.steps
            if not reply.ok or played[-1].terminated or played[-1].truncated:
                return Reply(reply.outcome, steps=tuple(played), detail=reply.detail)
        return Reply(CallOutcome.OK, steps=tuple(played))

    async def solution(self) -> Reply:
        return Reply(CallOutcome.OK, actions=(str(self._secret),))

    async def close(self) -> None:
        self.closed = True


def searching(request: Request) -> str:
    """Plays the guessing game by bisection from what the conversation says."""
    low, high, guess = 1, 9, 5
    for message in request.messages:
        if message.role == "user" and "higher" in message.content:
            low = guess + 1
        elif message.role == "user" and "lower" in message.content:
            high = guess - 1
        guess = (low + high) // 2
    return f"\\boxed{{{guess}}}"


class RuleModel:
    """Answers by a rule of the request."""

    name = "rule"
    weights = "rule-1"

    def __init__(self, rule: Callable[[Request], str] = searching) -> None:
        self._rule = rule
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        return Completion(text=self._rule(request), model=self.name, weights=self.weights, usage=Usage(10, 2))


class WholeFactoryModel:
    """Plays all roles: writes dial locks, hints at halving, and opens the locks. Every other lock never pays, unless
    `faulty` is false.

    Without a hint it moves each dial by one, and so opens few locks in time; with the hint it halves what is left.
    """

    name = "whole-factory"
    weights = "whole-factory-1"

    def __init__(self, *, faulty: bool = True) -> None:
        self._designs, self._faulty = 0, faulty
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        self.requests.append(request)
        return Completion(self.answer(request), self.name, self.weights, usage=Usage(100, 10))

    def answer(self, request: Request) -> str:
        """What it says in the request's role."""
        return {Role.DESIGNER: self._design, Role.HINT: self._hint, Role.AGENT: _open_lock}[request.role](request)

    def _design(self, request: Request) -> str:
        self._designs += 1
        program = dial_lock(dials=2 + self._designs % 3, turns=5 + self._designs % 21)
        program = f"{program}\n\nSERIAL = {self._designs}"
        if self._faulty and self._designs % 2:
            program = program.replace("reward, True, False", "0.0, True, False")
        return f"<think>A lock.</think>\n```python\n{program}\n```"

    def _hint(self, request: Request) -> str:
        return "Treat every dial apart and halve the digits that are left for it."


def dial_lock(dials: int, turns: int) -> str:
    """The designer prompt's worked example with another number of dials and of tries."""
    program = (files("spade.prompts") / "skeleton_games.txt").read_text("utf-8")
    names = "ABCDEF"[:dials]
    for old, new in (
        ("range(3)", f"range({dials})"),
        ("/ 3", f"/ {dials}"),
        ("== 3", f"== {dials}"),
        ("!= 3", f"!= {dials}"),
        ('"ABC"', f'"{names}"'),
        ("max_turns=10", f"max_turns={turns}"),
        ("has three dials, A, B and C,", f"has {dials} dials, {' '.join(names)},"),
        ("all three digits", "all digits"),
        ("three digits", f"{dials} digits"),
        ("4 0 9", " ".join("409125"[:dials])),
    ):
        program = program.replace(old, new)
    return program


def _open_lock(request: Request) -> str:
    heard = [m.content for m in request.messages if m.role == "user"]
    halving = heard[0].startswith("Hint:")
    dials = int(re.search(r"has (\d+) dials", heard[0]).group(1))  # type: ignore[union-attr]
    ranges = [(0, 9)] * dials
    guess = [_next(low, high, halving=halving) for low, high in ranges]
    for answer in heard[1:]:
        for dial, word in enumerate(re.findall(r"[A-F] (right|higher|lower)", answer)):
            low, high = ranges[dial]
            low, high = {
                "right": (guess[dial], guess[dial]),
                "higher": (guess[dial] + 1, high),
                "lower": (low, guess[dial] - 1),
            }[word]
            ranges[dial] = (low, high)
        guess = [_next(low, high, halving=halving) for low, high in ranges]
    return f"\\boxed{{{' '.join(map(str, guess))}}}"


def _next(low: int, high: int, *, halving: bool) -> int:
    return (low + high) // 2 if halving else low


class SumSuite:
    """A suite of additions in two groups; the reply is the answer. Tasks whose number is `broken` break the marker."""

    def __init__(self, broken: Sequence[int] = ()) -> None:
        self._broken = frozenset(broken)
        self.closed = False

    card = SuiteCard("sums", "1", "Sums", "made here", "none", "additions")
    protocol = Protocol(metric="share of right sums", max_tokens=16)

    async def questions(self, tasks: int | None, seed: int) -> list[Question]:
        numbers = range(tasks or 4)
        return [Question(f"{g}/{n}", g, {"a": n, "b": seed}) for g in ("small", "large") for n in numbers]

    async def prompt(self, question: Question) -> str:
        return f"What is {question.content['a']} + {question.content['b']}?"

    async def attempt(self, question: Question, talk: Talk) -> Mark:
        a, b = question.content["a"], question.content["b"]
        completion = await talk.ask(opening(talk.protocol, f"{a} + {b} ="))
        if a in self._broken:
            raise MarkerError("the marker broke.")
        found = re.search(r"-?\d+", completion.text)
        return Mark(float(int(found[0]) == a + b), found[0]) if found else unanswered(talk)

    async def aclose(self) -> None:
        self.closed = True
