"""The modules that travel with datasets, on programs written by hand."""

import socket
import sys
from importlib.resources import files
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from data.folders import copied
from sandbox.driver import landlock
from tests.data.programs import BROKEN, GUESS

TOOLS = sorted((Path(__file__).parents[2] / "examples" / "environments" / "tools").glob("*.py"))
locked = pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")
pytestmark = locked


@pytest.fixture(scope="module")
def spade_game(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The module as a package has it, away from everything of ours."""
    folder = tmp_path_factory.mktemp("package")
    copied("spade_game.py", folder)
    spec = spec_from_file_location("exported_game", folder / "spade_game.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(GUESS)
    return path


def test_a_game_is_played_in_a_process_of_its_own(spade_game: Any, program: Path) -> None:
    with spade_game.Game(program) as game:
        first = game.reset(seed=3)
        secret = game.solution()[0]
        assert "from 1 to 9" in first
        assert game.reset(seed=3) == first
        wrong = "9" if secret != "9" else "1"
        assert game.step(wrong).reward == 0.0
        step = game.step(secret)
    assert (step.observation, step.reward, step.terminated, step.truncated) == ("Right.", 1.0, True, False)


@pytest.mark.parametrize("name", [name for name in BROKEN if name != "prints"])
def test_a_broken_program_is_an_error_and_leaves_no_process(spade_game: Any, tmp_path: Path, name: str) -> None:
    path = tmp_path / "broken.py"
    path.write_text(BROKEN[name])
    with pytest.raises(spade_game.GameError), spade_game.Game(path, call_seconds=2.0) as game:
        game.reset(seed=0)


def test_what_a_program_prints_is_not_an_answer(spade_game: Any, tmp_path: Path) -> None:
    path = tmp_path / "prints.py"
    path.write_text(BROKEN["prints"])
    with spade_game.Game(path) as game:
        assert game.reset(seed=0) == "seen"


def test_the_environment_does_not_see_ours(spade_game: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPADE_API_KEY", "secret")
    path = tmp_path / "peeks.py"
    path.write_text(attack("dict(os.environ)"))
    with spade_game.Game(path) as game:
        assert "secret" not in game.reset(seed=0)


def attack(tried: str) -> str:
    """A program that has got around the guard of its imports, as programs can, and answers with what it got."""
    return f"""
import random
os = random._os
real = os.sys.modules["builtins"].__import__
class AnEnv:
    def reset(self, seed=None):
        return "got " + repr({tried}), {{}}
"""


ATTACKS = {
    "reads a secret": "os.read(os.open({secret!r}, os.O_RDONLY), 100)",
    "lists a folder": "os.listdir({folder!r})",
    "opens a socket": "real('socket').socket()",
    "connects to this machine": "real('socket').create_connection(('127.0.0.1', {port})).getpeername()",
    "starts a process": "os.posix_spawn('/bin/true', ['true'], {{}})",
    "forks": "os.fork() or os._exit(0)",
    "signals its parent": "os.kill(os.getppid(), 0)",
    "reads its parent's environment": "os.read(os.open('/proc/%d/environ' % os.getppid(), os.O_RDONLY), 100)",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_programs_reach_nothing_outside(
    spade_game: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Each attack works without the confinement and is refused within: by the kernel, since the guard was passed."""
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        path = tmp_path / "attacks.py"
        path.write_text(attack(ATTACKS[name].format(secret=str(secret), folder=str(tmp_path), port=port)))
        with (
            pytest.raises(spade_game.GameError, match="PermissionError"),
            spade_game.Game(path) as game,
        ):
            game.reset(seed=0)
        monkeypatch.setenv("SPADE_GAME_UNCONFINED", "1")
        with spade_game.Game(path) as game:
            assert game.reset(seed=0).startswith("got ")


def test_without_landlock_nothing_is_played_unless_asked_for(
    spade_game: Any, tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kernel without Landlock answers 0 for its version."""
    confinement = tmp_path / "old" / "spade_confine" / "landlock.py"
    copied("spade_game.py", tmp_path / "old")
    confinement.write_text(confinement.read_text().replace("return max(answer, 0)", "return 0"))
    spec = spec_from_file_location("old_game", tmp_path / "old" / "spade_game.py")
    assert spec is not None
    assert spec.loader is not None
    old = module_from_spec(spec)
    spec.loader.exec_module(old)
    with pytest.raises(old.Unconfined, match=r"no Landlock.*SPADE_GAME_UNCONFINED=1"):
        old.Game(program)
    monkeypatch.setenv("SPADE_GAME_UNCONFINED", "1")
    with old.Game(program) as game:
        assert "from 1 to 9" in game.reset(seed=3)


@pytest.mark.parametrize("path", TOOLS, ids=lambda path: path.stem)
def test_tool_environments_are_played_and_solved(spade_game: Any, path: Path) -> None:
    """Their base class comes along; the program's own calls earn the whole reward, nonsense is answered."""
    with spade_game.Game(path) as game:
        assert "<tools>" in game.reset(seed=5)
        assert "Error: there is no tool" in game.step('{"name": "nothing", "arguments": {}}').observation
        game.reset(seed=5)
        steps = [game.step(action) for action in game.solution()]
    assert sum(step.reward for step in steps) == 1.0
    assert steps[-1].terminated


def test_a_program_that_forges_the_wire_is_cut_off(spade_game: Any, tmp_path: Path) -> None:
    path = tmp_path / "forges.py"
    path.write_text(attack("os.write(3, b'x' * 70000)"))
    with spade_game.Game(path) as game:
        with pytest.raises(spade_game.GameError, match="nonsense"):
            game.reset(seed=0)
        with pytest.raises(spade_game.GameError):
            game.reset(seed=0)


def test_portable_modules_import_the_standard_library_alone() -> None:
    """They are copied to machines where nothing of ours is installed."""
    allowed = set(sys.stdlib_module_names) | {
        "",
        "spade_game",
        "spade_confine",
        "math_verify",
        "gymnasium",
        "verifiers",
        "openenv",
        "pydantic",
    }
    for module in files("data.portable").iterdir():
        if module.name.endswith(".py"):
            lines = module.read_text().splitlines()
            imported = {line.split()[1].split(".")[0] for line in lines if line.startswith(("import ", "from "))}
            assert imported <= allowed, module.name
