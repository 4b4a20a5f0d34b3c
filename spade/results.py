"""Tables of results: models down, groups across; what cannot be compared is marked, and nothing is invented."""

import csv
import io
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from spade.evaluation import Evaluation
from spade.evaluation_scores import ALL, GroupScore
from spade.published import Published

DASH = "–"
TEX = {"&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "$": r"\$", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
       "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", DASH: "--", "†": r"$^\dagger$", "‡": r"$^\ddagger$",
       "[": "{[}", "]": "{]}"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Result:
    """One evaluation with its scores."""

    evaluation: Evaluation
    scores: tuple[GroupScore, ...]


@dataclass(frozen=True, slots=True)
class ResultTable:
    """One suite's table as text. `notes` explain the marks; `theirs` tells published rows from rows of ours."""

    suite: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    theirs: tuple[bool, ...]
    notes: tuple[str, ...]


def tables(results: Sequence[Result], published: Sequence[Published] = ()) -> list[ResultTable]:
    """One table a suite, in the order of the results. The latest evaluation of equal settings and tasks stands."""
    by_suite: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_suite[result.evaluation.put.suite.name].append(result)
    return [_table(name, found, [p for p in published if p.suite == name]) for name, found in by_suite.items()]


def _table(name: str, results: Sequence[Result], published: Sequence[Published]) -> ResultTable:
    groups = list(dict.fromkeys(s.group for r in results for s in r.scores))
    groups = [*(g for g in groups if g != ALL), ALL] if len(groups) > 2 else [ALL]
    notes: list[str] = []
    rows = [_row(result, groups, marks) for result, marks in zip(results, _marks(results, notes), strict=True)]
    rows += [_published_row(each, groups) for each in published]
    notes += [
        f"‡ {each.name}: published by {each.source}, not measured here. {each.note}".strip() for each in published
    ]
    card = results[0].evaluation.put.suite
    metric = results[0].evaluation.put.protocol.metric
    notes.insert(0, f"{card.title} {card.version}: {metric}. Brackets: 95 % bootstrap interval over tasks.")
    return ResultTable(
        suite=name,
        columns=("model", *groups, "n", "answered", "not measured"),
        rows=tuple(rows),
        theirs=tuple([False] * len(results) + [True] * len(published)),
        notes=tuple(notes),
    )


def _marks(results: Sequence[Result], notes: list[str]) -> list[str]:
    """A dagger on every row whose protocol, version, options or tasks are not the first row's, with what differs."""
    marks = [""]
    for other in results[1:]:
        differing = differences(results[0].evaluation, other.evaluation)
        marks.append(" †" if differing else "")
        if differing:
            notes.append(f"† {name_of(other.evaluation)} is not comparable with the first row: {'; '.join(differing)}.")
    return marks


def differences(one: Evaluation, other: Evaluation) -> list[str]:
    """What keeps two results of a suite from standing in one column, in words."""
    pairs = {
        "suite version": (one.put.suite.version, other.put.suite.version),
        "options": (_options(one), _options(other)),
        **{name: (value, asdict(other.put.protocol)[name]) for name, value in asdict(one.put.protocol).items()},
    }
    found = [f"{name} {theirs} against {ours}" for name, (ours, theirs) in pairs.items() if ours != theirs]
    if one.task_ids != other.task_ids:
        found.append(f"other tasks ({len(other.task_ids)} against {len(one.task_ids)})")
    return found


def name_of(evaluation: Evaluation) -> str:
    return evaluation.label or evaluation.put.model


def _options(evaluation: Evaluation) -> str:
    return ", ".join(f"{name}={value}" for name, value in evaluation.put.options) or "none"


def _row(result: Result, groups: Sequence[str], mark: str) -> tuple[str, ...]:
    by_group = {score.group: score for score in result.scores}
    whole = by_group[ALL]
    missing = ", ".join(f"{n} {what}" for what, n in whole.outcomes if what not in MEASURED) or "0"
    return (
        name_of(result.evaluation) + mark,
        *(cell(by_group.get(group)) for group in groups),
        f"{whole.measured}/{whole.asked}",
        DASH if whole.answered is None else f"{whole.answered:.0%}",
        missing,
    )


MEASURED = frozenset({"scored", "no_answer", "cut_short"})


def cell(score: GroupScore | None) -> str:
    """`0.25 [0.10, 0.40]`; a star where samples are missing from it, a dash where nothing was measured."""
    if score is None or score.score is None:
        return DASH
    between = f" [{score.interval.low:.3f}, {score.interval.high:.3f}]" if score.interval else ""
    return f"{score.score:.3f}{between}{'' if score.complete else ' *'}"


def _published_row(each: Published, groups: Sequence[str]) -> tuple[str, ...]:
    values: Mapping[str, float] = dict(each.values)
    shown = (DASH if g not in values else f"{values[g]:.3f}" for g in groups)
    return (f"{each.name} ‡", *shown, DASH, DASH, DASH)


def markdown(table: ResultTable) -> str:
    """The table and its notes for a README or a Prefect page."""
    lines = [_piped(table.columns), "|---" * len(table.columns) + "|", *(_piped(row) for row in table.rows)]
    return "\n".join([f"### {table.suite}", "", *lines, "", *(f"{note}  " for note in _notes(table))])


def _piped(cells: Sequence[str]) -> str:
    escaped = (c.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ") for c in cells)
    return f"| {' | '.join(escaped)} |"


def comma_separated(tables: Sequence[ResultTable]) -> str:
    """All tables as one CSV of suite, model, column and value, and whose figure it is."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("suite", "model", "whose", "column", "value"))
    for table in tables:
        for row, theirs in zip(table.rows, table.theirs, strict=True):
            for column, value in zip(table.columns[1:], row[1:], strict=True):
                whose = "published, not measured here" if theirs else "measured"
                writer.writerow((table.suite, row[0], whose, column, value))
    return out.getvalue()


def latex(table: ResultTable) -> str:
    """A `tabular` with the notes below it."""
    rows = [" & ".join(map(_tex, row)) + r" \\" for row in table.rows]
    first = next((i for i, theirs in enumerate(table.theirs) if theirs), len(rows))
    body = [*rows[:first], *([r"\midrule"] if first < len(rows) else []), *rows[first:]]
    head = " & ".join(map(_tex, table.columns)) + r" \\"
    notes = " ".join(_tex(note) for note in _notes(table))
    return "\n".join(
        [
            f"% {table.suite}; needs \\usepackage{{booktabs}}",
            rf"\begin{{tabular}}{{l{'r' * (len(table.columns) - 1)}}}",
            *(r"\toprule", head, r"\midrule", *body, r"\bottomrule"),
            r"\end{tabular}",
            rf"\par\footnotesize {notes}",
        ]
    )


def _tex(text: str) -> str:
    return "".join(TEX.get(c, c) for c in text)


def _notes(table: ResultTable) -> list[str]:
    starred = any(value.endswith("*") for row in table.rows for value in row)
    return [*table.notes, *(["* some of the samples asked for are not in this score: see the last column."] * starred)]
