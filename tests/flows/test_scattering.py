"""The same flow on a Dask cluster of two worker processes, by setting: the catalog comes out whole."""

import asyncio
import importlib.util
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from pydantic import SecretStr

from data.catalog import Catalog
from data.integrity import breaches
from flows.configuring import flags_of, load_settings
from flows.scattering import open_runner, sent
from spade.errors import Abort
from spade.skills import Setting, Skill
from spade.slots import Slot
from tests.fakes_endpoint import FakeEndpoint
from tests.flows.test_killing import ROOT, FactoryEndpoint


def slot(index: int) -> Slot:
    return Slot("cycle-1", index, Setting.GAMES, Skill.OPTIMIZATION, "doc-1", 1)


def test_the_key_stays_at_home_and_slots_are_dealt_to_endpoints(tmp_path: Path) -> None:
    settings = load_settings("default", {"model": {"api_key": SecretStr("k"), "base_url": "http://x/v1"}})
    assert sent(settings, slot(0)).model.api_key is None
    assert sent(settings, slot(0)).model.base_url == "http://x/v1"
    two = load_settings("default", {"execution": {"endpoints": ["http://a/v1", "http://b/v1"]}})
    assert [sent(two, slot(i)).model.base_url for i in range(3)] == ["http://a/v1", "http://b/v1", "http://a/v1"]


def test_where_a_slot_runs_does_not_change_what_is_made() -> None:
    here, there = load_settings("default"), load_settings("default", flags_of(execution__kind="dask"))
    assert here.settings_hash == there.settings_hash


@pytest.mark.parametrize("kind", ["dask", "ray"])
def test_without_the_package_the_extra_is_named(kind: str) -> None:
    if importlib.util.find_spec(f"prefect_{kind}") is not None:
        pytest.skip(f"prefect-{kind} is installed")
    settings = load_settings("default", flags_of(execution__kind=kind))
    with pytest.raises(Abort, match=rf"spade-factory\[{kind}\]"), open_runner(settings.execution):
        pytest.fail("nothing can have been opened")


@pytest.fixture(scope="module")
def dask_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python with prefect-dask: this one, or one in an environment that sees this one's packages too."""
    if importlib.util.find_spec("prefect_dask") is not None:
        return sys.executable
    folder = tmp_path_factory.mktemp("dask") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    found = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    (found / "zz_shared.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    command = [str(folder / "bin" / "pip"), "install", "-q", "-c", str(ROOT / "constraints.txt"), "prefect-dask>=0.3.7"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"prefect-dask cannot be installed: {done.stderr.strip().splitlines()[-1]}")
    return str(folder / "bin" / "python")


@pytest.mark.slow
@pytest.mark.timeout(500)
async def test_two_workers_make_one_whole_cycle(tmp_path: Path, dask_python: str) -> None:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPADE_", "PREFECT_"))}
    model = FactoryEndpoint(pause=0.0)
    async with FakeEndpoint(model) as one, FakeEndpoint(model) as other:
        ours = {
            "PYTHONPATH": str(ROOT),
            "SPADE_GATES__RANDOM_WIN_MAX": "0.3",
            "SPADE_MEMORY__DUPLICATE_CODE": "1.0",
            "SPADE_EXECUTION__KIND": "dask",
            "SPADE_EXECUTION__ENDPOINTS": f'["{one.base_url}", "{other.base_url}"]',
        }
        sizes = ["--slots", "4", "--plays", "2"]
        run = await asyncio.create_subprocess_exec(
            *(dask_python, "-m", "flows.cli", "run", "--profile", "default", "--base-url", one.base_url, *sizes),
            cwd=tmp_path,
            env=kept | ours,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await asyncio.wait_for(run.communicate(), 400)
        asked = (len(one.chats), len(other.chats))

    assert run.returncode == 0, output.decode()[-4000:]
    assert min(asked) > 0
    catalog = Catalog(tmp_path / "var")
    (summary,) = catalog.summaries()
    assert (summary.slots, summary.accepted, summary.episodes, summary.measured) == (4, 4, 16, 16)
    assert breaches(catalog) == []
    spent = catalog.query("select sum(tokens) as tokens, sum(episodes) as episodes from spendings")[0]
    assert spent["episodes"] == summary.episodes
    assert spent["tokens"] == 10 * sum(asked)
    catalog.close()
