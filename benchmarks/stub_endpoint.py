"""A stub model behind HTTP on loopback, in a process of its own: `python -m benchmarks.stub_endpoint SECONDS_A_TURN`.

Prints its address; ends when standard input closes.
"""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.fakes_endpoint import FakeEndpoint
from tests.flows.test_killing import FactoryEndpoint


async def serve(pause: float) -> None:
    async with FakeEndpoint(FactoryEndpoint(pause)) as fake:
        print(fake.base_url, flush=True)
        ended = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
        while not ended.done():
            await asyncio.sleep(0.5)
            fake.seen.clear()


@contextmanager
def stub_endpoint(pause: float) -> Iterator[str]:
    """The address of a stub that takes `pause` seconds a turn."""
    command = [sys.executable, "-m", "benchmarks.stub_endpoint", str(pause)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
