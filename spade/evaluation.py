"""What an evaluation is: a model, a suite and a protocol, all of them data; and what one sample of it came to."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from spade.identity import content_id, seed_for
from spade.messages import Sampling


@dataclass(frozen=True, slots=True)
class Protocol:
    """How a suite is put to a model. `turns` is the most replies of one sample, `extraction` says how the answer is
    found in a reply, `metric` what a score means; `seed` draws the tasks and the samples."""

    samples: int = 1
    temperature: float = 0.6
    top_p: float = 0.95
    top_k: int = 20
    max_tokens: int = 8192
    turns: int = 1
    seed: int = 0
    system: str = ""
    extraction: str = ""
    metric: str = ""

    def sampling(self, seed: int) -> Sampling:
        return Sampling(self.temperature, self.top_p, self.top_k, self.max_tokens, seed)

    @property
    def protocol_id(self) -> str:
        """Results with equal ids may stand in one column."""
        return content_id("protocol", asdict(self))


@dataclass(frozen=True, slots=True)
class SuiteCard:
    """What people must know of a suite: `source` and `licence` of its tasks, and in a sentence what it asks."""

    name: str
    version: str
    title: str
    source: str
    licence: str
    about: str


@dataclass(frozen=True, slots=True)
class Question:
    """One task. `content` are the JSON values that its suite needs to put and to mark it.

    Tasks with the same `alike` begin with the same long text (a set of tools): they are taken one after another, so
    that an engine with a prompt cache reads it once."""

    task_id: str
    group: str
    content: dict[str, Any]
    alike: str = ""


class SampleOutcome(StrEnum):
    """How one sample ended; exactly one."""

    SCORED = "scored"
    """An answer was found and marked."""
    NO_ANSWER = "no_answer"
    """The model ended without an answer: measured, 0."""
    CUT_SHORT = "cut_short"
    """The token or turn limit came before an answer: measured, 0."""
    MODEL_ERROR = "model_error"
    """The endpoint failed although the call was retried. Not measured."""
    MODEL_REFUSED = "model_refused"
    """The endpoint refused this request for another reason than its length. Not measured."""
    TOO_LONG = "too_long"
    """The conversation did not fit the model's context, at its start or later. Not measured."""
    MARKER_ERROR = "marker_error"
    """The suite's own scorer or backend failed or hung. Not measured."""

    @property
    def measured(self) -> bool:
        return self in (SampleOutcome.SCORED, SampleOutcome.NO_ANSWER, SampleOutcome.CUT_SHORT)

    @property
    def worth_retrying(self) -> bool:
        return self in (SampleOutcome.MODEL_ERROR, SampleOutcome.MARKER_ERROR)


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample of one task. `score` in [0, 1] is None where nothing was measured; `attempt` counts the tries of a
    sample that failed for reasons of ours or the endpoint's."""

    settings_id: str
    task_id: str
    group: str
    number: int
    attempt: int
    outcome: SampleOutcome
    score: float | None
    answer: str = ""
    replies: tuple[str, ...] = ()
    detail: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Put:
    """Which model is asked what, and how. Samples belong to it, whatever number of tasks is wanted in the end."""

    model: str
    weights: str
    suite: SuiteCard
    options: tuple[tuple[str, str], ...]
    protocol: Protocol

    @property
    def settings_id(self) -> str:
        """The same for the same model version, suite version and settings: what is stored under it is not asked again.
        The number of samples is left out, so that more of them go on where fewer ended."""
        asked = {name: value for name, value in asdict(self.protocol).items() if name != "samples"}
        options = [list(pair) for pair in self.options]
        return content_id("put", self.model, self.weights, self.suite.name, self.suite.version, options, asked)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluation as it was asked for. `task_ids` and `groups` go together; `label` names the checkpoint for people,
    `place` is its position on a training axis (updates), None where it has none."""

    put: Put
    task_ids: tuple[str, ...]
    groups: tuple[str, ...]
    label: str = ""
    place: int | None = None

    @property
    def settings_id(self) -> str:
        return self.put.settings_id

    @property
    def evaluation_id(self) -> str:
        tasks = list(self.task_ids)
        return content_id("eval", self.settings_id, self.put.protocol.samples, tasks, self.label, self.place)


@dataclass(frozen=True, slots=True)
class Mark:
    """What a suite says of a finished conversation."""

    score: float | None
    answer: str = ""
    outcome: SampleOutcome = SampleOutcome.SCORED
    detail: str = ""


def sample_seed(protocol: Protocol, task_id: str, number: int) -> int:
    """The seed that one sample's first token is drawn from; it depends on the task and the number alone."""
    return seed_for(protocol.seed, "evaluation", task_id, number)
