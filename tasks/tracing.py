"""Which slot, environment and episode the code that runs now is about: what every line of the log says."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_ABOUT: ContextVar[Mapping[str, str]] = ContextVar("about", default=MappingProxyType({}))


@contextmanager
def about(**ids: str) -> Iterator[None]:
    """Everything inside the block, tasks started there too, is about these ids (`slot`, `environment`, `episode`)."""
    token = _ABOUT.set(MappingProxyType({**_ABOUT.get(), **ids}))
    try:
        yield
    finally:
        _ABOUT.reset(token)


def ids() -> Mapping[str, str]:
    """The ids that hold here."""
    return _ABOUT.get()
