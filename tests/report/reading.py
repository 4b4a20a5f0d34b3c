"""A page as a browser would take it apart: elements, attributes, text; and whether it is well formed."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

VOID = {"meta", "br", "link", "img", "input", "hr"}
INLINE = {"a", "b", "code", "span"}


@dataclass
class Page(HTMLParser):
    """`elements` are (tag, attributes); `text` is everything outside the style sheet."""

    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    text: str = ""
    words: str = ""
    """The text with single spaces, also between cells and paragraphs."""
    troubles: list[str] = field(default_factory=list)
    _open: list[str] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    @classmethod
    def read(cls, path: Path) -> "Page":
        page = cls()
        page.feed(path.read_text("utf-8"))
        page.close()
        page.troubles += [f"<{tag}> is never closed" for tag in page._open]
        page.words = " ".join("".join(page._parts).split())
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._parts += [] if tag in INLINE else [" "]
        if tag not in VOID and not (self.get_starttag_text() or "").endswith("/>"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open[-1] != tag:
            if not (self.get_starttag_text() or "").endswith("/>"):
                self.troubles.append(f"</{tag}> at {self.getpos()} closes {self._open[-1:]}")
        else:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.text += data
            self._parts.append(data)

    def links(self) -> Iterator[str]:
        return (attributes["href"] or "" for tag, attributes in self.elements if tag == "a")

    def ids(self) -> set[str]:
        return {attributes["id"] or "" for _, attributes in self.elements if "id" in attributes}


def pages(folder: Path) -> dict[Path, Page]:
    return {path: Page.read(path) for path in sorted(folder.rglob("*.html"))}


def dead_links(folder: Path) -> list[str]:
    """Links that lead nowhere, in words."""
    read = pages(folder)
    ids = {path.resolve(): page.ids() for path, page in read.items()}
    dead = []
    for path, page in read.items():
        for link in page.links():
            name, _, anchor = link.partition("#")
            target = (path.parent / name).resolve() if name else path.resolve()
            if target not in ids or (anchor and anchor not in ids[target]):
                dead.append(f"{path.name}: {link}")
    return dead
