"""What cannot work is one sentence with a remedy and exit code 2, before anything is started or written."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes_endpoint import HTML, FakeEndpoint, status

ROOT = Path(__file__).resolve().parents[2]


def spade(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("SPADE_", "OPENAI_", "PREFECT_"))}
    return subprocess.run(
        [sys.executable, "-m", "flows.cli", *arguments],
        cwd=cwd,
        env={**kept, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def refused(done: subprocess.CompletedProcess[str], *says: str) -> None:
    assert done.returncode == 2, done.stderr + done.stdout
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("spade: ")
    assert len(done.stderr.strip().splitlines()) == 1
    for words in says:
        assert words in done.stderr


@pytest.mark.parametrize(("corpus", "says"), [("", "corpus"), ('{"nothing": 1}\n', "corpus"), (None, "missing.jsonl")])
def test_an_empty_or_missing_corpus(tmp_path: Path, corpus: str | None, says: str) -> None:
    path = tmp_path / ("missing.jsonl" if corpus is None else "corpus.jsonl")
    if corpus is not None:
        path.write_text(corpus)
    done = spade("run", cwd=tmp_path, SPADE_CORPUS__PATH=str(path))
    refused(done, says)
    assert not (tmp_path / "var" / "catalog").exists()


def test_nothing_listens_at_the_endpoint(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    refused(spade("run", "--base-url", f"http://127.0.0.1:{port}/v1", cwd=tmp_path), str(port))


async def test_a_wrong_key_and_a_page_instead_of_an_endpoint(tmp_path: Path) -> None:
    import asyncio

    async with FakeEndpoint() as fake:
        for road in (status(401, "bad key"), HTML):
            fake.roads["/v1/models"] = road
            done = await asyncio.to_thread(
                spade, "run", "--base-url", fake.base_url, cwd=tmp_path, SPADE_API_KEY="sk-secret-key"
            )
            refused(done, "127.0.0.1")
            assert "sk-secret-key" not in done.stderr + done.stdout


async def test_a_model_the_endpoint_does_not_have(tmp_path: Path) -> None:
    import asyncio

    async with FakeEndpoint(models=("there",)) as fake:
        done = await asyncio.to_thread(spade, "run", "--base-url", fake.base_url, "--model", "gone", cwd=tmp_path)
        refused(done, "gone", "there")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--model", "package:nothing"), "smollm2-135m"),
        (("--model", "path:nothing.gguf"), "nothing.gguf"),
        (("--profile", "nothing"), "starter"),
    ],
)
def test_no_such_model_or_profile(tmp_path: Path, arguments: tuple[str, ...], says: str) -> None:
    refused(spade("run", *arguments, cwd=tmp_path), says)


def test_an_unknown_setting_in_the_environment(tmp_path: Path) -> None:
    refused(spade("run", cwd=tmp_path, SPADE_CYCLE__SLOT="3"), "SPADE_CYCLE__SLOT", "SPADE_CYCLE__SLOTS")


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    refused(spade("run", "--home", str(tmp_path / "file"), cwd=tmp_path), "file", "--home")


def test_a_prefect_server_that_does_not_answer(tmp_path: Path) -> None:
    refused(spade("run", cwd=tmp_path, PREFECT_API_URL="http://127.0.0.1:9/api"), "PREFECT_API_URL")


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refused(spade("ui", "--port", str(taken.getsockname()[1]), cwd=tmp_path), "--port")


def test_more_isolation_than_this_machine_has(tmp_path: Path) -> None:
    refused(spade("run", cwd=tmp_path, SPADE_SANDBOX__REQUIRED_LEVEL="vm"), "vm")


def test_without_bubblewrap_the_run_goes_on_confined(tmp_path: Path) -> None:
    """No bwrap is no error: the confined tier holds. It is said by the doctor."""
    done = spade("doctor", cwd=tmp_path, PATH="/nowhere")
    assert done.returncode == 0, done.stderr
    assert "confined" in done.stdout
    refused(spade("run", cwd=tmp_path, PATH="/nowhere", SPADE_SANDBOX__REQUIRED_LEVEL="namespaced"), "bwrap")


@pytest.mark.parametrize("command", [(), ("run",), ("lineage",), ("sandbox", "try"), ("corpus", "stats")])
def test_every_command_has_help(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = spade(*command, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "Usage" in done.stdout
