"""A host with many busy games, to be killed: `python -m tests.sandbox.busy_host TIER COUNT`."""

import asyncio
import sys

from sandbox.facade import AsyncSandbox
from sandbox.local import LocalSandbox
from sandbox.opening import raise_open_files
from spade.ports import IsolationLevel, Limits
from tests.sandbox.programs import running

LIMITS = Limits(wall_seconds=60.0, cpu_seconds=60.0)


async def main(core: LocalSandbox, count: int) -> None:
    sandbox = AsyncSandbox(core, IsolationLevel.CONFINED, {})

    async def busy() -> None:
        opened = await sandbox.open(running(in_step="while True: pass"), LIMITS)
        assert opened.game is not None
        await opened.game.reset(0)
        waiting.append(asyncio.ensure_future(opened.game.step("x")))

    waiting: list[asyncio.Future[object]] = []
    await asyncio.gather(*[busy() for _ in range(count)])
    await asyncio.sleep(0.05)
    print("busy", flush=True)
    await asyncio.gather(*waiting)


if __name__ == "__main__":
    raise_open_files()
    asyncio.run(main(LocalSandbox(sys.argv[1]), int(sys.argv[2])))  # type: ignore[arg-type]
