"""Broken programs, each made from a good one by a few replacements of its text."""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKELETON = ROOT / "spade" / "prompts" / "skeleton_games.txt"
LIBRARY = ROOT / "examples" / "environments"

Edit = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Defect:
    """One broken program. `gate` is the one meant to stop it."""

    kind: str
    gate: str
    base: str
    edits: tuple[Edit, ...]

    @property
    def name(self) -> str:
        return f"{self.kind} in {self.base}"

    @property
    def code(self) -> str:
        """The program. Raises `ValueError` when an edit no longer finds its place."""
        code = good(self.base)
        for old, new in self.edits:
            if old not in code:
                raise ValueError(f"{self.name}: nothing to replace: {old!r}")
            code = code.replace(old, new)
        return code


def good(base: str) -> str:
    """A good program by name; `dial_lock` is the skeleton that designers see."""
    return (SKELETON if base == "dial_lock" else next(LIBRARY.rglob(f"{base}.py"))).read_text()


def make(kind: str, gate: str, **edits: Edit | tuple[Edit, ...]) -> list[Defect]:
    """One defect a base; each has one edit or several."""
    made = []
    for base, edit in edits.items():
        pairs = (edit,) if isinstance(edit[0], str) else edit
        made.append(Defect(kind, gate, base, tuple(pairs)))  # type: ignore[arg-type]
    return made
