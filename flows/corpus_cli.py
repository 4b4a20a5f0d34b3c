"""`spade corpus`: look into a corpus of documents, or make one of one's own."""

from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.data_cli import AsJson, console_of, print_json, print_values, shown_text
from spade.errors import Abort

if TYPE_CHECKING:
    from data.corpus import Sieve

corpus_app = typer.Typer(name="corpus", help="Look into a corpus of documents, or add to one.", no_args_is_help=True)
Place = Annotated[str, typer.Argument(metavar="PATH", help="package:starter, a JSONL or Parquet file, or a folder.")]
To = Annotated[Path, typer.Option(help="Corpus file (JSONL) to add to; made when it is not there.")]
License = Annotated[str, typer.Option(help="Licence of documents that name none.")]
Only = Annotated[list[str] | None, typer.Option("--only-license", help="Take only these licences; repeat for more.")]
Against = Annotated[
    list[Path] | None, typer.Option(help="Evaluation set (JSONL): what shares 13 words in a row with it stays out.")
]


@corpus_app.command("stats")
def corpus_stats(path: Place = "package:starter", as_json: AsJson = False) -> None:
    """Count documents, words, subjects, licences, and what could not be read."""
    from data.corpus import read_corpus, statistics

    found = statistics(read_corpus(path, max_words=10**9))
    if as_json:
        print_json(found)
        return
    print_values(console_of(), found)


@corpus_app.command("sample")
def corpus_sample(
    path: Place = "package:starter",
    count: Annotated[int, typer.Option(min=1)] = 3,
    seed: int = 0,
    as_json: AsJson = False,
) -> None:
    """Print documents as a run with this seed would draw them first."""
    from data.corpus import read_corpus

    corpus = read_corpus(path, max_words=10**9)
    documents = corpus.draw(seed, 0, min(count, len(corpus.documents)))
    if as_json:
        print_json([{"document_id": d.document_id, **asdict(d)} for d in documents])
        return
    console = console_of()
    for document in documents:
        console.rule(shown_text(f"{document.document_id} {document.title}"))
        console.print(shown_text(document.text))


@corpus_app.command("add")
def corpus_add(  # noqa: PLR0913 - one parameter a flag
    source: Annotated[str, typer.Argument(help="JSONL or Parquet, .gz or .zst too; .txt, .md, or a folder of these.")],
    to: To,
    license: License = "",
    min_words: Annotated[int, typer.Option(min=0, help="Leave shorter documents out.")] = 0,
    language: Annotated[str, typer.Option(help="Take this language only: en, de, fr, es, it, pt, nl.")] = "",
    prose: Annotated[bool, typer.Option("--prose", help="Take only what reads like prose.")] = False,
    only_license: Only = None,
    against: Against = None,
) -> None:
    """Add the documents of a file or folder that the corpus does not hold yet."""
    from data.corpus import Sieve
    from data.corpus_files import add_documents
    from data.document_sources import documents_of
    from spade.document_rules import COMMON_WORDS, DocumentRules

    if language and language not in COMMON_WORDS:
        raise Abort(f"Language {language!r} is not known.", f"Known are {', '.join(COMMON_WORDS)}.")
    rules = DocumentRules(min_words, 0, language, prose, tuple(only_license or ()))
    sieve = Sieve(rules, tuple(against or ()))
    _tell(to, sieve, add_documents(documents_of(source), to, sieve, license))


@corpus_app.command("from-python")
def corpus_from_python(
    packages: Annotated[
        list[str], typer.Argument(metavar="PACKAGE...", help="Installed packages, such as numpy json.")
    ],
    to: To,
    min_words: Annotated[int, typer.Option(min=1, help="Leave shorter docstrings out.")] = 40,
    only_license: Only = None,
    against: Against = None,
) -> None:
    """Add the docstrings of installed packages as documents on code, each with its package's licence.

    Sources are parsed, never imported. A document is one public module, class or function.
    """
    from data.corpus import Sieve
    from data.corpus_files import add_documents
    from data.docstrings import docstrings_of
    from spade.document_rules import DocumentRules

    found = chain.from_iterable(docstrings_of(package, min_words) for package in packages)
    sieve = Sieve(DocumentRules(licenses=tuple(only_license or ())), tuple(against or ()))
    added = add_documents(found, to, sieve)
    if not added and not sieve.duplicates and not sieve.left_out:
        raise Abort(f"No docstring of {', '.join(packages)} has {min_words} words.", "Lower --min-words.")
    _tell(to, sieve, added)


def _tell(to: Path, sieve: "Sieve", added: int) -> None:
    print(
        f"{added} documents added to {to}, {sieve.duplicates} were there already, {len(sieve.broken)} lines or files "
        "could not be read."
    )
    for reason, count in sieve.left_out.most_common():
        print(f"{count} left out: {reason}")
    for broken in sieve.broken[:5]:
        print(f"{broken.file + ' ' if broken.file else ''}line {broken.number}: {broken.reason}")
