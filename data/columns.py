"""Frozen records as Arrow columns and back, driven by the records' own type hints.

Every hint has one Arrow type, so nothing is inferred from values: `str`, `int` (64 bit), `float` (64 bit), `bool`,
enums (their value), `T | None`, `tuple[T, ...]` (list), `tuple[A, B]` and dataclasses (struct); any other hint holds
JSON values and is stored as JSON text. A field added later with a default reads as that default from older files.
"""

import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import chain, islice
from operator import attrgetter, itemgetter
from types import NoneType, UnionType
from typing import Any, Literal, Protocol, TypeAlias, Union, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from spade.identity import canonical

Column: TypeAlias = Any
"""A `pyarrow.Array`; its stubs know too little of nested arrays to be of use here."""


class Blemished(ValueError):
    """A value that Arrow or JSON cannot hold as it is: a number that is not finite, or half a surrogate pair."""


class Codec(Protocol):
    """One kind of value as an Arrow array. `strict` refuses numbers that are not finite with `Blemished`."""

    @property
    def type(self) -> pa.DataType: ...

    def encode(self, values: Sequence[Any], *, strict: bool) -> Column: ...

    def decode(self, array: Column) -> list[Any]: ...


@dataclass(frozen=True)
class Plain:
    """Text, whole numbers and truth values."""

    type: pa.DataType

    def encode(self, values: Sequence[Any], *, strict: bool) -> Column:
        try:
            return pa.array(values, self.type)
        except UnicodeEncodeError as error:
            raise Blemished(str(error)) from error

    def decode(self, array: Column) -> list[Any]:
        return listed(array)


@dataclass(frozen=True)
class Real:
    """Floating-point numbers. NaN is stored as NaN, never as null."""

    type: pa.DataType = dataclasses.field(default_factory=pa.float64)

    def encode(self, values: Sequence[Any], *, strict: bool) -> Column:
        array = pa.array(values, self.type, from_pandas=False)
        if strict and not np.isfinite(array.drop_null().to_numpy(zero_copy_only=False)).all():
            raise Blemished("a number is not finite")
        return array

    def decode(self, array: Column) -> list[Any]:
        return listed(array)


@dataclass(frozen=True)
class Enumerated:
    """An enum by its value."""

    enum: type[Enum]
    inner: Plain

    @property
    def type(self) -> pa.DataType:
        return self.inner.type

    def encode(self, values: Sequence[Any], *, strict: bool) -> Column:
        return self.inner.encode([None if v is None else self.enum(v).value for v in values], strict=strict)

    def decode(self, array: Column) -> list[Any]:
        members = {m.value: m for m in self.enum}
        return [None if v is None else members[v] for v in array.to_pylist()]


@dataclass(frozen=True)
class Json:
    """JSON values as canonical text."""

    type: pa.DataType = dataclasses.field(default_factory=pa.string)

    def encode(self, values: Sequence[Any], *, strict: bool) -> Column:
        try:
            return pa.array([None if v is None else canonical(v) for v in values], self.type)
        except (UnicodeEncodeError, ValueError) as error:
            raise Blemished(str(error)) from error

    def decode(self, array: Column) -> list[Any]:
        return [None if v is None else json.loads(v) for v in array.to_pylist()]


@dataclass(frozen=True)
class Many:
    """A tuple of any length."""

    inner: Codec

    @property
    def type(self) -> pa.DataType:
        return pa.list_(self.inner.type)

    def encode(self, values: Sequence[Any], *, strict: bool) -> Column:
        gaps = _gaps(values)
        whole = values if gaps is None else [v or () for v in values]
        offsets = np.zeros(len(whole) + 1, np.int32)
        np.cumsum(np.fromiter(map(len, whole), np.int32, len(whole)), out=offsets[1:])
        flat = self.inner.encode(list(chain.from_iterable(whole)), strict=strict)
        starts: Column = pa.array(offsets)
        lists: Column = pa.ListArray.from_arrays(starts, flat, mask=gaps)
        return lists

    def decode(self, array: Column) -> list[Any]:
        values = iter(self.inner.decode(array.flatten()))
        lengths = listed(pc.list_value_length(array))
        return [None if length is None else tuple(islice(values, length)) for length in lengths]


def listed(array: Column) -> list[Any]:
    """The values of an array without nested parts; ten times faster than `to_pylist` for numbers without gaps."""
    if array.null_count or not pa.types.is_primitive(array.type):
        values: list[Any] = array.to_pylist()
        return values
    return list(array.to_numpy(zero_copy_only=False).tolist())


def _gaps(values: Sequence[Any]) -> Column:
    """Where the values are None, or None where all are there."""
    return pa.array([v is None for v in values], pa.bool_()) if None in values else None


def _taken(values: Sequence[Any], get: Callable[[Any], Any], gaps: bool) -> list[Any]:
    return [None if v is None else get(v) for v in values] if gaps else list(map(get, values))


@dataclass(frozen=True)
class Struct:
    """A dataclass, or a tuple of fixed length (`make` is then `tuple` over its parts)."""

    names: tuple[str, ...]
    codecs: tuple[Codec, ...]
    getters: tuple[Callable[[Any], Any], ...]
    make: Any
    defaults: tuple[Any, ...]
    """One factory a field: what a null means where the field cannot be None; None where null stays None."""

    @property
    def type(self) -> pa.DataType:
        return pa.struct(self._fields)

    @property
    def _fields(self) -> list[Any]:
        return [pa.field(n, c.type) for n, c in zip(self.names, self.codecs, strict=True)]

    def encode(self, values: Sequence[Any], *, strict: bool) -> Column:
        gaps = _gaps(values)
        arrays = [
            codec.encode(_taken(values, get, gaps is not None), strict=strict)
            for get, codec in zip(self.getters, self.codecs, strict=True)
        ]
        return pa.StructArray.from_arrays(arrays, fields=self._fields, mask=gaps)

    def decode(self, array: Column) -> list[Any]:
        there = array.is_valid().to_pylist()
        columns = [
            self._column(array, name, codec, default)
            for name, codec, default in zip(self.names, self.codecs, self.defaults, strict=True)
        ]
        rows = zip(*columns, strict=True) if columns else iter(() for _ in there)
        return [self.make(*row) if whole else None for row, whole in zip(rows, there, strict=True)]

    def _column(self, array: Column, name: str, codec: Codec, default: Any) -> list[Any]:
        if array.type.get_field_index(name) < 0:
            return filled([None] * len(array), default)
        return filled(codec.decode(pc.struct_field(array, name)), default)


def filled(values: list[Any], default: Any) -> list[Any]:
    """`values` with each None replaced by a fresh default, where the field has one."""
    return values if default is None else [default() if v is None else v for v in values]


_PLAIN: dict[Any, pa.DataType] = {str: pa.string(), int: pa.int64(), bool: pa.bool_()}


def codec_for(hint: Any) -> Codec:
    """The codec of a type hint."""
    hint = _without_none(hint)
    if hint in _PLAIN:
        return Plain(_PLAIN[hint])
    if hint is float:
        return Real()
    if get_origin(hint) is Literal:
        return codec_for(type(get_args(hint)[0]))
    if get_origin(hint) is tuple:
        return _tuple_codec(get_args(hint))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Enumerated(hint, Plain(pa.int64() if issubclass(hint, int) else pa.string()))
    if dataclasses.is_dataclass(hint):
        return struct_of(hint)
    return Json()


def _tuple_codec(parts: tuple[Any, ...]) -> Codec:
    if len(parts) == 2 and parts[1] is Ellipsis:
        return Many(codec_for(parts[0]))
    names = tuple(f"_{i}" for i in range(len(parts)))
    codecs = tuple(codec_for(p) for p in parts)
    return Struct(names, codecs, tuple(map(itemgetter, range(len(parts)))), lambda *v: v, (None,) * len(parts))


def struct_of(record: Any) -> Struct:
    """The codec of a dataclass."""
    hints = get_type_hints(record)
    fields = dataclasses.fields(record)
    return Struct(
        names=tuple(f.name for f in fields),
        codecs=tuple(codec_for(hints[f.name]) for f in fields),
        getters=tuple(attrgetter(f.name) for f in fields),
        make=record,
        defaults=tuple(default_of(f, hints[f.name]) for f in fields),
    )


def default_of(field: "dataclasses.Field[Any]", hint: Any) -> Any:
    """A factory for what a null means in this field, or None where a null is None."""
    if hint is Any or _without_none(hint) != hint:
        return None
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory
    if field.default is not dataclasses.MISSING:
        default = field.default
        return lambda: default
    return None


def _without_none(hint: Any) -> Any:
    if get_origin(hint) in (Union, UnionType):
        rest = [a for a in get_args(hint) if a is not NoneType]
        return rest[0] if len(rest) == 1 else Any
    return hint
