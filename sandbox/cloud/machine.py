"""One rented machine: made, filled and started; asked over one stream; kept alive while wanted; killed for sure."""

import asyncio
import contextlib
import json
import random
import shlex
import time
from collections.abc import Mapping
from typing import Any

from sandbox.cloud import luggage
from sandbox.cloud.dealing import MachineLost, Pace, attributed
from sandbox.cloud.wire import Line, Lines, read_line
from sandbox.replies import BadFrame, printable

FOLDER = "spade-sandbox"
LIBRARIES = "libraries.tar.gz"
USER = "root"
"""In the machine: each program then gets a user of its own."""
START = """
import sys
if sys.version_info < (3, 11): sys.exit('the template has Python %d.%d; it needs 3.11 or later' % sys.version_info[:2])
import runpy; runpy.run_module('sandbox.cloud.relay', run_name='__main__')
"""
MAX_SEND = 1 << 19
"""Bytes of one message to the standard input; what is waiting goes along in it."""
LAST_WORDS = 2000


class Machine:
    """One cloud sandbox with the relay in it. Belongs to one event loop."""

    def __init__(self, template: str, tags: Mapping[str, str], pace: Pace) -> None:
        self.template = template
        self.tags = dict(tags)
        self.pace = pace
        self.games = 0
        self.numbers = 0
        """Requests so far."""
        self.report: dict[str, Any] = {}
        self.lost = ""
        """Why it is of no use any more."""
        self.waiting: dict[int, asyncio.Future[Line]] = {}
        self.lines = Lines()
        self.complaints = ""
        self.heard_at = time.monotonic()
        self.outbox: list[bytes] = []
        self.posted = asyncio.Event()
        self.answers = asyncio.Event()
        self.tasks: list[asyncio.Task[None]] = []
        self.box: Any = None
        self.libraries: asyncio.Task[Line] | None = None

    async def start(self) -> None:
        """Raises `MachineLost` when it does not come up, `Abort` when none ever will."""
        try:
            async with asyncio.timeout(self.pace.start):
                await self.create()
                await self.launch()
                await self.answers.wait()
        except TimeoutError:
            self.fail(f"it was not ready within {self.pace.start:g} s. {self.complaints}".strip())
        except Exception as error:
            self.fail(str(error))
            raise attributed(error) from error
        if self.lost:
            await self.kill()
            raise MachineLost(self.lost)

    async def create(self) -> None:
        from e2b import AsyncSandbox

        self.box = await AsyncSandbox.create(
            self.template,
            timeout=self.pace.lifetime,
            metadata=self.tags,
            allow_internet_access=False,
            request_timeout=self.pace.request,
        )

    async def launch(self) -> None:
        """Upload the driver and start it as a process that stays."""
        files = [{"path": f"{FOLDER}/{path}", "data": data} for path, data in luggage.sources().items()]
        await self.box.files.write_files(files, user=USER, request_timeout=self.pace.request)
        # Into a folder that programs can reach, whatever the mode of the home that files are put into.
        command = (
            f'from="$PWD/{FOLDER}"; to=$(mktemp -d) && chmod 755 "$to" && cp -R "$from/." "$to" && cd "$to" && '
            f'exec python3 -B -c {shlex.quote(START)} "$from" {self.pace.beat:g}'
        )
        handle = await self.box.commands.run(
            command,
            background=True,
            stdin=True,
            timeout=0,
            user=USER,
            on_stdout=self.hear,
            on_stderr=self.complain,
            retain_output=False,
            request_timeout=self.pace.request,
        )
        jobs = (self.send(handle), self.watch(handle), self.renew(), self.listen())
        self.tasks = [asyncio.create_task(job) for job in jobs]

    def hear(self, piece: str) -> None:
        if self.lost:
            return
        self.heard_at = time.monotonic()
        try:
            for text in self.lines.feed(piece):
                self.take(read_line(text))
        except BadFrame as error:
            self.fail(f"it broke the protocol: {error}")

    def take(self, line: Line) -> None:
        if line.ready is not None:
            if self.report:
                raise BadFrame("a second report")
            self.report = line.ready
            self.answers.set()
        elif line.number is not None:
            waiting = self.waiting.pop(line.number, None)
            if waiting is None:
                raise BadFrame("an answer nobody asked for")
            if not waiting.done():
                waiting.set_result(line)

    def complain(self, piece: str) -> None:
        self.complaints = printable((self.complaints + piece)[-LAST_WORDS:])

    async def ask(self, request: Mapping[str, Any], seconds: float) -> Line:
        """The answer to a request. Raises `MachineLost`, also when there is none within so long."""
        if self.lost:
            raise MachineLost(self.lost)
        self.numbers += 1
        number = self.numbers
        answer: asyncio.Future[Line] = asyncio.get_running_loop().create_future()
        self.waiting[number] = answer
        self.post({"id": number, **request})
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError:
            self.fail(f"no answer within {seconds:g} s")
            raise MachineLost(self.lost) from None

    def post(self, message: Mapping[str, Any]) -> None:
        self.outbox.append(json.dumps(message).encode() + b"\n")
        self.posted.set()

    def part_with(self, game: int) -> None:
        """Have a game closed, without waiting for it."""
        if not self.lost:
            self.numbers += 1
            self.waiting[self.numbers] = asyncio.get_running_loop().create_future()
            self.post({"id": self.numbers, "close": game})

    async def with_libraries(self) -> None:
        """Send `math_verify` over, once. Raises `MachineLost`."""
        if self.libraries is None:
            self.libraries = asyncio.create_task(self.send_libraries())
        await asyncio.shield(self.libraries)

    async def send_libraries(self) -> Line:
        data = await asyncio.to_thread(luggage.libraries)
        try:
            await self.box.files.write(f"{FOLDER}/{LIBRARIES}", data, user=USER, request_timeout=self.pace.start)
        except Exception as error:
            self.fail(str(error))
            raise attributed(error) from error
        return await self.ask({"libraries": LIBRARIES}, self.pace.start)

    async def send(self, handle: Any) -> None:
        """One message at a time, in order; what has come up meanwhile goes together in the next."""
        while True:
            await self.posted.wait()
            self.posted.clear()
            while self.outbox:
                size, count = 0, 0
                while count < len(self.outbox) and (not count or size + len(self.outbox[count]) <= MAX_SEND):
                    size += len(self.outbox[count])
                    count += 1
                data = b"".join(self.outbox[:count])
                del self.outbox[:count]
                try:
                    await handle.send_stdin(data, request_timeout=self.pace.request)
                except Exception as error:  # noqa: BLE001 - whatever the SDK or its transport raises
                    return self.fail(f"it cannot be reached: {error}")

    async def watch(self, handle: Any) -> None:
        try:
            await handle.wait()
            why = "its relay ended"
        except Exception as error:  # noqa: BLE001 - whatever the SDK or its transport raises
            why = f"its relay ended: {type(error).__name__}: {error}"
        self.fail(f"{why}. {self.complaints}".strip())

    async def listen(self) -> None:
        while time.monotonic() - self.heard_at < self.pace.silence:
            await asyncio.sleep(self.pace.beat / 4)
        self.fail(f"nothing was heard of it for {self.pace.silence:g} s")

    async def renew(self) -> None:
        """Move its end ahead for as long as it is wanted here. One that cannot be renewed is heard no more when it
        ends."""
        while True:
            await asyncio.sleep(self.pace.lifetime / 6)
            with contextlib.suppress(Exception):
                await self.box.set_timeout(self.pace.lifetime, request_timeout=self.pace.request)

    def fail(self, reason: str) -> None:
        """Give the machine up: every call that waits for it is answered by that."""
        if not self.lost:
            self.lost = printable(reason)[:LAST_WORDS] or "for no reason given"
            waiting, self.waiting = self.waiting, {}
            for answer in waiting.values():
                if not answer.done():
                    answer.set_exception(MachineLost(self.lost))
                    answer.exception()  # heard of, also where nobody waits
            self.answers.set()

    async def kill(self) -> None:
        """End it for good. Tried again once; what then still runs ends by itself, unrenewed."""
        self.fail("it has been closed")
        for task in self.tasks:
            task.cancel()
        for _ in range(2):
            if self.box is None:
                return
            try:
                await asyncio.shield(self.box.kill(request_timeout=self.pace.request))
                self.box = None
            except Exception:  # noqa: BLE001 - it must not keep others from being killed
                await asyncio.sleep(random.uniform(0, self.pace.jitter))
