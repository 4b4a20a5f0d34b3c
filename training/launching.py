"""Starts an update in several processes and waits for it."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spade.errors import Abort
from spade.training_settings import TrainingSettings
from training.checkpoints import Checkpoints
from training.diagnostics import RoleFigures, UpdateReport

SAID = "spade: "
"""How a worker's line begins that is meant for people."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What several processes start from: a transformers folder, settings and a seed; and where checkpoints go."""

    base: Path
    settings: TrainingSettings
    seed: int
    checkpoints: Checkpoints

    def update(self, batch: Path, *, parent: str, state: Mapping[str, Any]) -> UpdateReport:
        """Train on a stored batch from the newest checkpoint and leave the next one. Raises `Abort` with what the
        processes said when they fail; the checkpoint before is then still the newest."""
        with tempfile.TemporaryDirectory() as place:
            orders, report = Path(place) / "orders.json", Path(place) / "report.json"
            told = {"base": str(self.base), "training": self.settings.model_dump(mode="json"), "seed": self.seed}
            told |= {"checkpoints": str(self.checkpoints.folder), "name": self.checkpoints.base, "batch": str(batch)}
            told |= {"parent": parent, "state": dict(state), "report": str(report)}
            orders.write_text(json.dumps(told), "utf-8")
            command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
            command += ["--nproc-per-node", str(self.settings.processes), "-m", "training.worker", str(orders)]
            threads = max(1, (os.cpu_count() or 1) // self.settings.processes)
            environment = os.environ | {"OMP_NUM_THREADS": str(threads), "HF_HUB_OFFLINE": "1"}
            ended = subprocess.run(command, capture_output=True, text=True, env=environment)
            if ended.returncode or not report.exists():
                raise _failed(self.settings.processes, ended.stderr)
            return _report(json.loads(report.read_text("utf-8")))


def _failed(processes: int, stderr: str) -> Abort:
    said = next((line.removeprefix(SAID) for line in stderr.splitlines() if line.startswith(SAID)), "")
    last = said or next((line for line in reversed(stderr.splitlines()) if "Error" in line), "they said nothing")
    return Abort(
        f"The update by {processes} processes failed: {last.strip()[:400]}",
        "Nothing was saved. With training.processes = 1 the same update runs in this process.",
    )


def _report(told: Mapping[str, Any]) -> UpdateReport:
    return UpdateReport(**{**told, "roles": {role: RoleFigures(**figures) for role, figures in told["roles"].items()}})
