"""Where held-out suites find their packages and data: the `evaluation` group of the settings."""

from pathlib import Path

from spade.settings_base import Settings


class EvaluationSettings(Settings):
    """Where held-out suites find what they need (docs/evaluation.md)."""

    environments: Path = Path("~/.local/share/spade/suites")
    """Environments of benchmark packages, made by `scripts/suite_environment.sh`."""
    data: Path = Path("~/.local/share/spade/benchmarks")
    """Folder of benchmark files that you put there yourself."""
