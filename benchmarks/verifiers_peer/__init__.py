"""verifiers beside the engine: the same stub endpoint, the same number of turns, its own process and environment."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
DEFAULT = HERE.parents[1] / "var" / "verifiers-env"


def rollouts_per_second(python: Path, url: str, rollouts: int, at_once: int) -> float:
    """Rollouts of 10 turns a second, from the first start to the last end; starting verifiers is left out.

    Raises `SystemExit` with what verifiers said when it played fewer than it was asked.
    """
    with tempfile.TemporaryDirectory() as folder:
        times = Path(folder, "times.json")
        scripts = python.parent
        environment = os.environ | {
            "PYTHONPATH": str(HERE),
            "PATH": f"{scripts}:{os.environ['PATH']}",
            "KEY": "x",
            "COUNTING_ROLLOUTS": str(rollouts),
            "COUNTING_TIMES": str(times),
        }
        command = [scripts / "vf-eval", "counting_tasks", "-m", "stub", "-c", str(at_once), "--no-rich", "--no-push"]
        command += ["--client.base-url", url, "--client.api-key-var", "KEY", "-o", folder]
        said = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        found = json.loads(times.read_text()) if times.exists() else {"plays": 0, "seconds": 1.0}
        if found["plays"] < rollouts:
            raise SystemExit(f"verifiers played {found['plays']} of {rollouts}: {(said.stdout + said.stderr)[-1500:]}")
    return float(rollouts / found["seconds"])
