"""A Postgres-backed server with two workers: two cycles of one home at once, and the catalog stays whole. Which worker
took which run is not looked at."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from data.catalog import Catalog
from data.integrity import breaches
from flows.prefect_server import free_port
from tests.fakes_endpoint import FakeEndpoint
from tests.flows.test_killing import FactoryEndpoint
from tests.flows.test_up import Factory, factory_up, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(500),
    pytest.mark.skipif(shutil.which("initdb") is None, reason="needs Debian's postgresql (initdb, pg_ctl on the path)"),
]


@pytest.fixture
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Postgres server of our own on loopback, run by an ordinary user."""
    folder = Path(tempfile.mkdtemp(prefix="spade-postgres-"))  # short: a socket's path has at most 107 characters
    port, user = free_port(), ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    if user:
        shutil.chown(folder, "postgres")
    run = lambda *command: subprocess.run([*user, *command], check=True, cwd=folder, stdout=subprocess.DEVNULL)  # noqa: E731
    try:
        run("initdb", "-D", str(folder / "data"), "-U", "spade", "--auth=trust", "-N")
        options = f"-p {port} -h 127.0.0.1 -k {folder} -c fsync=off"
        run("pg_ctl", "-D", str(folder / "data"), "-o", options, "-l", str(folder / "log"), "-w", "start")
        try:
            run("createdb", "-h", "127.0.0.1", "-p", str(port), "-U", "spade", "prefect")
            yield f"postgresql+asyncpg://spade@127.0.0.1:{port}/prefect"
        finally:
            run("pg_ctl", "-D", str(folder / "data"), "-m", "fast", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def test_two_runs_at_once_share_a_home(tmp_path: Path, postgres: str) -> None:
    async with (
        FakeEndpoint(FactoryEndpoint(pause=0.02)) as fake,
        factory_up(tmp_path, PREFECT_API_DATABASE_CONNECTION_URL=postgres) as factory,
    ):
        found = (await factory.api.get("/deployments/name/generate/around-the-clock")).json()
        await factory.api.patch(f"/deployments/{found['id']}", json={"concurrency_limit": 2})
        second = await _second_worker(tmp_path, factory)
        try:
            for seed in (1, 2):
                parameters = {"profile": "default", "slots": 2, "plays": 2, "cycles": 1, "seed": seed}
                await factory.post(
                    f"/deployments/{found['id']}/create_flow_run", parameters={**parameters, "base_url": fake.base_url}
                )
            await until(lambda: _all_done(factory), 240)
        finally:
            second.terminate()
            await second.wait()
        assert await factory.states() == ["Completed", "Completed"]

    assert not (tmp_path / "var" / "prefect" / "prefect.db").exists()
    catalog = Catalog(tmp_path / "var")
    assert {c.seed for c in catalog.cycles()} == {1, 2}
    assert len(catalog.summaries()) == 2
    assert breaches(catalog) == []
    catalog.close()


async def _all_done(factory: Factory) -> bool:
    states = await factory.states()
    assert "Failed" not in states
    return states == ["Completed", "Completed"]


async def _second_worker(home: Path, factory: Factory) -> asyncio.subprocess.Process:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPADE_", "PREFECT_"))}
    ours = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
        "PREFECT_API_URL": str(factory.api.base_url).rstrip("/"),
        "PREFECT_HOME": str(home / "second"),
        "SPADE_GATES__RANDOM_WIN_MAX": "0.3",
        "SPADE_MEMORY__DUPLICATE_CODE": "1.0",
        "PREFECT_WORKER_QUERY_SECONDS": "1",
    }
    return await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "prefect",
            "worker",
            "start",
            "--pool",
            "spade",
            "--name",
            f"second-{socket.gethostname()}",
        ),
        cwd=home,
        env=kept | ours,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
