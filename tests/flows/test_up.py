"""`spade up`: a whole factory in one process tree, over real sockets, that survives kills and stops cleanly."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from typer.testing import CliRunner

from flows.checking import check
from flows.configuring import load_settings
from flows.deploying import prefect_file
from flows.prefect_server import free_port
from flows.up import check_reach
from spade.errors import Abort
from tests.fakes_endpoint import FakeEndpoint
from tests.flows.test_killing import ROOT, FactoryEndpoint

NAMES = {
    "spade: zombie runs",
    "spade: alarm pauses around-the-clock",
    "spade: train when enough plays are ready",
}
SIZES = {"profile": "default", "slots": 2, "plays": 2}


class Factory:
    """A running `spade up` and what a person would ask its server."""

    def __init__(self, home: Path, process: asyncio.subprocess.Process, port: int) -> None:
        self.home, self.process = home, process
        self.api = httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/api", timeout=20, trust_env=False)

    async def post(self, path: str, **body: Any) -> Any:
        answer = await self.api.post(path, json=body)
        answer.raise_for_status()
        return answer.json()

    async def start(self, base_url: str, cycles: int) -> str:
        found = (await self.api.get("/deployments/name/generate/around-the-clock")).json()
        parameters = {**SIZES, "base_url": base_url, "cycles": cycles}
        run = await self.post(f"/deployments/{found['id']}/create_flow_run", parameters=parameters)
        return str(run["id"])

    async def states(self) -> list[str]:
        runs = await self.post("/flow_runs/filter", sort="EXPECTED_START_TIME_ASC")
        return [run["state_name"] for run in runs]

    def episodes(self) -> int:
        return len(list(self.home.glob("var/catalog/episodes/*.parquet")))


@asynccontextmanager
async def factory_up(home: Path, port: int = 0, **environment: str) -> AsyncIterator[Factory]:
    port = port or free_port()
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPADE_", "PREFECT_"))}
    ours = {
        "PYTHONPATH": str(ROOT),
        "SPADE_GATES__RANDOM_WIN_MAX": "0.3",
        "SPADE_MEMORY__DUPLICATE_CODE": "1.0",
        **environment,
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "flows.cli", "up", "--port", str(port)),
        cwd=home,
        env=kept | ours,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(120):
            said = b""
            while b"The factory is up" not in said:
                line = await process.stdout.readline()
                assert line, said.decode()
                said += line
        yield Factory(home, process, port)
    finally:
        if process.returncode is None:
            process.kill()


async def until(asked: Callable[[], Any], seconds: float) -> float:
    """How long it took until `asked` held."""
    started = time.monotonic()
    while time.monotonic() - started < seconds:
        answer = asked()
        if await answer if asyncio.iscoroutine(answer) else answer:
            return time.monotonic() - started
        await asyncio.sleep(0.1)
    raise AssertionError(f"not within {seconds:.0f} s")


def processes(home: Path) -> Iterator[tuple[int, str]]:
    """Everything that runs in the factory's folder, with its command line."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").readlink() == home:
                yield int(entry.name), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue


def kill(home: Path, what: str) -> None:
    found = [pid for pid, words in processes(home) if what in words]
    assert found, f"no {what} runs"
    for pid in found:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_a_factory_outlives_kills_of_its_parts_and_stops_cleanly(tmp_path: Path) -> None:
    async with FakeEndpoint(FactoryEndpoint(pause=0.05)) as fake, factory_up(tmp_path) as factory:
        await factory.start(fake.base_url, cycles=500)
        await until(lambda: factory.episodes() > 0, 60)
        for what in ("flows.worker_child", "worker start", "server start"):
            before = factory.episodes()
            kill(tmp_path, what)
            await asyncio.sleep(0.2)
            took = await until(lambda before=before: factory.episodes() > before, 90)
            print(f"after kill -9 of {what}: next episodes within {took:.1f} s")
        await until(lambda: _is_running(factory), 60)

        started = time.monotonic()
        factory.process.send_signal(signal.SIGINT)
        await asyncio.wait_for(factory.process.wait(), 60)
        print(f"stopped within {time.monotonic() - started:.1f} s")
        await asyncio.sleep(0.5)
        assert list(processes(tmp_path)) == []


async def _is_running(factory: Factory) -> bool:
    try:
        return (await factory.states()).count("Running") == 1
    except httpx.HTTPError:
        return False


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_a_factory_that_was_killed_goes_on_when_it_is_up_again(tmp_path: Path) -> None:
    async with FakeEndpoint(FactoryEndpoint(pause=0.05)) as fake:
        async with factory_up(tmp_path) as factory:
            await factory.start(fake.base_url, cycles=500)
            await until(lambda: factory.episodes() > 0, 60)
            factory.process.kill()
            await factory.process.wait()
        await asyncio.sleep(2.0)
        assert list(processes(tmp_path)) == []
        async with factory_up(tmp_path) as factory:
            before = factory.episodes()
            await until(lambda: factory.episodes() > before, 60)
            assert await factory.states() == ["Interrupted", "Running"]


@pytest.mark.slow
@pytest.mark.timeout(200)
async def test_a_password_is_asked_for(tmp_path: Path) -> None:
    async with factory_up(tmp_path, PREFECT_SERVER_API_AUTH_STRING="someone:secret") as factory:
        assert (await factory.api.post("/flow_runs/filter", json={})).status_code == 401
        factory.api.auth = ("someone", "secret")
        assert await factory.states() == []


def test_beyond_loopback_a_password_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFECT_SERVER_API_AUTH_STRING", raising=False)
    check_reach("127.0.0.1")
    with pytest.raises(Abort, match="without a password"):
        check_reach("0.0.0.0")
    monkeypatch.setenv("PREFECT_SERVER_API_AUTH_STRING", "someone:secret")
    check_reach("0.0.0.0")


def test_check_names_each_trouble_with_its_remedy(tmp_path: Path) -> None:
    flags = {"home": str(tmp_path / "var"), "model": {"base_url": "http://127.0.0.1:9/v1"}}
    settings = load_settings("default", {**flags, "corpus": {"path": str(tmp_path / "none.jsonl")}})
    found = {each.name: each for each in check(settings, host="127.0.0.1", port=free_port())}

    assert not found["folder"].trouble
    assert not found["port"].trouble
    for name in ("corpus", "model"):
        assert found[name].trouble
        assert found[name].remedy


def test_check_starts_nothing_and_exits_with_1(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from flows.cli import app

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPADE_CORPUS__PATH", "none.jsonl")
    monkeypatch.setenv("SPADE_MODEL__BASE_URL", "http://127.0.0.1:9/v1")
    said = CliRunner().invoke(app, ["up", "--check"])

    assert said.exit_code == 1
    assert "NO  corpus" in said.output
    assert not (tmp_path / "var" / "prefect").exists()


def test_every_flow_has_a_deployment() -> None:
    names = {d["entrypoint"].rpartition(".")[2] for d in yaml.safe_load(prefect_file().read_text())["deployments"]}
    assert names >= {"generate", "train", "self_play", "export", "maintain"}


def test_every_parameter_of_every_deployment_is_described() -> None:
    from prefect.flows import load_flow_from_entrypoint

    deployments = yaml.safe_load(prefect_file().read_text())["deployments"]
    for deployment in deployments:
        flow = load_flow_from_entrypoint(deployment["entrypoint"])
        properties = flow.parameters.properties
        assert set(deployment.get("parameters", {})) <= set(properties)
        for name, schema in properties.items():
            assert schema.get("description"), f"{deployment['name']}: {name} has no description"
        assert deployment["description"]
        if deployment["tags"][1] in ("generate", "train", "self-play", "export", "maintain", "evaluate"):
            assert deployment["concurrency_limit"]["limit"] == 1
        assert deployment["work_pool"]["job_variables"]["command"] == "python -m flows.worker_child"
        assert "spade" in deployment["tags"]
        assert not any(s.get("active", True) for s in deployment.get("schedules", []))


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_what_people_switched_stays_when_the_factory_is_up_again(tmp_path: Path) -> None:
    for round_ in range(2):
        async with factory_up(tmp_path) as factory:
            found = (await factory.api.get("/deployments/name/maintain/nightly")).json()
            automations = await factory.post("/automations/filter")
            assert {a["name"] for a in automations} >= NAMES
            assert [s["active"] for s in found["schedules"]] == [round_ > 0]
            assert [a["enabled"] for a in automations if a["name"] == "spade: zombie runs"] == [round_ == 0]
            await factory.api.patch(
                f"/deployments/{found['id']}/schedules/{found['schedules'][0]['id']}", json={"active": True}
            )
            zombies = next(a for a in automations if a["name"] == "spade: zombie runs")
            await factory.api.patch(f"/automations/{zombies['id']}", json={"enabled": False})
            (tmp_path / "spade.toml").write_text("")
            factory.process.send_signal(signal.SIGINT)
            await asyncio.wait_for(factory.process.wait(), 30)


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_enough_plays_start_a_training_run_where_somebody_wants_that(tmp_path: Path) -> None:
    async with (
        FakeEndpoint(FactoryEndpoint(pause=0.0)) as fake,
        factory_up(tmp_path, SPADE_TRAINING__READY_PLAYS="1") as factory,
    ):
        automations = await factory.post("/automations/filter")
        ours = next(a for a in automations if a["name"] == "spade: train when enough plays are ready")
        assert not ours["enabled"]
        await factory.api.patch(f"/automations/{ours['id']}", json={"enabled": True})
        await asyncio.sleep(2.0)  # the server's trigger service learns of it
        await factory.start(fake.base_url, cycles=1)
        await until(lambda: _has_run(factory, "train"), 120)


async def _has_run(factory: Factory, flow: str) -> bool:
    return bool(await factory.post("/flow_runs/filter", flows={"name": {"any_": [flow]}}))
