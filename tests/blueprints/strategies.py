"""Every blueprint the schema allows, as hypothesis strategies."""

import re

from hypothesis import strategies as st

from spade.blueprints import MECHANICS, Blueprint, Mechanic
from spade.blueprints.schema import STORY_PATTERN, TITLE_PATTERN
from spade.blueprints.themes import THEMES

TITLES = st.from_regex(re.compile(TITLE_PATTERN[:-1] + r"\Z"))
STORIES = st.from_regex(re.compile(STORY_PATTERN[:-1] + r"\Z"))


@st.composite
def blueprints(draw: st.DrawFn, mechanic: Mechanic | None = None) -> Blueprint:
    """Any blueprint, or any of one mechanic."""
    chosen = mechanic or draw(st.sampled_from(list(MECHANICS.values())))
    return Blueprint(
        mechanic=chosen.name,
        knobs=tuple((knob.name, draw(st.sampled_from(knob.values))) for knob in chosen.knobs),
        theme=draw(st.sampled_from(list(THEMES))),
        title=draw(TITLES),
        story=draw(STORIES),
        plan=draw(st.sampled_from(list(chosen.plans))),
    )
