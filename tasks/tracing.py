"""Which slot, environment and episode the code that runs now is about: what every line of the log says."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING

from prefect import tags

from spade.slots import Slot

if TYPE_CHECKING:
    from tasks.factory import Factory

_ABOUT: ContextVar[Mapping[str, str]] = ContextVar("about", default=MappingProxyType({}))


@contextmanager
def about(**ids: str) -> Iterator[None]:
    """Everything inside the block, tasks started there too, is about these ids (`slot`, `environment`, `episode`)."""
    token = _ABOUT.set(MappingProxyType({**_ABOUT.get(), **ids}))
    try:
        yield
    finally:
        _ABOUT.reset(token)


@contextmanager
def concerning(factory: "Factory", slot: Slot, env_id: str = "") -> Iterator[None]:
    """Task runs inside the block can be searched by skill, model and environment, and the log names slot and
    environment."""
    named = {"skill": slot.skill.value, "model": factory.model.name} | ({"environment": env_id} if env_id else {})
    stands = {"slot": slot.slot_id} | ({"environment": env_id} if env_id else {})
    with about(**stands), tags(*(f"{name}:{value}" for name, value in named.items())):
        yield


def ids() -> Mapping[str, str]:
    """The ids that hold here."""
    return _ABOUT.get()
