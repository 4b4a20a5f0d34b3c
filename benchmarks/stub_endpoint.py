"""A stub model behind HTTP on loopback, in a process of its own: `python -m benchmarks.stub_endpoint SECONDS_A_TURN`.

Prints its address; ends when standard input closes.
"""

import asyncio
import sys
from contextlib import AbstractContextManager

from benchmarks.processes import served
from tests.fakes_endpoint import FakeEndpoint
from tests.flows.test_killing import FactoryEndpoint


async def serve(pause: float) -> None:
    async with FakeEndpoint(FactoryEndpoint(pause)) as fake:
        print(fake.base_url, flush=True)
        ended = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
        while not ended.done():
            await asyncio.sleep(0.5)
            fake.seen.clear()


def stub_endpoint(pause: float) -> AbstractContextManager[str]:
    """The address of a stub that takes `pause` seconds a turn."""
    return served("benchmarks.stub_endpoint", pause)


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
