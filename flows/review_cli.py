"""`spade review`: rows of datasets before people's eyes, and what they say about them."""

import getpass
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.data_cli import AsJson, Home, catalog_of, console_of, print_json, print_rows, shown_text
from spade.errors import Abort

if TYPE_CHECKING:
    from data.catalog import Catalog
    from spade.reviews import QueuedRow, Review

SHOWN_DOCUMENT = 1_500
"""Characters of the document that a row rests on."""


def review(  # noqa: PLR0913 - one parameter a flag
    sample: Annotated[int, typer.Option(min=0, help="Put so many random rows into the queue, and stop.")] = 0,
    dataset: Annotated[str, typer.Option(help="Dataset to draw from; the newest of plays when absent.")] = "",
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
    reviewer: Annotated[str, typer.Option(help="Your name on the verdicts.", show_default="the user's name")] = "",
    take: Annotated[Path | None, typer.Option("--from", help="Take verdicts from a JSONL file.")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List what waits for you.")] = False,
    agreed: Annotated[bool, typer.Option("--agreement", help="Print how far reviewers agree.")] = False,
    home: Home = None,
    as_json: AsJson = False,
) -> None:
    """Review sampled rows of datasets: is a row correct, how is it written, does it rest on its document.

    `spade review --sample 20` fills the queue, `spade review` goes through it. A row that half of its reviewers call
    incorrect enters no later dataset; what was said is exported with the others.
    """
    catalog, person = catalog_of(home), reviewer or getpass.getuser()
    if sample:
        _sample(catalog, dataset, sample, seed, as_json)
    elif take:
        _take_in(catalog, take, person)
    elif agreed:
        _agreement(catalog, as_json)
    elif listed or as_json:
        _list(catalog, person, as_json)
    else:
        _go_through(catalog, person)


def _sample(catalog: "Catalog", dataset: str, count: int, seed: int, as_json: bool) -> None:
    from data.reviewing import queue_rows

    rows = queue_rows(catalog, dataset, count, seed)
    if as_json:
        print_json([asdict(row) for row in rows])
        return
    where = f" of {rows[0].dataset_id}" if rows else ": all rows wait already"
    print(f"{len(rows)} rows{where} put into the queue. `spade review` goes through it.")


def _take_in(catalog: "Catalog", path: Path, person: str) -> None:
    from data.reviewing import take_in

    taken = take_in(catalog, path, person)
    for number, why in taken.broken:
        console_of().print(shown_text(f"line {number}: {why}"))
    print(f"{len(taken.reviews)} verdicts stored, {len(taken.broken)} lines left out.")
    if taken.broken and not taken.reviews:
        raise Abort(f"{path} holds no verdict.", "A line has row_id, correct, style and grounding.")


def _agreement(catalog: "Catalog", as_json: bool) -> None:
    from data.reviewing import summary_of
    from data.tables import REVIEWS

    found = summary_of(catalog.read(REVIEWS))
    if as_json:
        print_json(found)
        return
    print(f"{found['reviews']} verdicts on {found['rows']} rows by {found['reviewers']} reviewers")
    print_rows([{name: _short(value) for name, value in each.items()} for each in found["agreement"]])


def _short(value: Any) -> Any:
    return f"{value:.3f}" if isinstance(value, float) else value


def _list(catalog: "Catalog", person: str, as_json: bool) -> None:
    from data.reviewing import waiting_for

    rows = [asdict(row) for row in waiting_for(catalog, person)]
    if as_json:
        print_json(rows)
        return
    print_rows(rows)


def _go_through(catalog: "Catalog", person: str) -> None:
    from data.reviewing import waiting_for

    rows = waiting_for(catalog, person)
    if not rows:
        print(f"Nothing waits for {person}. `spade review --sample 20` puts rows into the queue.")
        return
    done = 0
    for number, row in enumerate(rows, 1):
        _show(catalog, row, f"{number} of {len(rows)}")
        answer = _asked("Correct? y, n, s to leave it for later, q to stop", "ynsq")
        if answer == "q":
            break
        if answer != "s":
            catalog.append("reviews", [_verdict(row, person, answer == "y")])
            done += 1
    print(f"{done} reviewed as {person}, {len(rows) - done} wait.")


def _show(catalog: "Catalog", row: "QueuedRow", place: str) -> None:
    """A row as people read it: where it comes from, then who said what. Texts are printed as they are."""
    console = console_of()
    (record,) = catalog.dataset_rows(row_id=row.row_id)
    console.rule(f"row {place}: {row.row_id}")
    for document in catalog.documents(document_id=record.document_id):
        console.print(shown_text(f"document: {document.title}\n{document.text[:SHOWN_DOCUMENT]}\n"))
    for title, episode_id in (("play", row.episode_id), ("the play rejected for it", record.paired_episode_id)):
        for episode in catalog.episodes(episode_id=episode_id) if episode_id else ():
            console.print(f"[bold]{title}[/bold], return {json.dumps(episode.return_)}")
            for turn in episode.turns:
                console.print("[dim]environment[/dim]", shown_text(turn.observation), sep="\n")
                console.print("[dim]agent[/dim]", shown_text(turn.reply), sep="\n")


def _verdict(row: "QueuedRow", person: str, correct: bool) -> "Review":
    from spade.reviews import Review

    style = int(_asked("Style, 1 (poor) to 5 (good)", "12345"))
    grounding = int(_asked("Grounding in the document, 1 (none) to 5 (good)", "12345"))
    comment = typer.prompt("Comment", default="", show_default=False)
    return Review(row.row_id, row.dataset_id, row.episode_id, person, correct, style, grounding, comment.strip())


def _asked(question: str, allowed: str) -> str:
    """One of the characters allowed; asked again until it is."""
    while True:
        answer = str(typer.prompt(question)).strip().lower()
        if len(answer) == 1 and answer in allowed:
            return answer
        print(f"Answer with one of {', '.join(allowed)}.")
