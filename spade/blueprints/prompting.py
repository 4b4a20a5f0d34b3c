"""What the designer role is asked in blueprint mode: short prompts, since the smallest models read 2048 tokens.

Options stand in an order shuffled by the slot's seed and the last refusal: small models lean to what is named first,
and the choice has to stay theirs, not the list's.
"""

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

from spade.attempts import Prompt
from spade.blueprints.mechanic import Blueprint, Reach, Value
from spade.blueprints.mechanics import MECHANICS
from spade.blueprints.offering import Offer, offers
from spade.blueprints.rendering import render_prompt
from spade.blueprints.themes import THEMES
from spade.designing import Brief
from spade.documents import cut_at_paragraph
from spade.identity import digest, rng_for
from spade.lessons import Lessons
from spade.messages import Guide, Message, Role
from spade.verdicts import Verdict

DOCUMENT_WORDS = 160
"""About 220 tokens: what a design needs of its document, and what a small context has room for."""
LESSON_LINES = 3
REFUSAL_CHARACTERS = 240
SYSTEM = "You design small games and answer in JSON."
HINT_SYSTEM = "You help players of small games."


def blueprint_prompt(brief: Brief, reach: Reach = "all", refused: Sequence[Blueprint] = ()) -> Prompt:
    """Ask for a blueprint of the slot's skill, grounded in the document where there is one, other than `refused`."""
    slot, document, rejected = brief.slot, brief.document, brief.rejected
    seen = digest(rejected.message + rejected.code) if rejected else ""
    rng = rng_for(slot.seed, "blueprint", seen)
    text, template_hash = render_prompt(
        "design.j2",
        {
            "title": _one_line(document.title) if document else "",
            "document": cut_at_paragraph(document.text, DOCUMENT_WORDS) if document else "",
            "skill": slot.skill.words,
            "themes": _listed(_shuffled(THEMES, rng)),
            "mechanics": [_offer(offer, rng) for offer in _shuffled(offers(slot.skill, reach, refused), rng)],
            "lessons": _lesson_lines(brief.lessons),
            "refused": _one_line(rejected.message) if rejected else "",
        },
    )
    return Prompt(Role.DESIGNER, (Message("system", SYSTEM), Message("user", text)), "blueprints/design", template_hash)


def blueprint_hint_prompt(blueprint: Blueprint, rejected: Verdict | None = None) -> Prompt:
    """Ask for the hint of an accepted blueprint."""
    mechanic = MECHANICS[blueprint.mechanic]
    text, template_hash = render_prompt(
        "hint.j2",
        {
            "title": blueprint.title,
            "says": mechanic.says,
            "knobs": blueprint.knobs,
            "plan": blueprint.plan,
            "hints": blueprint_hints(blueprint),
            "refused": _one_line(rejected.message) if rejected else "",
        },
    )
    return Prompt(Role.HINT, (Message("system", HINT_SYSTEM), Message("user", text)), "blueprints/hint", template_hash)


def blueprint_hints(blueprint: Blueprint) -> tuple[str, ...]:
    """The hints a blueprint's plan allows: all true, none naming a solution. Which one helps is the model's to find."""
    sentences = MECHANICS[blueprint.mechanic].plans[blueprint.plan](blueprint)
    return (*sentences, " ".join(sentences)) if len(sentences) > 1 else sentences


def blueprint_hint_guide(blueprint: Blueprint) -> Guide:
    """A hint is one of `blueprint_hints`."""
    return Guide(choices=blueprint_hints(blueprint))


def _shuffled(items: Iterable[Any], rng: Random) -> list[Any]:
    listed = list(items)
    rng.shuffle(listed)
    return listed


def _offer(offer: Offer, rng: Random) -> dict[str, Any]:
    knobs = [
        {"name": c.knob.name, "says": c.knob.says, "choices": _listed(_shuffled(c.values, rng))} for c in offer.choices
    ]
    plans = _listed(_shuffled(offer.mechanic.plans, rng))
    return {"name": offer.mechanic.name, "says": offer.mechanic.says, "knobs": knobs, "plans": plans}


def _listed(values: Sequence[Value]) -> str:
    return ", ".join(map(str, values))


def _lesson_lines(lessons: Lessons) -> list[str]:
    lines = [f"Worked well: {e.environment.mechanic}, {e.environment.title}." for e in lessons.examples]
    lines += [f"Too easy before: {s.mechanic}, {s.title}." for s in lessons.mastered]
    lines += [f"Too hard before: {s.mechanic}, {s.title}." for s in lessons.out_of_reach]
    return [_one_line(line) for line in lines[:LESSON_LINES]]


def _one_line(text: str) -> str:
    return " ".join(text.split())[:REFUSAL_CHARACTERS]
