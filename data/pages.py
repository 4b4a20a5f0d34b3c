"""Pages that lie in a dataset's folder. All values are escaped: rows may carry a model's text."""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from data.expectations import Check, Validation
from data.wording import MEANINGS

SHOWN_FINDINGS = 200
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("data"),
        autoescape=lambda name: bool(name and ".html" in name),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )


Findings = Sequence[tuple[str, str, str]]
"""(row id, kind, masked excerpt) of secrets and personal data."""


def validation_html(title: str, validation: Validation, findings: Findings = ()) -> str:
    """The result of a suite as a page that needs nothing from the net; failures first."""
    template = _templates().get_template("validation.html.j2")
    return template.render(title=title, validation=validation, findings=findings[:SHOWN_FINDINGS])


def validation_markdown(title: str, validation: Validation, findings: Findings = ()) -> str:
    """The same as Markdown, for the dataset folder and the Prefect interface."""
    state = "All expectations hold" if validation.passed else f"{len(validation.failed)} expectations fail"
    lines = [f"# {markdown_text(title)}", "", f"{state} over {validation.rows} rows (suite `{validation.suite}`)."]
    lines += ["", "| expectation | result | rows that break it |", "|---|---|---|"]
    lines += [_markdown_row(check) for check in (*validation.failed, *validation.held)]
    if findings:
        lines += ["", "| row | found | looks like |", "|---|---|---|"]
        shown = findings[:SHOWN_FINDINGS]
        lines += [f"| {row} | {markdown_text(kind)} | {markdown_text(excerpt)} |" for row, kind, excerpt in shown]
    return "\n".join(lines) + "\n"


def _markdown_row(check: Check) -> str:
    broken = " ".join([str(check.failures or ""), *check.rows, check.observed]) if not check.passed else ""
    return f"| {markdown_text(check.expects)} | {'holds' if check.passed else '**fails**'} | {markdown_text(broken)} |"


def audit_html(**values: Any) -> str:
    """A hint-gap audit as a page that needs nothing from the net."""
    return _templates().get_template("audit.html.j2").render(**values)


def rendered(template: str, **values: Any) -> str:
    """One of the templates of exported packages."""
    return _templates().get_template(f"packages/{template}").render(**values)


def card(*, rows: int, files: Sequence[tuple[str, str]], columns: Sequence[str], **values: Any) -> str:
    """The dataset card: YAML front matter as the Hugging Face hub reads it, then a few words for people."""
    size = next((name for limit, name in _SIZES if rows < limit), "n>1M")
    said = [(column, MEANINGS.get(column, "as the tool's own documentation has it")) for column in columns]
    return _templates().get_template("card.md.j2").render(rows=rows, files=files, size=size, columns=said, **values)


def markdown_text(text: str) -> str:
    """Text as Markdown shows it: no markup, no table breaks, one line."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~-])", r"\\\1", " ".join(text.split()))
