from collections.abc import AsyncIterator

import pytest

from sandbox.opening import open_sandbox
from spade.ports import Sandbox
from spade.settings import SandboxSettings


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with open_sandbox(SandboxSettings()) as opened:
        yield opened
