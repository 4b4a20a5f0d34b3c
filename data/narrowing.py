"""Rows in memory narrowed: doubles dropped, then columns compared, as the views do it in SQL."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def first_of_each(rows: pa.Table, key: Sequence[str]) -> pa.Table:
    """The first row of each key, in order."""
    keys = list(zip(*(rows.column(name).to_pylist() for name in key), strict=True))
    if len(set(keys)) == len(keys):
        return rows
    firsts = {k: i for i, k in reversed(list(enumerate(keys)))}
    return rows.take(pa.array(sorted(firsts.values())))


def matching(rows: pa.Table, wanted: Mapping[str, Any]) -> pa.Table:
    """The rows whose columns equal `wanted`: a list means one of its values, None a missing value."""
    for name, value in wanted.items():
        column = rows.column(name)
        if value is None:
            rows = rows.filter(pc.is_null(column))
        else:
            values = [value] if isinstance(value, str | int | float) else list(value)
            rows = rows.filter(pc.is_in(column, pa.array(values, column.type)))
    return rows
