"""Names that depend on content alone, and random draws that depend on what is made alone."""

import json
from collections.abc import Mapping
from hashlib import sha256
from random import Random
from typing import Any

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical(value: Any) -> str:
    """One spelling of a JSON value: sorted keys, no spaces. Raises `ValueError` on NaN, `TypeError` on objects."""
    return _ENCODER.encode(value)


def digest(text: str) -> str:
    """The SHA-256 of a text in hex. Lone surrogates are hashed as they stand, so any Python string has a digest."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def content_id(kind: str, *parts: Any) -> str:
    """`kind-` and 16 hex digits that depend on `parts` (JSON values) alone."""
    return f"{kind}-{digest(canonical(parts))[:16]}"


def fingerprint(values: Mapping[str, Any]) -> str:
    """12 hex digits that name a set of settings."""
    return digest(canonical(dict(values)))[:12]


def rng_for(seed: int, *path: str | int) -> Random:
    """A generator that depends on what is made, not on when or by which worker."""
    return Random("/".join(map(str, (seed, *path))))


def seed_for(seed: int, *path: str | int) -> int:
    """A seed in [0, 2^31) with an address; equal addresses give equal seeds."""
    return rng_for(seed, *path).randrange(2**31)
