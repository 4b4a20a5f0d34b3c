"""Which documents a run draws from: the `corpus` group of the settings."""

from pathlib import Path
from typing import Literal

from pydantic import NonNegativeInt, PositiveInt

from spade.settings_base import Settings


class CorpusSettings(Settings):
    """Where documents come from."""

    path: str = "package:starter"
    """`package:starter`, a JSONL file with `text` a line, Parquet, texts or Markdown, or a folder of these; `.gz` and
    `.zst` are unpacked."""
    max_words: PositiveInt = 6000
    """Longer documents are cut at a paragraph border."""
    shown: bool = True
    """Show the slot's document to the designer; false leaves it out and changes nothing else."""
    min_words: NonNegativeInt = 0
    """Shorter documents are left out."""
    language: Literal["", "en", "de", "fr", "es", "it", "pt", "nl"] = ""
    """Documents whose commonest words are those of another language are left out; empty takes any."""
    prose: bool = False
    """Leave out what does not read like prose: odd words, repeated lines, symbols."""
    licenses: tuple[str, ...] = ()
    """Licences of documents that are taken; empty takes any."""
    evaluation_sets: tuple[Path, ...] = ()
    """JSONL files with `text` or `question` a line: documents that share 13 words in a row with them are left out."""
