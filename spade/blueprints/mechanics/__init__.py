"""The library of mechanics. A new one joins with a module, a template beside it, and one line here."""

from spade.blueprints.mechanic import Mechanic, Reach
from spade.blueprints.mechanics.clues import CLUES
from spade.blueprints.mechanics.dial import DIAL
from spade.blueprints.mechanics.doors import DOORS
from spade.blueprints.mechanics.grid_walk import GRID_WALK
from spade.blueprints.mechanics.guess_number import GUESS_NUMBER
from spade.blueprints.mechanics.hidden_rule import HIDDEN_RULE
from spade.blueprints.mechanics.lights import LIGHTS
from spade.blueprints.mechanics.machine import MACHINE
from spade.blueprints.mechanics.pack import PACK
from spade.blueprints.mechanics.pattern import PATTERN
from spade.blueprints.mechanics.reach_target import REACH_TARGET
from spade.blueprints.mechanics.stock import STOCK
from spade.blueprints.mechanics.treasure import TREASURE
from spade.skills import Skill

MECHANICS: dict[str, Mechanic] = {
    mechanic.name: mechanic
    for mechanic in (
        GUESS_NUMBER,
        GRID_WALK,
        TREASURE,
        CLUES,
        HIDDEN_RULE,
        PATTERN,
        LIGHTS,
        MACHINE,
        PACK,
        REACH_TARGET,
        DOORS,
        DIAL,
        STOCK,
    )
}


def mechanics_for(skill: Skill, reach: Reach = "all") -> tuple[Mechanic, ...]:
    """The mechanics that train a skill, in the library's order; all of them where none is easy."""
    serving = tuple(mechanic for mechanic in MECHANICS.values() if skill in mechanic.skills)
    easy = tuple(mechanic for mechanic in serving if mechanic.easy)
    return easy if reach == "easy" and easy else serving
