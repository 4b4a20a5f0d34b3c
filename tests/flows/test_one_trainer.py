"""One run at a time moves the weights of a home, and plays that no update has seen are counted."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from flows.schooling import only_trainer
from spade.errors import Abort

HOLDS = "import sys, time, pathlib; from flows.schooling import only_trainer\n"
HOLDS += "with only_trainer(pathlib.Path(sys.argv[1])): print('in', flush=True); time.sleep(100)"


def test_a_second_trainer_is_refused_with_a_remedy(tmp_path: Path) -> None:
    with only_trainer(tmp_path), pytest.raises(Abort, match=r"Another run trains.*Wait"), only_trainer(tmp_path):
        pytest.fail("two train at once")
    with only_trainer(tmp_path):
        pass


def test_a_killed_trainer_leaves_the_place_free(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDS, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "in\n"
        with pytest.raises(Abort), only_trainer(tmp_path):
            pytest.fail("two train at once")
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
    with only_trainer(tmp_path):
        pass
