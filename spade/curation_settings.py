"""Settings of what may be trained on."""

from pathlib import Path

from pydantic import Field, PositiveInt

from spade.curation import Rules
from spade.settings_base import Settings


class CurationSettings(Settings):
    """Which episodes may be trained on."""

    max_turns: PositiveInt = 25
    max_characters: PositiveInt = 200_000
    """Of all that was seen and said in an episode."""
    latin_share: float = Field(0.0, ge=0.0, le=1.0)
    """Least share of letters in Latin script; 0 allows any script."""
    guided: bool = True
    """Whether episodes with turns decoded under a guide may be positives."""
    leave_out: tuple[str, ...] = ()
    """Ids of episodes and environments that people excluded."""
    evaluation_sets: tuple[Path, ...] = ()
    """JSONL files with `text` or `question` a line: what shares 13 words in a row with them is left out."""

    def rules(self) -> Rules:
        return Rules(self.max_turns, self.max_characters, self.latin_share, self.guided)
