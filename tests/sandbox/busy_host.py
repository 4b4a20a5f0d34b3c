"""A host with many busy games, to be killed: `python -m tests.sandbox.busy_host TIER COUNT`."""

import asyncio
import sys

from sandbox.facade import AsyncSandbox
from sandbox.local import LocalSandbox
from sandbox.tiers import raise_open_files
from spade.ports import Game, IsolationLevel, Limits
from tests.sandbox.programs import running

LIMITS = Limits(wall_seconds=60.0, cpu_seconds=60.0)


async def main(core: LocalSandbox, count: int) -> None:
    sandbox = AsyncSandbox(core, IsolationLevel.CONFINED, {})

    async def ready() -> Game:
        opened = await sandbox.open(running(in_step="while True: pass"), LIMITS)
        assert opened.game is not None
        await opened.game.reset(0)
        return opened.game

    games = await asyncio.gather(*[ready() for _ in range(count)])
    waiting = [asyncio.ensure_future(game.step("x")) for game in games]
    await asyncio.sleep(0.05)
    print("busy", flush=True)
    await asyncio.gather(*waiting)


if __name__ == "__main__":
    raise_open_files()
    asyncio.run(main(LocalSandbox(sys.argv[1]), int(sys.argv[2])))  # type: ignore[arg-type]
