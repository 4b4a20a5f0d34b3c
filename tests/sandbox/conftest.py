"""Every backend that this machine offers, each behind the same port."""

import importlib.util
from collections.abc import Iterator

import pytest

from sandbox.facade import AsyncSandbox
from sandbox.isolation import Isolation
from sandbox.local import LocalSandbox
from sandbox.tiers import TIERS
from spade.errors import Retry
from spade.ports import Sandbox
from spade.settings import SandboxSettings
from tests.fakes_e2b import FakeE2B


@pytest.fixture(scope="module", params=TIERS)
def local(request: pytest.FixtureRequest) -> Iterator[LocalSandbox]:
    yield from started(request.param)


@pytest.fixture(scope="module", params=[*TIERS, "e2b"])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    if request.param == "e2b":
        cloud: FakeE2B = request.getfixturevalue("cloud")
        yield from rented(cloud)
        return
    for core in started(request.param):
        isolation = Isolation(core.tier, core.zygote().layers, {})
        yield AsyncSandbox(core, isolation.level, isolation.report())


@pytest.fixture(scope="module")
def cloud() -> Iterator[FakeE2B]:
    """E2B's stand-in, which the SDK finds in the environment."""
    if importlib.util.find_spec("e2b") is None:
        pytest.skip("the e2b extra is not installed")
    with FakeE2B() as cloud, pytest.MonkeyPatch.context() as patch:
        for name, value in cloud.environment.items():
            patch.setenv(name, value)
        yield cloud


def started(tier: str) -> Iterator[LocalSandbox]:
    core = LocalSandbox(tier)  # type: ignore[arg-type]
    try:
        core.zygote()
    except Retry as error:
        core.close()
        pytest.skip(f"{tier}: {error}")
    yield core
    core.close()


def rented(cloud: FakeE2B) -> Iterator[Sandbox]:
    from sandbox.cloud.backend import RemoteSandbox

    sandbox = RemoteSandbox(SandboxSettings(kind="e2b", machines=2))
    yield sandbox
    sandbox.close()
    assert not cloud.machines
