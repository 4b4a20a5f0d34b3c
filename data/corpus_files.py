"""A corpus file of one's own grows: one JSON object a line, licence and all else kept, replaced as a whole."""

import json
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path

from data.corpus import Sieve
from data.document_sources import Found, documents_of
from data.writing import written
from spade.documents import Document


def add_documents(found: Iterable[Found], to: Path, sieve: Sieve, license: str = "") -> int:
    """Add what `to` does not hold yet and the sieve takes; how many. What is in `to` stays as it is.

    `license`: of documents that name none. Raises `Abort` when a source cannot be read or `to` cannot be written.
    """
    added = 0
    with written(to) as file:
        if to.exists():
            sieve.held |= {d.document_id for d in documents_of(str(to)) if isinstance(d, Document)}
            last = b"\n"
            with open(to, "rb") as old:
                for line in old:
                    file.write(line)
                    last = line
            file.write(b"" if last.endswith(b"\n") else b"\n")
        for document in sieve.taken(found):
            file.write(_line_of(replace(document, license=document.license or license)))
            added += 1
    return added


def _line_of(document: Document) -> bytes:
    values = {name: value for name, value in asdict(document).items() if value and name != "metadata"}
    metadata = {name: json.loads(value) for name, value in document.metadata}
    return (json.dumps({**values, **metadata}, ensure_ascii=False, allow_nan=False) + "\n").encode()
