r"""The agent answers with `\boxed{action}`; this finds the action (docs/method.md)."""

import re

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_BOX = "\\boxed{"


def without_thoughts(text: str) -> str:
    """The text less its thinking blocks; an unclosed block reaches to the end, an unopened one from the start."""
    head, closed, tail = text.rpartition("</think>")
    if closed and "<think>" not in head.lower():
        text = tail
    return _THOUGHTS.sub("", text)


def last_box(text: str) -> str | None:
    r"""The content of the last complete `\boxed{...}` outside thoughts, braces balanced, stripped; None without one."""
    text = without_thoughts(text)
    start = len(text)
    while (start := text.rfind(_BOX, 0, start)) >= 0:
        content = _balanced(text, start + len(_BOX))
        if content is not None:
            return content.strip()
    return None


def action_of(text: str) -> str:
    """What the program gets: the last box's content, or the whole stripped reply when there is none."""
    box = last_box(text)
    return without_thoughts(text).strip() if box is None else box


def _balanced(text: str, start: int) -> str | None:
    depth = 1
    for at in range(start, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if depth == 0:
            return text[start:at]
    return None
