"""Pages from figures: one Jinja2 environment in which everything is escaped and nothing undefined passes."""

from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from data.report import figures, findings, plots
from spade.summary import BAND

TEXT_LIMIT = 20_000
"""Characters of one text that a page shows; the catalog has the rest."""


@cache
def _pages() -> Environment:
    environment = Environment(
        loader=PackageLoader("data.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    for name in ("real", "signed", "percent", "count", "money", "duration", "plural", "visible", "file_name"):
        environment.filters[name] = getattr(figures, name)
    environment.filters |= {"json": figures.json_text, "skill": figures.skill_words}
    environment.globals |= {
        "style": Markup(files("data.report").joinpath("templates", "style.css").read_text("utf-8")),
        "band": BAND,
        "in_band": findings.in_band,
        "plots": plots,
        "text_limit": TEXT_LIMIT,
    }
    return environment


def rendered(template: str, **values: Any) -> str:
    """One page."""
    return _pages().get_template(template).render(**values)
