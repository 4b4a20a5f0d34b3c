"""Processes of other interpreters that hold a benchmark's package; a hung or dead one costs a sample, never the run.

Not a sandbox: what runs there is the package, with the model's text as data. The process gets a folder of its own and
an environment without anything of ours, so that no key can be read; it can be killed at any time.
"""

import asyncio
import json
import os
import signal
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spade.errors import Abort
from spade.evaluating import MarkerError

LINE_BYTES = 2**26
SECONDS = 120.0
"""What one answer of a worker may take; the model's time is not counted."""
START_SECONDS = 300.0
SCRIPTS = Path(__file__).parent / "workers"

Answering = Callable[[Any], Awaitable[Any]]


@dataclass
class Worker:
    """One process, started when it is first asked. One call at a time."""

    python: Path
    script: str
    seconds: float = SECONDS
    _process: asyncio.subprocess.Process | None = None
    _folder: tempfile.TemporaryDirectory[str] | None = None

    async def call(self, op: str, answering: Answering | None = None, **values: Any) -> Any:
        """The value of one operation; questions in between go to `answering`. Raises `MarkerError` when the operation
        fails, hangs or its process dies, and whatever `answering` raises."""
        try:
            await self._say({"op": op, **values})
            while "ask" in (answer := await self._heard(op)):
                if answering is None:
                    raise MarkerError(f"{self.script} asked something in {op}.")
                await self._say({"reply": await answering(answer["ask"])})
        except BaseException:
            await self.aclose()
            raise
        if "error" in answer:
            raise MarkerError(f"{op}: {answer['error']}")
        return answer["done"]

    async def _say(self, value: Any) -> None:
        process = self._process or await self._start()
        assert process.stdin is not None
        with suppress(ConnectionError):
            process.stdin.write(json.dumps(value).encode() + b"\n")
            await process.stdin.drain()

    async def _heard(self, op: str) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            line = await asyncio.wait_for(self._process.stdout.readline(), self.seconds)
        except TimeoutError:
            raise MarkerError(f"{op} took longer than {self.seconds:.0f} s and was ended.") from None
        if not line:
            raise MarkerError(f"the process of {self.script} died in {op}.")
        heard: dict[str, Any] = json.loads(line)
        return heard

    async def _start(self) -> asyncio.subprocess.Process:
        self._folder = tempfile.TemporaryDirectory(prefix="spade-suite-")
        place = self._folder.name
        own = {"HOME": place, "TMPDIR": place, "MPLCONFIGDIR": place, "BFCL_PROJECT_ROOT": place}
        try:
            self._process = await asyncio.create_subprocess_exec(
                *(str(self.python), str(SCRIPTS / self.script)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                limit=LINE_BYTES,
                cwd=place,
                env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "PYTHONHASHSEED": "0", **own},
                start_new_session=True,
            )
        except OSError as error:
            raise Abort(f"{self.python} cannot be started: {error.strerror}.", "Make the environment anew.") from error
        return self._process

    async def aclose(self) -> None:
        """Kill the process and whatever it started."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


@dataclass
class Workers:
    """A few workers of one kind; each call takes one that is free."""

    python: Path
    script: str
    count: int = 1
    seconds: float = SECONDS
    _all: list[Worker] = field(default_factory=list)
    _free: asyncio.LifoQueue[Worker] = field(default_factory=asyncio.LifoQueue)

    async def call(self, op: str, answering: Answering | None = None, **values: Any) -> Any:
        """`Worker.call` of a free one."""
        if self._free.empty() and len(self._all) < self.count:
            made = Worker(self.python, self.script, self.seconds)
            self._all.append(made)
            self._free.put_nowait(made)
        worker = await self._free.get()
        try:
            return await worker.call(op, answering, **values)
        finally:
            self._free.put_nowait(worker)

    async def aclose(self) -> None:
        await asyncio.gather(*(worker.aclose() for worker in self._all))
