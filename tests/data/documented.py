"""What docs/datasets.md shows of each kind: a section with a command, and lines that load or run what it made."""

import re
from functools import cache
from pathlib import Path

DOCUMENTATION = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text("utf-8")


@cache
def sections() -> dict[str, str]:
    """The text of each kind's section, by kind."""
    kinds = DOCUMENTATION.partition("\n## Kinds\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^### ([\w-]+)\n(.*?)(?=^### |\Z)", kinds, re.DOTALL | re.MULTILINE))


def snippets(language: str) -> dict[str, str]:
    """The first block of a language in each section that has one; the language "" is that of the command."""
    found: dict[str, str] = {}
    for kind, text in sections().items():
        for written, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
            if written == language:
                found.setdefault(kind, block)
    return found
