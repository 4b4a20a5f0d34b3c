"""The live parts of one run, built at the edge and handed to every task: ports, settings, and what is stored so far."""

import asyncio
from typing import Any, Protocol

from data.known import Known
from data.memory import VectorMemory
from data.progress import CycleProgress
from spade.designing import Designer
from spade.documents import Document
from spade.gates import Judgement
from spade.ports import Limits, Model, Sandbox
from spade.settings import FactorySettings
from spade.slots import Slot
from tasks.budgeting import Budget


class Watcher(Protocol):
    """Whoever looks on: the progress display, a log, a test."""

    def saw(self, stage: str, subject: str, **facts: Any) -> None: ...


class Nobody:
    """Nobody looks on."""

    def saw(self, stage: str, subject: str, **facts: Any) -> None:
        return None


class Factory:
    """One run's parts. Not a record: it holds connections and lives in one event loop. Not a dataclass either: Prefect
    walks through those whenever a task is called, down to each document of the cycle: a quarter of a
    cycle's processor time, as a profiler had it.

    `documents` are those of the cycle by id; `known` is what the pool gates compare with; `plays` bounds how
    many games are open at once: no more than calls, so that a play keeps its prompt cache; `judged` is what the gates
    said in this run, by environment: a hint needs it again.
    """

    def __init__(  # noqa: PLR0913 - one argument a part
        self,
        *,
        settings: FactorySettings,
        progress: CycleProgress,
        memory: VectorMemory,
        sandbox: Sandbox,
        model: Model,
        designer: Designer,
        documents: dict[str, Document],
        known: Known,
        budget: Budget,
        watcher: Watcher,
        plays: asyncio.Semaphore,
    ) -> None:
        self.settings = settings
        self.progress = progress
        self.memory = memory
        self.sandbox = sandbox
        self.model = model
        self.designer = designer
        self.documents = documents
        self.known = known
        self.budget = budget
        self.watcher = watcher
        self.plays = plays
        self.judged: dict[str, Judgement] = {}

    @property
    def limits(self) -> Limits:
        sandbox = self.settings.sandbox
        return Limits(sandbox.wall_seconds, sandbox.cpu_seconds, sandbox.memory_mb, sandbox.scratch_mb)

    def document(self, slot: Slot) -> Document | None:
        """What the designer is shown of the slot's document; None where a run leaves documents out."""
        return self.documents[slot.document_id] if self.settings.corpus.shown else None


def label(slot: Slot, env_id: str = "") -> str:
    """How a person finds a slot among run names: `03-spatial_reasoning`, with the environment once there is one. Tags
    would do too, but cost a call of Prefect's server for each task run: it looks for limits of theirs."""
    return f"{slot.index:02d}-{slot.skill} {env_id}".strip()
