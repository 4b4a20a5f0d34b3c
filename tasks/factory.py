"""The live parts of one run, built at the edge and handed to every task: ports, settings, and what is stored so far."""

import asyncio
from dataclasses import dataclass, field
from typing import Any, Protocol

from data.known import Known
from data.memory import VectorMemory
from data.progress import CycleProgress
from spade.designing import Designer
from spade.documents import Document
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


@dataclass(eq=False)
class Factory:
    """One run's parts. Not a record: it holds connections and lives in one event loop.

    `documents` are those of the cycle by id; `known` is what the pool gates compare with; `plays` bounds how
    many games are open at once: no more than calls, so that a play keeps its prompt cache.
    """

    settings: FactorySettings
    progress: CycleProgress
    memory: VectorMemory
    sandbox: Sandbox
    model: Model
    designer: Designer
    documents: dict[str, Document]
    known: Known
    budget: Budget
    watcher: Watcher = field(default_factory=Nobody)
    plays: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(64))

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
