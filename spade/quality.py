"""What the paper says of its environments and its agent, computed from a run's own records; definitions stand with
each figure, since the paper gives them in words only."""

import ast
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean

from spade.attempts import Attempt
from spade.environments import Environment
from spade.scores import Score
from spade.summary import BAND
from spade.verdicts import Status, Verdict

RUNS = ("form.", "runtime.")
"""Gates a program passes when it runs as it should."""
ORACLE = "semantic.oracle_max"
LEAK = "semantic.no_solution_leakage"


@dataclass(frozen=True, slots=True)
class Quality:
    """One figure. `value` is None where nothing was measured; `n` is over how many things; `paper` is the paper's,
    empty where it gives none; `means` says what is counted here."""

    name: str
    value: float | None
    n: int
    means: str
    paper: str = ""
    percent: bool = False


@dataclass(frozen=True, slots=True)
class PlainPlay:
    """What the figures need of a measured plain play. `said`: tokens of the agent's reply in each turn, None where they
    are not on record."""

    cycle_id: str
    env_id: str
    return_: float
    said: Sequence[int | None]


@dataclass(frozen=True)
class Made:
    """A run's records: all attempts, accepted environments, scores, measured plain plays. `vendi` is the Vendi score
    over its `vendi_n` latest environments, None without any."""

    attempts: Sequence[Attempt] = ()
    environments: Sequence[Environment] = ()
    scores: Sequence[Score] = ()
    plays: Sequence[PlainPlay] = ()
    vendi: float | None = None
    vendi_n: int = 0


def figures(made: Made) -> list[Quality]:
    """All figures, in the order in which the paper's are given."""
    first = [a for a in made.attempts if a.number == 0]
    running = [a for a in made.attempts if runs(a)]
    solved = [_gate(a, ORACLE) for a in running if _gate(a, ORACLE) is not None]
    clean = [_gate(a, LEAK) for a in running if _gate(a, LEAK) is not None]
    posed = [_posed(a) for a in running if any(map(_of_meaning, a.verdicts))]
    slots = defaultdict(list)
    for attempt in made.attempts:
        slots[attempt.slot_id].append(runs(attempt))
    rates = [s.plain.win_rate for s in made.scores if s.plain.win_rate is not None]
    return [
        _share("raw executability", [runs(a) for a in first], "first attempts that pass every gate of form and running",
               "84.9 %"),
        _share("executability after retries", [any(tried) for tried in slots.values()], "slots with such an attempt",
               "100 %"),
        _share("well-posedness", posed,
               "running programs that pass each other gate of meaning that looked (paper: a judge)", "97–98 %"),
        _share("verifiability", [bool(ok) for ok in solved], "running programs whose own solution earns everything",
               "90–93 %"),
        _share("learnable-band share", [BAND[0] <= rate <= BAND[1] for rate in rates],
               "scored environments won in 20 to 80 of 100 plain plays", "0.16 → 0.31"),
        _mean("distinct reward levels", _levels(made.plays), "different returns of an environment's plain plays",
              "3.7 → 5.8"),
        _share("answer or formula printed at reset", [not ok for ok in clean], "running programs that the gate found",
               "25 % → 5 %"),
        _mean("lines", [len(e.code.splitlines()) for e in made.environments], "lines of an accepted program",
              "about 320"),
        _mean("state variables", [state_variables(e.code) for e in made.environments],
              "attributes of self that an accepted program sets", "about 13"),
        Quality("Vendi / n", made.vendi / made.vendi_n if made.vendi is not None and made.vendi_n else None,
                made.vendi_n, "over the latest environments, 200 at most", "0.68 (0.04 without documents)"),
        _mean("regret", [s.regret for s in made.scores if s.regret is not None], "hinted less plain return"),
        _mean("turns", [len(p.said) for p in made.plays], "turns of a measured plain play"),
    ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class TurnTokens:
    """Tokens that the agent says in one cycle: in the first turn, and in later ones; None without any. Where looking at
    evidence comes before thinking, the first falls and the second rises."""

    cycle_id: str
    first: float | None
    later: float | None
    plays: int


def turn_tokens(plays: Sequence[PlainPlay], cycles: Sequence[str]) -> list[TurnTokens]:
    """By cycle, over turns whose tokens are on record."""
    return [_turn_tokens(cycle, [p.said for p in plays if p.cycle_id == cycle]) for cycle in cycles]


def _turn_tokens(cycle_id: str, plays: Sequence[Sequence[int | None]]) -> TurnTokens:
    first = [said[0] for said in plays if said and said[0] is not None]
    later = [tokens for said in plays for tokens in said[1:] if tokens is not None]
    known = sum(any(tokens is not None for tokens in said) for said in plays)
    return TurnTokens(cycle_id, fmean(first) if first else None, fmean(later) if later else None, known)


def runs(attempt: Attempt) -> bool:
    """Whether the program of an attempt passed every gate of form and of running that looked at it, and one did."""
    looked = [v.status for v in attempt.verdicts if v.gate.startswith(RUNS)]
    ran = any(v.gate.startswith("runtime.") and v.status is Status.PASS for v in attempt.verdicts)
    return ran and Status.FAIL not in looked


@lru_cache(maxsize=512)
def state_variables(code: str) -> int:
    """How many attributes of `self` a program sets; 0 for one that does not parse."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return 0
    return len({n.attr for n in ast.walk(tree) if _sets(n)})  # type: ignore[attr-defined]


def _sets(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def _levels(plays: Sequence[PlainPlay]) -> list[int]:
    returns: dict[str, set[float]] = defaultdict(set)
    for play in plays:
        returns[play.env_id].add(round(play.return_, 6))
    return [len(levels) for levels in returns.values()]


def _of_meaning(verdict: Verdict) -> bool:
    return verdict.gate.startswith("semantic.") and verdict.gate not in (ORACLE, LEAK)


def _posed(attempt: Attempt) -> bool:
    return not any(_of_meaning(v) and v.status is Status.FAIL for v in attempt.verdicts)


def _gate(attempt: Attempt, gate: str) -> bool | None:
    """Whether an attempt passed a gate; None when it did not look."""
    found = [v.status for v in attempt.verdicts if v.gate == gate]
    return found[-1] is not Status.FAIL if found else None


def _share(name: str, values: Sequence[bool], means: str, paper: str = "") -> Quality:
    return Quality(name, fmean(values) if values else None, len(values), means, paper, percent=True)


def _mean(name: str, values: Sequence[float], means: str, paper: str = "") -> Quality:
    return Quality(name, fmean(values) if values else None, len(values), means, paper)
