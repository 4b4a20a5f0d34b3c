"""Frames between host and child: `u32 length | u32 sequence | u8 kind | body`, little endian, texts in UTF-8.

`length` counts what follows it. There is one request under way at a time; a reply carries the request's sequence number
and nothing may follow it. A fixed binary layout instead of JSON: cheaper, and nothing in it can nest, overflow or be
anything but the numbers and texts the reader asked for.
"""

import struct
from collections.abc import Sequence

HEAD = struct.Struct("<IIB")
"""Length, sequence, kind."""
HEAD_AFTER_LENGTH = 5
SEED = struct.Struct("<q")
COUNT = struct.Struct("<I")
STEP = struct.Struct("<dB")
"""Reward and flags (1 terminated, 2 truncated), before the observation."""
BATCH = struct.Struct("<IBBI")
"""How many steps, how it ended (0, `CUT` or the kind of a failure), flags of the last step, bytes of the observations
(a list of texts). Then rewards, that list, and the words of the failure."""

PART = struct.Struct("<BI")
"""Kind and length of one request, or one reply, in a bundle."""

MAX_FRAME = 1 << 20
"""Bytes of a reply; a longer one is refused before it is read."""
MAX_OBSERVATION = 1 << 16
"""Bytes of one observation."""
MAX_BATCH_TEXT = 1 << 19
"""A batch is cut (and continued by the host) once its observations reach this many bytes."""
MAX_ACTIONS = 4096
"""Actions of one solution."""
MAX_DETAIL = 2000
"""Characters of an explanation."""

# Requests.
LOAD, RESET, PLAY, PLAY_MANY, SOLVE = range(1, 6)
# Replies.
LOADED, OBSERVED, STEPPED, STEPPED_MANY, SOLVED, RAISED, VIOLATED, OUT_OF_MEMORY, UNSTARTED = range(1, 10)
BUNDLE, BUNDLED = 10, 11
"""Several requests in one frame, and their replies."""
FAILURES = frozenset({RAISED, VIOLATED, OUT_OF_MEMORY})
CUT = 255

TERMINATED, TRUNCATED = 1, 2

SEPARATOR = "\0"
MEASURED = 1 << 31


def frame(sequence: int, kind: int, body: bytes) -> bytes:
    """One frame, ready to be written."""
    return HEAD.pack(HEAD_AFTER_LENGTH + len(body), sequence & 0xFFFFFFFF, kind) + body


def pack_texts(texts: Sequence[str]) -> bytes:
    """Texts as `count | all of them with NULs between`; where one holds a NUL, or there is none, as `count + MEASURED |
    lengths in characters | all of them`. Cutting at a character costs a third of cutting by lengths."""
    joined = SEPARATOR.join(texts)
    if texts and joined.count(SEPARATOR) == len(texts) - 1:
        return COUNT.pack(len(texts)) + joined.encode()
    lengths = struct.pack(f"<{len(texts)}I", *map(len, texts))
    return COUNT.pack(len(texts) | MEASURED) + lengths + "".join(texts).encode()


def unpack_texts(body: bytes, most: int) -> list[str]:
    """The reverse of `pack_texts`. Raises `ValueError` on anything else, or on more than `most` texts."""
    if len(body) < COUNT.size:
        raise ValueError("a list without its count")
    (head,) = COUNT.unpack_from(body)
    count = head & ~MEASURED
    if count > most:
        raise ValueError(f"a list of {count} texts")
    if head & MEASURED:
        return cut_by_length(body, count)
    texts = body[COUNT.size :].decode().split(SEPARATOR, count)
    if len(texts) != count:
        raise ValueError(f"a list of {count} texts that has more or fewer")
    return texts


def count_of(body: bytes) -> int:
    """How many texts a body of `pack_texts` holds."""
    return int(COUNT.unpack_from(body)[0] & ~MEASURED)


def cut_by_length(body: bytes, count: int) -> list[str]:
    """Texts whose lengths come before them. Raises `ValueError` unless they add up."""
    if len(body) < COUNT.size + 4 * count:
        raise ValueError("a list cut short")
    lengths = struct.unpack_from(f"<{count}I", body, COUNT.size)
    text = body[COUNT.size + 4 * count :].decode()
    if sum(lengths) != len(text):
        raise ValueError("lengths that do not add up")
    pieces, at = [], 0
    for length in lengths:
        pieces.append(text[at : at + length])
        at += length
    return pieces


def pack_parts(parts: Sequence[tuple[int, bytes]]) -> bytes:
    """Requests or replies of a bundle, one after another."""
    return b"".join(PART.pack(kind, len(body)) + body for kind, body in parts)


def unpack_parts(body: bytes) -> list[tuple[int, bytes]]:
    """The reverse of `pack_parts`. Raises `ValueError` on anything else."""
    parts, at = [], 0
    while at < len(body):
        if len(body) - at < PART.size:
            raise ValueError("a bundle cut short")
        kind, length = PART.unpack_from(body, at)
        at += PART.size
        if len(body) - at < length:
            raise ValueError("a bundle cut short")
        parts.append((kind, body[at : at + length]))
        at += length
    return parts
