"""The modules that travel with datasets, on programs written by hand."""

import sys
from importlib.resources import files
from pathlib import Path

import pytest

from data.portable.spade_game import Game, GameError
from tests.data.programs import BROKEN, GUESS


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(GUESS)
    return path


def test_a_game_is_played_in_a_process_of_its_own(program: Path) -> None:
    with Game(program) as game:
        first = game.reset(seed=3)
        secret = game.solution()[0]
        assert "from 1 to 9" in first
        assert game.reset(seed=3) == first
        wrong = "9" if secret != "9" else "1"
        assert game.step(wrong).reward == 0.0
        step = game.step(secret)
    assert (step.observation, step.reward, step.terminated, step.truncated) == ("Right.", 1.0, True, False)


@pytest.mark.parametrize("name", [name for name in BROKEN if name != "prints"])
def test_a_broken_program_is_an_error_and_leaves_no_process(tmp_path: Path, name: str) -> None:
    path = tmp_path / "broken.py"
    path.write_text(BROKEN[name])
    with pytest.raises(GameError), Game(path, call_seconds=2.0) as game:
        game.reset(seed=0)


def test_what_a_program_prints_is_not_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "prints.py"
    path.write_text(BROKEN["prints"])
    with Game(path) as game:
        assert game.reset(seed=0) == "seen"


def test_the_environment_does_not_see_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPADE_API_KEY", "secret")
    path = tmp_path / "peeks.py"
    path.write_text(
        "import os\nclass AEnv:\n    def reset(self, seed=None):\n        return repr(dict(os.environ)), {}\n"
    )
    with Game(path) as game:
        assert "secret" not in game.reset(seed=0)


def test_portable_modules_import_the_standard_library_alone() -> None:
    """They are copied to machines where nothing of ours is installed."""
    allowed = set(sys.stdlib_module_names) | {"", "spade_game", "gymnasium", "verifiers", "openenv", "pydantic"}
    for module in files("data.portable").iterdir():
        if module.name.endswith(".py"):
            lines = module.read_text().splitlines()
            imported = {line.split()[1].split(".")[0] for line in lines if line.startswith(("import ", "from "))}
            assert imported <= allowed, module.name
