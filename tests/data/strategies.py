"""Any record of any table, from its type hints; texts and numbers as wild as the store promises to keep."""

import dataclasses
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from spade.messages import Guide
from spade.reviews import SCALE, Review

texts = st.text(max_size=12)
"""Unicode without lone surrogates."""
ints = st.integers(-(2**63), 2**63 - 1)
reals = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | reals | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
guides = st.one_of(
    st.builds(Guide, schema=st.dictionaries(texts, json_values, max_size=2)),
    st.builds(Guide, choices=st.lists(texts, min_size=1, max_size=3).map(tuple)),
    st.builds(Guide, digits=st.integers(1, 9), prefix=texts, suffix=texts),
)
_SIMPLE: dict[Any, st.SearchStrategy[Any]] = {
    str: texts, int: ints, float: reals, bool: st.booleans(), NoneType: st.none(), Guide: guides, Any: json_values,
}  # fmt: skip

_NARROWER: dict[type, dict[str, st.SearchStrategy[Any]]] = {
    Review: {
        "style": st.sampled_from(SCALE),
        "grounding": st.sampled_from(SCALE),
        "reviewer": texts.filter(lambda name: bool(name.strip())),
    }
}


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a type hint."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if origin in (Union, UnionType):
        return st.one_of(*(values(p) for p in parts))
    if origin is Literal:
        return st.sampled_from(parts)
    if origin is tuple and parts[-1] is Ellipsis:
        return st.lists(values(parts[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*(values(p) for p in parts))
    if origin is dict:
        return st.dictionaries(texts, json_values, max_size=2)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    return records(hint)


def records(record: Any) -> st.SearchStrategy[Any]:
    """Records of a dataclass; fields that take less than their type come from `_NARROWER`."""
    hints = get_type_hints(record)
    drawn = {f.name: values(hints[f.name]) for f in dataclasses.fields(record)} | _NARROWER.get(record, {})
    return st.builds(record, **drawn)
