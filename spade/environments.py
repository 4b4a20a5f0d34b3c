"""What an environment is. Where it came from is another record: the attempt."""

from dataclasses import dataclass
from functools import lru_cache

from spade.identity import content_id
from spade.messages import Guide
from spade.skills import Setting, Skill


@dataclass(frozen=True, slots=True)
class Environment:
    """One executable environment. Equal code is the same environment, whoever wrote it.

    `guide` says what an action looks like, for agents too small to keep a format by themselves; None for programs
    written in code mode.
    """

    code: str
    setting: Setting
    skill: Skill
    title: str = ""
    mechanic: str = ""
    guide: Guide | None = None

    @property
    def env_id(self) -> str:
        return _id_of(self.code)


@lru_cache(maxsize=256)
def _id_of(code: str) -> str:
    """A cycle asks some thousand times, always for the same few programs."""
    return content_id("env", code)
