"""What a cycle sets out to design: one slot an environment (docs/method.md)."""

from collections.abc import Sequence
from dataclasses import dataclass

from spade.identity import content_id, rng_for
from spade.skills import SKILLS, Setting, Skill

ACTIVE_SKILLS = 3


@dataclass(frozen=True, slots=True)
class Cycle:
    """One round trip of the loop: `number` counts from 0 within a run of one settings fingerprint and seed."""

    settings_hash: str
    seed: int
    number: int

    @property
    def cycle_id(self) -> str:
        return content_id("cycle", self.settings_hash, self.seed, self.number)


@dataclass(frozen=True, slots=True)
class Slot:
    """One environment to be designed."""

    cycle_id: str
    index: int
    setting: Setting
    skill: Skill
    document_id: str
    seed: int

    @property
    def slot_id(self) -> str:
        return content_id("slot", self.cycle_id, self.index)


def active_skills(setting: Setting, cycle_number: int, seed: int, count: int = ACTIVE_SKILLS) -> tuple[Skill, ...]:
    """The skills of one cycle: a fresh seeded shuffle each epoch, cut into groups of `count`, so all groups occur."""
    skills = list(SKILLS[setting])
    per_epoch = max(1, len(skills) // count)
    epoch, part = divmod(cycle_number, per_epoch)
    rng_for(seed, "skills", setting, epoch).shuffle(skills)
    return tuple(skills[part * count : part * count + count])


def plan_slots(
    cycle: Cycle, setting: Setting, document_ids: Sequence[str], *, skills: int = ACTIVE_SKILLS
) -> tuple[Slot, ...]:
    """One slot a document, skills in turn. `document_ids` are drawn by the corpus, without replacement."""
    active = active_skills(setting, cycle.number, cycle.seed, skills)
    return tuple(
        Slot(
            cycle_id=cycle.cycle_id,
            index=index,
            setting=setting,
            skill=active[index % len(active)],
            document_id=document_id,
            seed=rng_for(cycle.seed, cycle.cycle_id, "slot", index).randrange(2**31),
        )
        for index, document_id in enumerate(document_ids)
    )
