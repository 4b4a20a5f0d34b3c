from collections.abc import Iterator

import pytest

from sandbox.opening import open_sandbox
from spade.ports import Sandbox
from spade.settings import SandboxSettings


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """The best local sandbox of this machine."""
    with open_sandbox(SandboxSettings()) as opened:
        yield opened
