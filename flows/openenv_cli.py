"""`spade-openenv`: OpenEnv's own command line with the graders of its entry point loaded.

OpenEnv 0.10 defines the entry point and never loads it; from a release that does, this is the same as `openenv`.
"""

from importlib import import_module
from typing import Any

from spade.gates.openenv import KNOWN


def main() -> None:
    """Run `openenv` with the arguments given. Needs the package `openenv` in the same environment."""
    try:
        runner: Any = import_module("openenv.validation.runner")
    except ImportError:
        raise SystemExit("spade-openenv: the package `openenv` is missing. Install it: pip install openenv") from None
    given = runner.default_grader_registry

    def with_entry_points(policy: Any) -> Any:
        registry = given(policy)
        if all(registry.get(gate) is None for gate in KNOWN):
            registry.load_entry_points()
        return registry

    runner.default_grader_registry = with_entry_points
    import_module("openenv.cli.__main__").main()


if __name__ == "__main__":
    main()
