"""What a reader can pick off an observation: numbers, quoted words, table cells, what stands after `answer` or `:`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

MAX_LITERALS = 40
SHORT = 200
"""Characters of a text that is worth remembering; longer ones come once."""
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w]|\.\d)")
_QUOTED = re.compile(
    r"\"([^\"\n]{1,60})\"|'([^'\n]{1,60})'(?!\w)|`([^`\n]{1,60})`|“([^”\n]{1,60})”|\*\*([^*\n]{1,60})\*\*"
)
_BOXED = re.compile(r"\\boxed\{([^{}\n]{1,60})\}")
_AFTER = re.compile(
    r"\b(answer|secret|solution|target|password|code|key|correct|hidden|winning|expected|truth|next)\b"
    r"[^\n:=]{0,30}?(?:\bis\b|\bwas\b|[:=]|->|→)\s*[\"'`(\[]?([^\n]{1,80})",
    re.IGNORECASE,
)
_MARK = re.compile(r"(?:[:=]|->|→)[ \t]*([^\n:=]{1,60})")
_SENTENCE_END = re.compile(r"[.!?;](?:\s|$)")
_TOKEN = re.compile(r"\d+|[^\W\d_]+|.", re.DOTALL)
_WORDS = re.compile(r"[\w'-]+")
_EDGES = " \t\"'`.,;:!?()[]{}<>*_|"


@lru_cache(maxsize=512)
def literals(text: str) -> tuple[str, ...]:
    """Everything that might be an answer, most telling first, without repeats; at most 40."""
    found: dict[str, None] = {}
    for word in (
        *labelled(text).values(),
        *_quoted(text),
        *_NUMBER.findall(text),
        *_cells(text),
        *_marked(text),
    ):
        word = word.strip()
        if word:
            found.setdefault(word)
    return tuple(found)[:MAX_LITERALS]


def labelled(text: str, answers: Sequence[str] = ()) -> dict[str, str]:
    """Reading rules with what each picks: `after answer`, `last number`, `first quoted`, ...

    `answers` are parts of the text that look like one.
    """
    picks: dict[str, str] = {}
    for match in _AFTER.finditer(text):
        label, rest = match[1].lower(), match[2]
        picks[f"the rest of the line after '{label}'"] = rest.strip(_EDGES)
        picks[f"the rest of the sentence after '{label}'"] = _SENTENCE_END.split(rest)[0].strip(_EDGES)
        picks[f"the word after '{label}'"] = _first(rest)
    kinds = [("number", _NUMBER.findall(text)), ("quoted text", _quoted(text)), ("cell", _cells(text))]
    kinds.append(("text that looks like an answer", list(answers)))
    for name, words in kinds:
        for at in range(min(3, len(words))):
            picks[f"{name} {at + 1}"] = words[at]
            picks[f"{name} {at + 1} from the end"] = words[-1 - at]
    marked = _marked(text)
    if marked:
        picks["what follows the last ':' or '='"] = marked[-1]
    return {rule: word for rule, word in picks.items() if word}


@lru_cache(maxsize=4096)
def form_tokens(action: str) -> tuple[str, ...]:
    """An action cut into numbers, words and single other characters."""
    return tuple(_TOKEN.findall(action[:500]))


@lru_cache(maxsize=4096)
def form_of(action: str) -> tuple[str, ...]:
    """Equal for actions that differ in their numbers and words alone."""
    return tuple("#" if t.isdecimal() else "w" if t.isalpha() else t for t in form_tokens(action))


@lru_cache(maxsize=512)
def menu(text: str) -> tuple[str, ...]:
    """What an observation offers as actions: quoted words, example boxes, and lists after `actions:` or `one of`."""
    found: dict[str, None] = {}
    for word in (*_quoted(text), *_BOXED.findall(text)):
        found.setdefault(word.strip())
    for match in re.finditer(
        r"(?:action|move|command|option|choice|choose|one of|legal|valid|allowed)\w*[^\n:]{0,30}:?([^\n]+)", text, re.I
    ):
        for part in re.split(r",|/|\||;|\bor\b|\band\b", match[1]):
            part = part.strip(_EDGES)
            if part and len(part) <= 40:
                found.setdefault(part)
    return tuple(word for word in found if word)[:MAX_LITERALS]


def offered(text: str) -> list[str]:
    """Whole actions that an observation shows: the contents of example boxes, and quoted phrases with blanks filled."""
    found: dict[str, None] = dict.fromkeys(word.strip() for word in _BOXED.findall(text))
    for phrase in (*_quoted(text), *menu(text)):
        for number in ("1", "3"):
            found.setdefault(re.sub(r"\b[A-Z]\b|\b[A-Z]{2,}\b|<\w+>|\[\w+\]", number, phrase.strip()))
    return [action for action in found if action]


def bounds(text: str) -> tuple[int, int] | None:
    """The range of whole numbers that an observation speaks of, if any."""
    match = re.search(r"(-?\d+)\s*(?:to|and|-|–|\.\.\.?|through)\s*(-?\d+)", text)
    if match is None or len(match[1]) > 9 or len(match[2]) > 9:
        return None
    low, high = int(match[1]), int(match[2])
    return (low, high) if low < high else None


def varying(texts: Mapping[int, str]) -> dict[int, str]:
    """Each text less the lines that all of them share."""
    lines = {seed: text.splitlines() for seed, text in texts.items()}
    if len(lines) < 2:
        return dict(texts)
    shared = set.intersection(*(set(found) for found in lines.values()))
    return {seed: "\n".join(line for line in found if line not in shared) for seed, found in lines.items()}


def shows(text: str, actions: Iterable[str]) -> bool:
    """Whether the text prints these actions one after another, with nothing but punctuation or `then` between."""
    parts = tuple(stripped for action in actions if (stripped := action.strip()))
    if not parts or (text.isascii() and parts[0].isascii() and parts[0].lower() not in text.lower()):
        return False
    return _in_a_row(parts).search(text) is not None


@lru_cache(maxsize=64)
def _in_a_row(parts: tuple[str, ...]) -> re.Pattern[str]:
    gap = r"(?:[^\w\n]|\n|\bthen\b|\band\b|\bnext\b|\bstep\b|\b\d{1,2}[.):]){0,12}?"
    return re.compile(r"(?<!\w)" + gap.join(map(re.escape, parts)) + r"(?!\w)", re.IGNORECASE)


def normal(text: str) -> str:
    """Spelling aside: letter case, spaces and punctuation at the edges."""
    return _normal(text) if len(text) <= SHORT else _normal.__wrapped__(text)


@lru_cache(maxsize=4096)
def _normal(text: str) -> str:
    return " ".join(text.casefold().split()).strip(_EDGES)


def _quoted(text: str) -> list[str]:
    return [next(group for group in match.groups() if group) for match in _QUOTED.finditer(text)]


def _cells(text: str) -> list[str]:
    cells: list[str] = []
    for line in text.splitlines():
        if line.count("|") >= 2 or "\t" in line:
            cells += [c for c in (cell.strip(_EDGES + "-") for cell in re.split(r"[|\t]", line)) if c]
    return cells


def _marked(text: str) -> list[str]:
    words = []
    for match in _MARK.finditer(text):
        words += [match[1].strip(_EDGES), _first(match[1])]
    return [w for w in words if w]


def _first(text: str) -> str:
    match = _WORDS.search(text)
    return match[0] if match else ""
