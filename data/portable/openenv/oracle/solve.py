"""Solve the environment with the program's own solution, over the wire: `python oracle/solve.py http://localhost:8000`.

Prints the return; the whole reward is 1.0. The instance is drawn by the same seed on both sides.
"""

import asyncio
import json
import sys
from pathlib import Path

import websockets

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "server"))
from spade_game import Game  # type: ignore[import-not-found]

SEED = 7


async def solve(base_url: str) -> float:
    with Game(Path(__file__).resolve().parents[1] / "server" / "program.py") as game:
        game.reset(SEED)
        actions = game.solution()
    total = 0.0
    async with websockets.connect(base_url.replace("http", "ws", 1) + "/ws") as wire:
        await wire.send(json.dumps({"type": "reset", "data": {"seed": SEED}}))
        await wire.recv()
        for action in actions:
            await wire.send(json.dumps({"type": "step", "data": {"action": action}}))
            answer = json.loads(await wire.recv())["data"]
            total += answer.get("reward") or 0.0
            if answer.get("done"):
                break
    return total


if __name__ == "__main__":
    print(asyncio.run(solve(sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8000")))
