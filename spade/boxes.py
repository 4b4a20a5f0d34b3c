r"""The agent answers with `\boxed{action}`; this finds the action (docs/method.md)."""

import re

_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
CHAT_MARKUP = re.compile(r"<\|[a-z_0-9]{2,40}\|>|<(?:start|end)_of_turn>|\[/?INST\]|<</?SYS>>", re.IGNORECASE)
"""What engines read as the borders of messages; text of ours or of a program must not hold it."""
_BRACE = re.compile(r"[{}]")
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
    closings = matching_braces(text)
    start = len(text)
    while (start := text.rfind(_BOX, 0, start)) >= 0:
        inside = start + len(_BOX)
        if inside - 1 in closings:
            return text[inside : closings[inside - 1]].strip()
    return None


def action_of(text: str) -> str:
    """What the program gets: the last box's content, or the whole stripped reply when there is none."""
    box = last_box(text)
    return without_thoughts(text).strip() if box is None else box


def matching_braces(text: str) -> dict[int, int]:
    """Where each opening brace is closed; one that never is does not occur. One pass, however many there are."""
    closings: dict[int, int] = {}
    open_: list[int] = []
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            open_.append(match.start())
        elif open_:
            closings[open_.pop()] = match.start()
    return closings
