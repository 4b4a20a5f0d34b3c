"""Inside a machine of its own: plays many games for a host far away, over lines on standard input and output.

Uploaded together with the local sandbox and started there as `python -m sandbox.cloud.relay FOLDER BEAT`, without any
package; FOLDER is where the host puts further files, BEAT how many seconds may pass without a line. Every line is one
JSON object. The host writes

    {"id": 1, "open": GAME, "program": TEXT, "limits": [wall, cpu, memory, scratch], "hash_seed": 0}
    {"id": 2, "ask": GAME, "calls": [[call, seed, [action, ...]], ...]}
    {"id": 3, "close": GAME}
    {"id": 4, "libraries": FILE}

and reads `{"ready": report}` once, `{"beat": 0}` now and then, and per request `{"id": 1, "replies": [[outcome,
observation, [[observation, reward, terminated, truncated], ...], [action, ...], detail], ...]}` or `{"id": 1, "lost":
why}`. Replies may come in any order, and may answer fewer calls (or steps of the last call) than were asked, where the
rest would not fit in a line; the host asks again for the rest.
"""

import asyncio
import importlib
import json
import os
import sys
import tarfile
from collections.abc import Sequence
from typing import Any

from sandbox.facade import AsyncSandbox
from sandbox.games import ALIVE, over
from sandbox.tiers import open_local, raise_open_files
from spade.errors import SpadeError
from spade.outcomes import CallOutcome, Reply, Step
from spade.ports import Game, Limits, Sandbox

MAX_LINE = 1 << 22
"""Bytes of a line, either way."""
MAX_TEXT = 1 << 17
"""Bytes of observations after which a reply is sent with what there is."""
BITE = 8
"""Steps after which the size is looked at. Eight of the longest observations, all of control characters (six bytes each
as JSON), still fit in a line."""
LIBRARIES = "libraries"

Call = tuple[str, int, list[str]]


class Relay:
    """Games by the host's numbers. Calls of different games run at once, those of one game one after another."""

    def __init__(self, sandbox: Sandbox, folder: str, output: int = 1) -> None:
        self.sandbox = sandbox
        self.folder = folder
        self.output = output
        self.games: dict[int, Game] = {}
        self.running: dict[int, asyncio.Task[None]] = {}

    async def serve(self, lines: asyncio.StreamReader) -> None:
        """Answer until the input ends."""
        while line := await lines.readline():
            request = json.loads(line)
            task = asyncio.create_task(self.answer(request))
            game = request.get("open", request.get("ask"))
            if game is not None:
                self.running[game] = task
            elif "close" in request and (running := self.running.pop(request["close"], None)):
                running.cancel()

    async def answer(self, request: dict[str, Any]) -> None:
        try:
            replies = await self.replies(request)
        except SpadeError as error:
            self.say({"id": request["id"], "lost": str(error)})
            return
        if not self.say({"id": request["id"], "replies": [packed(reply) for reply in replies]}):
            await self.close(request["ask"])
            text = f"it answered more than {MAX_LINE} bytes at once"
            self.say({"id": request["id"], "replies": [packed(Reply(CallOutcome.ENV_PROTOCOL, detail=text))]})

    async def replies(self, request: dict[str, Any]) -> list[Reply]:
        if "open" in request:
            return [await self.open(request)]
        if "ask" in request:
            return await play(self.games[request["ask"]], request["calls"])
        if "close" in request:
            await self.close(request["close"])
        else:
            await asyncio.to_thread(self.unpack, request["libraries"])
        return []

    async def open(self, request: dict[str, Any]) -> Reply:
        limits = Limits(*request["limits"])
        opened = await self.sandbox.open(request["program"], limits, hash_seed=request["hash_seed"])
        if opened.game is not None:
            self.games[request["open"]] = opened.game
        return opened.reply

    async def close(self, number: int) -> None:
        game = self.games.pop(number, None)
        if game is not None:
            await game.close()

    def unpack(self, name: str) -> None:
        """Make packages that the host has sent importable: fork servers look for them when they start."""
        with tarfile.open(os.path.join(self.folder, name)) as packages:
            packages.extractall(LIBRARIES)
        sys.path.append(os.path.abspath(LIBRARIES))
        importlib.invalidate_caches()

    def say(self, message: dict[str, Any]) -> bool:
        """Write a line, in one go. Answers whether it was short enough to be written."""
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"
        if len(line) > MAX_LINE:
            return False
        while line:
            line = line[os.write(self.output, line) :]
        return True

    async def beat(self, seconds: float) -> None:
        while True:
            await asyncio.sleep(seconds)
            self.say({"beat": 0})


async def play(game: Game, calls: Sequence[Call]) -> list[Reply]:
    """Replies to as many calls as were answered for good and fit in a line."""
    replies: list[Reply] = []
    size = 0
    for call, seed, actions in calls:
        reply = await play_one(game, call, seed, actions, MAX_TEXT - size)
        replies.append(reply)
        size += text_size(reply.steps) + len(reply.observation)
        if reply.outcome not in ALIVE or size > MAX_TEXT:
            break
    return replies


async def play_one(game: Game, call: str, seed: int, actions: list[str], room: int) -> Reply:
    if call == "reset":
        return await game.reset(seed)
    if call == "step":
        return await game.step(actions[0])
    if call == "solution":
        return await game.solution()
    steps: list[Step] = []
    reply = Reply(CallOutcome.OK)
    while reply.ok and len(steps) < len(actions) and not over(steps) and text_size(steps) <= room:
        reply = await game.steps(actions[len(steps) : len(steps) + BITE])
        steps += reply.steps
    return Reply(reply.outcome, steps=tuple(steps), detail=reply.detail)


def text_size(steps: Sequence[Step]) -> int:
    return sum(len(step.observation.encode()) for step in steps)


def packed(reply: Reply) -> list[Any]:
    """A reply as JSON values; wall time is the host's to measure."""
    steps = [[step.observation, step.reward, step.terminated, step.truncated] for step in reply.steps]
    return [reply.outcome.value, reply.observation, steps, list(reply.actions), reply.detail]


async def main(folder: str, beat: float) -> None:
    raise_open_files()
    core, isolation = await asyncio.to_thread(open_local)
    try:
        relay = Relay(AsyncSandbox(core, isolation.level, isolation.report()), folder)
        relay.say({"ready": isolation.report()})
        beating = asyncio.create_task(relay.beat(beat))
        lines = asyncio.StreamReader(limit=2 * MAX_LINE)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        await relay.serve(lines)
        beating.cancel()
    finally:
        core.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2])))
