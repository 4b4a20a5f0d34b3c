"""Every backend that this machine offers, each behind the same port."""

from collections.abc import Iterator

import pytest

from sandbox.facade import AsyncSandbox
from sandbox.isolation import Isolation
from sandbox.launching import Tier
from sandbox.local import LocalSandbox
from spade.errors import Retry
from spade.ports import Sandbox

TIERS: tuple[Tier, ...] = ("namespaced", "confined")


@pytest.fixture(scope="module", params=TIERS)
def local(request: pytest.FixtureRequest) -> Iterator[LocalSandbox]:
    core = LocalSandbox(request.param)
    try:
        core.zygote()
    except Retry as error:
        core.close()
        pytest.skip(f"{request.param}: {error}")
    yield core
    core.close()


@pytest.fixture
def sandbox(local: LocalSandbox) -> Sandbox:
    isolation = Isolation(local.tier, local.zygote().layers, {})
    return AsyncSandbox(local, isolation.level, isolation.report())
