"""Evaluation sets that people give as files, as the runs of words that nothing may share with them."""

from functools import cache
from pathlib import Path

from data.document_sources import lines_of, text_of
from spade.contamination import EvaluationData


@cache
def evaluation_data(paths: tuple[Path, ...]) -> EvaluationData:
    """The runs of words of evaluation sets: JSONL with `text` or `question` a line; other lines are skipped."""
    data = EvaluationData()
    for path in paths:
        data.add(path.stem, (text for line in lines_of(str(path)) if (text := text_of(line, ("text", "question")))))
    return data
