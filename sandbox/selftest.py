"""Try to break out of a real cell, with the program in `sandbox/driver/canaries.py`."""

import os
import tempfile
from pathlib import Path

from sandbox.launching import DRIVER, Launch, environment
from sandbox.local import LocalSandbox
from spade.ports import Limits

PROGRAM = DRIVER / "canaries.py"
LIMITS = Limits(wall_seconds=10.0, cpu_seconds=10.0, memory_mb=128)
SECRET_VARIABLE = "SPADE_CANARY"
PROPERTIES = {
    "network": "no network",
    "local_socket": "no network",
    "read_file": "files of the host cannot be read",
    "read_parent": "environment and memory of the host are hidden",
    "see_environment": "environment and memory of the host are hidden",
    "write_file": "nothing can be written",
    "send_signal": "no signals to other processes",
    "start_process": "no further processes or threads",
    "start_thread": "no further processes or threads",
    "take_memory": "memory is bounded",
    "raise_limit": "memory is bounded",
    "new_namespace": "no privileges of its own",
    "trace_parent": "environment and memory of the host are hidden",
}


def break_out(core: LocalSandbox) -> dict[str, str]:
    """Make every attempt once. Answers what worked that should not have, by the property it breaks; empty is good.

    Raises `Retry` when no cell can be started.
    """
    with tempfile.TemporaryDirectory() as folder:
        canary = Path(folder) / "canary"
        canary.write_text("for our eyes only")
        os.chmod(folder, 0o755)
        arguments = {
            "read_file": str(canary),
            "see_environment": ",".join([*environment(Launch(core.tier)), "PWD", "LC_CTYPE"]),
        }
        actions = [f"{name} {arguments.get(name, '')}".strip() for name in PROPERTIES]
        reply, game = core.open(PROGRAM.read_text(), LIMITS, guarded=False)
        if game is None:
            return {"self-test": f"it did not start: {reply.detail}"}
        played = game.steps(actions)
        game.close()
    if not played.ok or len(played.steps) != len(actions):
        return {"self-test": f"it did not finish: {played.detail}"}
    found: dict[str, str] = {}
    for name, step in zip(PROPERTIES, played.steps, strict=True):
        if not step.observation.startswith("held: "):
            found[PROPERTIES[name]] = f"{name}: {step.observation}"
    return found
