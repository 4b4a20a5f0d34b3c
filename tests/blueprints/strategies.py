"""Every blueprint the schema allows, as hypothesis strategies."""

import re

from hypothesis import strategies as st

from spade.blueprints import MECHANICS, Blueprint, Mechanic, schema
from spade.blueprints.mechanic import Reach
from spade.blueprints.themes import THEMES


def matching(pattern: str) -> st.SearchStrategy[str]:
    return st.from_regex(re.compile(pattern[:-1] + r"\Z", re.ASCII))


@st.composite
def blueprints(draw: st.DrawFn, mechanic: Mechanic | None = None, reach: Reach = "all") -> Blueprint:
    """Any blueprint, or any of one mechanic, or any within reach."""
    chosen = mechanic or draw(st.sampled_from([m for m in MECHANICS.values() if m.easy or reach == "all"]))
    return Blueprint(
        mechanic=chosen.name,
        knobs=tuple((knob.name, draw(st.sampled_from(knob.offered(reach)))) for knob in chosen.knobs),
        theme=draw(st.sampled_from(list(THEMES))),
        title=draw(matching(schema.TITLES[reach])),
        story=draw(matching(schema.STORIES[reach])),
        plan=draw(st.sampled_from(list(chosen.plans))),
    )
