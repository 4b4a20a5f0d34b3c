"""A row of a dataset before a person in the Prefect UI: what the form asks, and the page beside it."""

from prefect.input import RunInput
from pydantic import ConfigDict, Field

from data.catalog import Catalog
from data.pages import markdown_text
from spade.episodes import Episode
from spade.reviews import QueuedRow, Review
from tasks.showing import fenced

SHOWN_DOCUMENT = 1_500
"""Characters of the document that a row rests on."""


class RowVerdict(RunInput):
    """The form of one row."""

    model_config = ConfigDict(title="Verdict")

    correct: bool = Field(description="Is the row correct as labelled?")
    style: int = Field(3, ge=1, le=5, description="How it is written, 1 (poor) to 5 (good).")
    grounding: int = Field(3, ge=1, le=5, description="How well it rests on its document, 1 (not) to 5 (well).")
    comment: str = Field("", description="Anything else.")
    reviewer: str = Field(min_length=1, description="Your name on the verdict.")

    def review(self, row: QueuedRow) -> Review:
        """The verdict as it is stored."""
        said = (self.reviewer.strip(), self.correct, self.style, self.grounding, self.comment.strip())
        return Review(row.row_id, row.dataset_id, row.episode_id, *said)


def row_page(catalog: Catalog, row: QueuedRow, place: str) -> str:
    """A row as people read it, in Markdown; what models and documents say stands in fenced blocks."""
    (record,) = catalog.dataset_rows(row_id=row.row_id)
    parts = [f"## Row {place}\n\n`{row.row_id}` of `{row.dataset_id}`"]
    for document in catalog.documents(document_id=record.document_id):
        text = fenced(document.text[:SHOWN_DOCUMENT], "text")
        parts.append(f"### Document: {markdown_text(document.title) or document.document_id}\n\n{text}")
    for title, episode_id in (("Play", row.episode_id), ("The play rejected for it", record.paired_episode_id)):
        parts += [_play(title, episode) for episode in catalog.episodes(episode_id=episode_id)] if episode_id else []
    return "\n\n".join(parts)


def _play(title: str, episode: Episode) -> str:
    turns = [
        f"**Environment**\n\n{fenced(turn.observation, 'text')}\n\n**Agent**\n\n{fenced(turn.reply, 'text')}"
        for turn in episode.turns
    ]
    return "\n\n".join([f"### {title}, return {episode.return_}", *turns])
