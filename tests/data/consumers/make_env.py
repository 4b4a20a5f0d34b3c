"""Make the virtual environment of one consumer under var/consumers: `python tests/data/consumers/make_env.py trl`.

Versions are those the exporters were written for. Nothing is installed into the factory's own environment.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PLACE = ROOT / "var" / "consumers"
PACKAGES: dict[str, tuple[str, ...]] = {
    "datasets": ("datasets>=4.7,<5",),
    "gymnasium": ("gymnasium>=1.2,<2",),
    "trl": ("trl==1.16.0", "torch==2.13.0", "transformers==5.24.0", "datasets==5.2.0", "jmespath"),
    "verl": ("verl==0.9.1", "torch==2.13.0", "uvicorn", "fastapi", "cachetools", "pyzmq"),
    "verifiers": ("verifiers==0.4.0", "uv"),
    "openenv": ("openenv==0.10.0", "websockets"),
    "harbor": ("harbor==0.26.0",),
    "nemo-gym": ("nemo-gym",),
}
NEWER = {"harbor": ("python3.12", "python3.13")}
"""Consumers that want a newer Python than the factory's, with what it may be called."""


def interpreter(name: str) -> str:
    """The Python that a consumer's environment is made with; the first of the newer ones that runs, else our own."""
    for newer in NEWER.get(name, ()):
        if (
            shutil.which(newer)
            and not subprocess.run([newer, "--version"], capture_output=True, check=False).returncode
        ):
            return newer
    return sys.executable


def made(name: str) -> Path:
    """The Python of the consumer's environment, which is made when it is not there. Raises `CalledProcessError`."""
    python = PLACE / name / "bin" / "python"
    done = PLACE / name / ".done"
    if not done.exists():
        subprocess.run([interpreter(name), "-m", "venv", "--clear", str(PLACE / name)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *PACKAGES[name]], check=True)
        done.touch()
    return python


if __name__ == "__main__":
    print(made(sys.argv[1]))
