"""The game inside a Harbor task: a server that hides the program, a client for the agent, a replay for scoring.

    spade_harbor.py serve          started as root before the agent comes; reads program.py and task.json beside it
    spade_harbor.py look           what the agent sees now
    spade_harbor.py act "TEXT"     one move; prints what the agent sees next
    spade_harbor.py solve          plays the program's own solution, from a folder that has the program
    spade_harbor.py replay FILE    play the logged moves again, in a fresh process, and write the reward to FILE

The agent's user reaches the socket, but neither the program nor the log.
"""

import json
import os
import socket
import sys
from pathlib import Path
from typing import Any

from spade_game import Game, GameError  # type: ignore[import-not-found]

HERE = Path(__file__).resolve().parent
SOCKET = os.environ.get("SPADE_SOCKET", "/run/spade.sock")
LOG = HERE / "log.json"


def serve() -> None:
    """Answer one request a connection until the process is ended."""
    task = json.loads((HERE / "task.json").read_text("utf-8"))
    Path(SOCKET).unlink(missing_ok=True)
    with Game(HERE / "program.py") as game, socket.socket(socket.AF_UNIX) as listening:
        state = {"seen": game.reset(task["seed"]), "over": False, "actions": []}
        _keep(state)
        listening.bind(SOCKET)
        os.chmod(SOCKET, 0o666)
        listening.listen()
        while True:
            connection, _ = listening.accept()
            with connection:
                request = connection.makefile("r", encoding="utf-8").readline()
                answer = _answer(game, state, json.loads(request or "{}"), task["max_turns"])
                connection.sendall(json.dumps(answer).encode() + b"\n")


def _answer(game: Any, state: dict[str, Any], request: dict[str, Any], max_turns: int) -> dict[str, Any]:
    if "act" in request and not state["over"]:
        action = str(request["act"])
        state["actions"].append(action)
        try:
            step = game.step(action)
            state["seen"], state["over"] = step.observation, step.terminated or step.truncated
        except GameError as error:
            state["seen"], state["over"] = f"The game broke: {error}", True
        state["over"] = state["over"] or len(state["actions"]) >= max_turns
        _keep(state)
    return {"seen": state["seen"], "over": state["over"]}


def _keep(state: dict[str, Any]) -> None:
    LOG.write_text(json.dumps({"actions": state["actions"]}), "utf-8")


def ask(request: dict[str, Any]) -> str:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(SOCKET)
        connection.sendall(json.dumps(request).encode() + b"\n")
        answer = json.loads(connection.makefile("r", encoding="utf-8").readline())
    return str(answer["seen"]) + ("\nThe game is over." if answer["over"] else "")


def replay(reward_file: Path) -> float:
    """The sum of the rewards of the logged moves; 0 without a log."""
    task = json.loads((HERE / "task.json").read_text("utf-8"))
    actions = json.loads(LOG.read_text("utf-8"))["actions"] if LOG.exists() else []
    total = 0.0
    with Game(HERE / "program.py") as game:
        game.reset(task["seed"])
        try:
            for action in actions:
                step = game.step(action)
                total += step.reward
                if step.terminated or step.truncated:
                    break
        except GameError:
            pass
    reward_file.parent.mkdir(parents=True, exist_ok=True)
    reward_file.write_text(json.dumps({"reward": min(max(total, 0.0), 1.0)}), "utf-8")
    return total


def solve() -> None:
    task = json.loads((HERE / "task.json").read_text("utf-8"))
    with Game(HERE / "program.py") as game:
        game.reset(task["seed"])
        for action in game.solution():
            print(ask({"act": action}))


if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "serve":
        serve()
    elif command == "solve":
        solve()
    elif command == "replay":
        replay(Path(arguments[0]))
    else:
        print(ask({"act": arguments[0]} if command == "act" else {}))
