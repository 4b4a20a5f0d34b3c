"""What a slot's next blueprint may be: the skill's games and values, less what this slot was refused."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from spade.blueprints.mechanic import Blueprint, Knob, Mechanic, Reach, Value
from spade.blueprints.mechanics import mechanics_for
from spade.skills import Skill


@dataclass(frozen=True, slots=True)
class Choice:
    """A knob and the values on offer."""

    knob: Knob
    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Offer:
    """A mechanic and what may be chosen of it."""

    mechanic: Mechanic
    choices: tuple[Choice, ...]


def offers(skill: Skill, reach: Reach = "all", refused: Sequence[Blueprint] = ()) -> tuple[Offer, ...]:
    """The games a skill may be trained by, in the library's order.

    A small model told to choose something else chooses the same again, so what was refused is taken off the list: the
    game while there is another, then the value of the knob that has most left. The last value of a knob stays.
    """
    left = tuple(_whole(mechanic, reach) for mechanic in mechanics_for(skill, reach))
    for blueprint in refused:
        others = tuple(offer for offer in left if offer.mechanic.name != blueprint.mechanic)
        left = others or tuple(_without(offer, blueprint) for offer in left)
    return left


def _whole(mechanic: Mechanic, reach: Reach) -> Offer:
    return Offer(mechanic, tuple(Choice(knob, knob.offered(reach)) for knob in mechanic.knobs))


def _without(offer: Offer, blueprint: Blueprint) -> Offer:
    open_to = [c for c in offer.choices if blueprint[c.knob.name] in c.values and len(c.values) > 1]
    if not open_to:
        return offer
    widest = max(open_to, key=lambda choice: len(choice.values))
    kept = tuple(value for value in widest.values if value != blueprint[widest.knob.name])
    return replace(offer, choices=tuple(replace(c, values=kept) if c is widest else c for c in offer.choices))
