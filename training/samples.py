"""From stored plays and attempts to what is trained on: exact tokens, never re-made from text (docs/method.md).

A turn whose prompt goes on exactly where the last turn ended is trained in one sequence with it; where it does not, as
with models whose earlier thoughts leave the context, each turn is a sample of its own.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from spade.messages import Role, Sampling, Tokens

PROBABLE = 1e-6
"""A log-probability above this is no rounding error."""


class Fault(StrEnum):
    """Why a record cannot be trained on."""

    MISSING_TOKENS = "missing tokens"
    """The engine returned no prompt ids, output ids or log-probabilities; such a record can feed SFT only."""
    LENGTHS_DIFFER = "lengths differ"
    """Not one log-probability and one set of choices per output token."""
    POSITIVE_LOGPROB = "positive log-probability"
    NAN_LOGPROB = "log-probability is not a finite number"
    UNKNOWN_CHOICES = "choices of the guide unknown"
    """Decoded under a guide, but what it left to choose from was not stored, so no ratio can be computed."""
    NOT_ALLOWED = "token outside the guide"
    CUT_DISTRIBUTION = "top-p or top-k cut the distribution"
    """Log-probabilities of a cut distribution cannot be recomputed by the trainer."""
    VOCABULARY = "token outside the model's vocabulary"
    TOO_LONG = "longer than the limit"


@dataclass(frozen=True, slots=True)
class Limits:
    """What the model can take: ids below `vocabulary`, at most `tokens` in one sequence."""

    vocabulary: int
    tokens: int = 32768


@dataclass(frozen=True, slots=True)
class Sample:
    """One sequence to train on.

    `ids`: prompt and output tokens in order. `at`: places in `ids` of the tokens that were sampled and are trained;
    `logprobs` and `allowed` have one entry a place: the behaviour policy's log-probability (natural logarithm, under
    `temperature` and the guide) and what the guide left to choose from, empty for the whole vocabulary. A token that
    was the only choice is context, not a place. `late`: sampled by weights some rounds older than those it trains.
    """

    role: Role
    group: str
    subject_id: str
    part: int
    ids: tuple[int, ...]
    at: tuple[int, ...]
    logprobs: tuple[float, ...]
    allowed: tuple[tuple[int, ...], ...]
    advantage: float = 0.0
    temperature: float = 1.0
    weights: str = ""
    env_id: str = ""
    late: bool = False

    @property
    def tokens(self) -> int:
        return len(self.at)


@dataclass(frozen=True, slots=True)
class Origin:
    """What all samples of one play or attempt share."""

    role: Role
    group: str
    subject_id: str
    weights: str
    env_id: str
    late: bool = False


def fault_of(tokens: Tokens | None, guided: bool, sampling: Sampling, limits: Limits) -> Fault | None:
    """The first thing wrong with one token record, or None."""
    if tokens is None or not tokens.prompt_ids or not tokens.output_ids or tokens.logprobs is None:
        return Fault.MISSING_TOKENS
    allowed = tokens.allowed
    if len(tokens.logprobs) != len(tokens.output_ids) or (allowed and len(allowed) != len(tokens.output_ids)):
        return Fault.LENGTHS_DIFFER
    if guided and allowed is None:
        return Fault.UNKNOWN_CHOICES
    if any(math.isnan(value) or value == -math.inf for value in tokens.logprobs):
        return Fault.NAN_LOGPROB
    if any(value > PROBABLE for value in tokens.logprobs):
        return Fault.POSITIVE_LOGPROB
    if tokens.logprobs_of == "sampling" and (sampling.top_p < 1.0 or sampling.top_k > 0):
        return Fault.CUT_DISTRIBUTION
    ids = (*tokens.prompt_ids, *tokens.output_ids)
    if min(ids) < 0 or max(ids) >= limits.vocabulary:
        return Fault.VOCABULARY
    if allowed and any(a and i not in a for a, i in zip(allowed, tokens.output_ids, strict=True)):
        return Fault.NOT_ALLOWED
    return Fault.TOO_LONG if len(ids) > limits.tokens else None


def samples_of(
    origin: Origin, turns: Sequence[tuple[Tokens | None, bool]], sampling: Sampling, limits: Limits
) -> list[Sample] | Fault:
    """The samples of one play or attempt from its turns' records (and whether each was guided); or its fault.

    One turn with a fault condemns the whole: an advantage belongs to all of it.
    """
    records: list[Tokens] = []
    for tokens, guided in turns:
        fault = fault_of(tokens, guided, sampling, limits)
        if fault is not None or tokens is None:
            return fault or Fault.MISSING_TOKENS
        records.append(tokens)
    drawn = all(record.logprobs_of != "model" for record in records)
    temperature = sampling.temperature if drawn and sampling.temperature > 0 else 1.0
    return [
        replace(_sample(origin, part, run), temperature=temperature)
        for part, run in enumerate(_runs(records, limits.tokens))
    ]


def _runs(records: Sequence[Tokens], longest: int) -> Iterator[list[Tokens]]:
    """Turns grouped so that within a group each prompt is exactly all that came before plus something new."""
    run: list[Tokens] = []
    seen: tuple[int, ...] = ()
    for record in records:
        prompt, output = record.prompt_ids or (), record.output_ids or ()
        goes_on = len(prompt) > len(seen) and prompt[: len(seen)] == seen and len(prompt) + len(output) <= longest
        if run and not goes_on:
            yield run
            run = []
        run.append(record)
        seen = prompt + output
    if run:
        yield run


def _sample(origin: Origin, part: int, run: Sequence[Tokens]) -> Sample:
    last = run[-1]
    ids = (last.prompt_ids or ()) + (last.output_ids or ())
    at: list[int] = []
    logprobs: list[float] = []
    allowed: list[tuple[int, ...]] = []
    for record in run:
        first, output = len(record.prompt_ids or ()), record.output_ids or ()
        choices = record.allowed or ((),) * len(output)
        for offset, (value, choice) in enumerate(zip(record.logprobs or (), choices, strict=True)):
            if len(choice) != 1:
                at.append(first + offset)
                logprobs.append(min(0.0, value))
                allowed.append(tuple(choice))
    return Sample(
        role=origin.role,
        group=origin.group,
        subject_id=origin.subject_id,
        part=part,
        ids=ids,
        at=tuple(at),
        logprobs=tuple(logprobs),
        allowed=tuple(allowed),
        weights=origin.weights,
        env_id=origin.env_id,
        late=origin.late,
    )
