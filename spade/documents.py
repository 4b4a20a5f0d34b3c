"""A document says what an environment is about; the agent never sees it."""

from dataclasses import dataclass

from spade.identity import content_id


@dataclass(frozen=True, slots=True)
class Document:
    """One passage of the corpus. Equal text is the same document, wherever it came from.

    `metadata` keeps whatever else its source said of it: names with JSON texts, sorted by name.
    """

    text: str
    title: str = ""
    subject: str = ""
    source: str = ""
    license: str = ""
    metadata: tuple[tuple[str, str], ...] = ()

    @property
    def document_id(self) -> str:
        return content_id("doc", self.text)


def cut_at_paragraph(text: str, max_words: int) -> str:
    """The longest prefix of whole paragraphs within `max_words`; a single longer paragraph is cut at a word.

    Line breaks inside what is kept stay as they are (docs/method.md).
    """
    kept: list[str] = []
    room = max_words
    for paragraph in text.split("\n\n"):
        words = len(paragraph.split())
        if words > room:
            break
        kept.append(paragraph)
        room -= words
    if kept:
        return "\n\n".join(kept)
    return " ".join(text.split()[:max_words])
