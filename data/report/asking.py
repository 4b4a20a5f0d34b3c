"""The report's questions to the catalog; their SQL stands in `sql/`."""

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from data.catalog import Catalog

T = TypeVar("T")


@cache
def _sql(name: str) -> str:
    return files("data.report").joinpath("sql", f"{name}.sql").read_text("utf-8")


def ask(catalog: Catalog, name: str, *parameters: Any) -> list[dict[str, Any]]:
    """The rows that `sql/NAME.sql` answers."""
    return catalog.query(_sql(name), parameters)


def ask_for(make: Callable[..., T], catalog: Catalog, name: str, *parameters: Any) -> tuple[T, ...]:
    """The same rows as records: each column is a field."""
    return tuple(make(**row) for row in ask(catalog, name, *parameters))
