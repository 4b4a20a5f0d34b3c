"""What each of several calls in one turn answered: a tool-use environment joins the answers into one text."""

import re

_COMPLETE = re.compile(r"Request \d+ is complete\.")
_FOLLOWING = re.compile(r"Request \d+ of \d+: .*|That was the last request\. Answer done\.")


def results_of(observation: str, calls: int) -> list[str] | None:
    """The answers to `calls` calls, each with what became of the request after it.

    An answer is a line, and two lines follow where a request was complete (`sandbox/driver/tool_env.py`). None where
    the text does not come apart like that, as when an answer has several lines: nobody can say where it ends.
    """
    answers: list[str] = []
    lines = iter(observation.split("\n"))
    for line in lines:
        if answers and _COMPLETE.fullmatch(line):
            following = next(lines, "")
            if not _FOLLOWING.fullmatch(following):
                return None
            answers[-1] += f"\n{line}\n{following}"
        else:
            answers.append(line)
    return answers if len(answers) == calls else None
