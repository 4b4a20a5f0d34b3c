"""`semantic.judge`: a model reviews what code cannot see. Optional, last of all gates, and it fails closed: no verdict,
an empty reply, both verdicts at once or an endpoint that fails do not pass."""

import re

from spade.boxes import without_thoughts
from spade.errors import Retry, Skip
from spade.verdicts import Status, Verdict

GATE = "semantic.judge"
MAX_REASON = 300
"""Characters of a judge's reason that reach the designer."""
_VERDICT = re.compile(r"^[\W_]*VERDICT[\W_]*:[\W_]*(PASS|FAIL)\b[ \t]*(.*)$", re.IGNORECASE | re.MULTILINE)


def read_review(text: str) -> Verdict:
    """The verdict of a reply: lines that read `VERDICT: PASS` or `VERDICT: FAIL` and a reason, outside thoughts."""
    said = without_thoughts(text).strip()
    found = list(_VERDICT.finditer(said))
    kinds = {match[1].upper() for match in found}
    if any(match[1].upper() == "PASS" and "verdict" in match[2].lower() for match in found):
        kinds |= {"PASS", "FAIL"}  # the question said back
    shown = said[-MAX_REASON:]
    if not said:
        return Verdict(GATE, Status.ERROR, "The judge said nothing.", shown)
    if len(kinds) != 1:
        problem = "gave no verdict" if not kinds else "gave both verdicts"
        return Verdict(GATE, Status.ERROR, f"The judge {problem}.", shown)
    if kinds == {"PASS"}:
        return Verdict(GATE, Status.PASS, "", shown)
    after = " ".join((found[-1][2] + " " + said[found[-1].end() :]).split()).strip(" *_.-:") or "It gave no reason"
    return Verdict(GATE, Status.FAIL, f"A reviewer refuses it: {after[:MAX_REASON]}.", shown)


def unasked(error: Retry | Skip) -> Verdict:
    """The verdict where the judge could not be asked."""
    return Verdict(GATE, Status.ERROR, f"The judge could not be asked: {error}"[:MAX_REASON])
