"""One sample of a suite: the conversation, its mark, and whatever went wrong as a value that can be counted."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from typing import Protocol as Port

from spade.errors import Retry, Skip, TooLong
from spade.evaluation import Mark, Protocol, Put, Question, Sample, SampleOutcome, SuiteCard, sample_seed
from spade.messages import Completion, Message, Request, Role, Usage
from spade.ports import Model


class MarkerError(Skip):
    """A suite's own scorer or backend failed or hung: no word about the model."""


@dataclass
class Talk:
    """The model as a suite sees it: asked under the protocol, every reply kept."""

    model: Model
    protocol: Protocol
    seed: int
    number: int = 0
    """Which of the task's samples this is."""
    replies: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    cut: bool = False
    """Whether the last reply ended at the token limit."""

    async def ask(self, messages: Sequence[Message], tools: Sequence[dict[str, Any]] = ()) -> Completion:
        """The next reply. Raises what `spade.ports.Model` raises."""
        sampling = self.protocol.sampling((self.seed + len(self.replies)) % 2**31)
        completion = await self.model.complete(Request(tuple(messages), sampling, Role.AGENT, tuple(tools)))
        self.replies.append(completion.text)
        self.usage += completion.usage
        self.cut = completion.finish_reason == "length"
        return completion

    @property
    def spent(self) -> bool:
        """Whether no further reply may be asked for."""
        return len(self.replies) >= self.protocol.turns


class Suite(Port):
    """A benchmark. Tasks come from it, and it marks what was said; nothing else knows what they look like."""

    @property
    def card(self) -> SuiteCard: ...

    @property
    def protocol(self) -> Protocol:
        """The suite's own; a run may change it, and the result says so."""
        ...

    async def questions(self, tasks: int | None, seed: int) -> Sequence[Question]:
        """`tasks` of each group, all when None; the first n of more are the same. Raises `Abort` when the suite cannot
        be had: its package or data is missing or of another version."""
        ...

    async def prompt(self, question: Question) -> str:
        """What a task says, for comparing with what is trained on; empty where only its own runner knows."""
        ...

    async def attempt(self, question: Question, talk: Talk) -> Mark:
        """Hold the conversation and mark it. Raises what `talk.ask` raises, and `MarkerError`."""
        ...

    async def aclose(self) -> None: ...


async def sample_of(suite: Suite, put: Put, question: Question, model: Model, number: int, attempt: int) -> Sample:
    """One sample, whatever becomes of it. `Abort` passes through."""
    started = time.monotonic()
    talk = Talk(model, put.protocol, sample_seed(put.protocol, question.task_id, number), number)
    mark = await _marked(suite, question, talk)
    return Sample(
        settings_id=put.settings_id,
        task_id=question.task_id,
        group=question.group,
        number=number,
        attempt=attempt,
        outcome=mark.outcome,
        score=mark.score if mark.outcome.measured else None,
        answer=mark.answer,
        replies=tuple(talk.replies),
        detail=mark.detail,
        prompt_tokens=talk.usage.prompt_tokens,
        completion_tokens=talk.usage.completion_tokens,
        seconds=time.monotonic() - started,
    )


async def _marked(suite: Suite, question: Question, talk: Talk) -> Mark:
    try:
        return await suite.attempt(question, talk)
    except MarkerError as error:
        return Mark(None, outcome=SampleOutcome.MARKER_ERROR, detail=str(error))
    except TooLong as error:
        return Mark(None, outcome=SampleOutcome.TOO_LONG, detail=str(error))
    except Skip as error:
        return Mark(None, outcome=SampleOutcome.MODEL_REFUSED, detail=str(error))
    except Retry as error:
        return Mark(None, outcome=SampleOutcome.MODEL_ERROR, detail=str(error))


def unanswered(talk: Talk) -> Mark:
    """A conversation that came to no answer: measured, 0, with what ended it."""
    return Mark(0.0, outcome=SampleOutcome.CUT_SHORT if talk.cut else SampleOutcome.NO_ANSWER)


def opening(protocol: Protocol, prompt: str) -> list[Message]:
    """The system message, if the protocol has one, and the task."""
    system = [Message("system", protocol.system)] if protocol.system else []
    return [*system, Message("user", prompt)]
