"""What OpenEnv's own `validate` says of exported packages: `python benchmarks/openenv_findings.py PACKAGES`.

Runs in an environment of its own (benchmarks/build_openenv.sh). PACKAGES is a folder of packages; prints one JSON
object that maps each to the checks that failed and passed. The packages are served by a process of this machine instead
of a container, so that OpenEnv's runtime checks run where there is no Docker; only network checks are left out by this.
"""

import json
import os
import signal
import socket
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import openenv.core.env_server.http_server  # noqa: F401 - slow; the forks inherit it
import uvicorn
from openenv.validation import run_validation
from openenv.validation.providers import ExecResult, StartupError
from openenv.validation.types import CheckStatus, ProviderCapability

UP_SECONDS = 60.0


class Served:
    """One package behind uvicorn, in a fork of this process, which has imported the slow part already."""

    def __init__(self, root: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.base_url = f"http://127.0.0.1:{port}"
        self.pid = os.fork()
        if self.pid == 0:
            serve(root, port)
        self.wait()

    def wait(self) -> None:
        deadline = time.monotonic() + UP_SECONDS
        while time.monotonic() < deadline:
            try:
                urllib.request.urlopen(self.base_url + "/health", timeout=1).close()
                return
            except OSError:
                time.sleep(0.05)
        self.stop()
        raise StartupError("the server does not answer")

    def inspect(self) -> dict[str, Any]:
        return {}

    def logs(self, max_bytes: int = 65536) -> str:
        return ""

    def exec(self, argv: list[str], timeout_s: float) -> ExecResult:
        raise NotImplementedError

    def stop(self) -> None:
        os.killpg(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def serve(root: Path, port: int) -> None:
    """Never returns."""
    try:
        os.setsid()
        os.chdir(root)
        sys.path.insert(0, str(root))
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        uvicorn.run("server.app:app", host="127.0.0.1", port=port, log_level="error")
    finally:
        os._exit(1)


class LocalProvider:
    """Serves packages in processes of this machine."""

    name = "local-process"
    capabilities = frozenset({ProviderCapability.IMAGE_BUILD})
    supported_network_modes = frozenset({"public"})

    def build(self, root: Path, execution: Any) -> str:
        self.root = root
        return "sha256:" + "0" * 64

    def start(self, spec: Any) -> Served:
        return Served(self.root)


def main() -> None:
    found = {}
    for package in sorted(Path(sys.argv[1]).iterdir()):
        report = run_validation(package, provider=LocalProvider())
        ended = {result.check_id: result.status for result in report.results}
        found[package.name] = {
            "failed": [name for name, s in ended.items() if s in (CheckStatus.FAIL, CheckStatus.ERROR)],
            "passed": [name for name, status in ended.items() if status is CheckStatus.PASS],
        }
        print(package.name, found[package.name]["failed"], file=sys.stderr)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
