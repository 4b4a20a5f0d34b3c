"""What was learned from what: batches, checkpoints, and the records that tie them to plays and designs."""

from dataclasses import dataclass

from spade.identity import content_id
from spade.messages import Role


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """One batch of an update, as the catalog knows it. The samples themselves lie in its folder, named by its id."""

    batch_id: str
    cycle_id: str
    round: int
    samples: int
    tokens: int
    flat_groups: int
    skipped: int
    weights: str


@dataclass(frozen=True, slots=True)
class Trained:
    """One play (or design) that a batch holds, with what it was better or worse than by."""

    batch_id: str
    subject_id: str
    role: Role
    env_id: str
    advantage: float


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Weights after an update. `weights` names their bytes; episodes played with them carry the checkpoint's id."""

    update: int
    batch_id: str
    parent: str
    base: str
    weights: str

    @property
    def checkpoint_id(self) -> str:
        return content_id("ckpt", self.update, self.batch_id, self.parent, self.base, self.weights)
