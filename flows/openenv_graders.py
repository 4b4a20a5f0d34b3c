"""The gates as graders of OpenEnv, registered under its entry point `openenv.validation.graders`.

A grader judges the program inside an exported package (`server/program.py`) by playing it in the sandbox; it needs no
image and no server, hence its level is the static one. All graders of a package share one judgement.
"""

import asyncio
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from spade.gates.openenv import KNOWN, PROGRAM, TAG, check_result, verdict_of
from spade.verdicts import Verdict


class GateGrader:
    """One gate as a grader; see `openenv.validation.graders.Grader`."""

    requires_capabilities: frozenset[str] = frozenset()
    requires_provider: frozenset[Any] = frozenset()
    depends_on: tuple[str, ...] = ()

    def __init__(self, check_id: str) -> None:
        self.check_id = check_id
        self.level = import_module("openenv.validation.types").Level.STATIC

    def applies_to(self, manifest: Any) -> bool:
        """Packages that this factory exported say so by a type tag."""
        return TAG in manifest.types.tags

    def run(self, subject: Any) -> Any:
        """A `CheckResult`. Raises what reading the package or opening the sandbox raises, which OpenEnv reports."""
        code = (Path(subject.root) / PROGRAM).read_text("utf-8")
        result = check_result(verdict_of(self.check_id, judged(code)))
        return import_module("openenv.validation.report").CheckResult.model_validate(result)


@lru_cache(maxsize=4)
def judged(code: str) -> tuple[Verdict, ...]:
    """All verdicts of a program, judged once."""
    return asyncio.run(_judge(code))


async def _judge(code: str) -> tuple[Verdict, ...]:
    from sandbox.opening import open_sandbox
    from spade.gates import judge
    from spade.gates.source import setting_of
    from spade.ports import Limits
    from spade.settings import GateSettings, SandboxSettings

    async with open_sandbox(SandboxSettings()) as sandbox:
        return await judge(code, setting_of(code), sandbox, Limits(), GateSettings(), full=True)


def __getattr__(name: str) -> GateGrader:
    """Entry points name one grader each: `flows.openenv_graders:semantic_oracle_max`."""
    gate = name.replace("_", ".", 1)
    if gate not in KNOWN:
        raise AttributeError(name)
    return GateGrader(gate)
