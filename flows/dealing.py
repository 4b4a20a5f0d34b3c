"""Designers that are no model: a folder of programs, or Reasoning-Gym, opened from the settings."""

from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from data.benchmarks.gym_tasks import GymTasks, plays_of
from data.benchmarks.packages import REASONING_GYM
from data.catalog import Catalog
from data.kinds.pool import read_pool
from spade.dealing import PoolDesigner, PoolModel
from spade.designing import Designer
from spade.errors import Abort
from spade.gym_pool import GymDesigner, GymModel
from spade.ports import Model
from spade.prompting import CodeDesigner
from spade.settings import FactorySettings
from spade.windows import Climbing

DEALT = ("pool", "reasoning-gym")
"""Modes in which programs are dealt and no model writes them."""


async def open_dealer(
    settings: FactorySettings, catalog: Catalog, code: CodeDesigner, stack: AsyncExitStack
) -> tuple[Designer, Model]:
    """Who deals and who answers with the program, in one of the modes `DEALT`. Raises `Abort` when the pool is too
    small or the package is missing."""
    if settings.designer.mode == "pool":
        programs = pool_of(settings)
        return PoolDesigner(programs, code=code), PoolModel(programs)
    source = GymTasks(settings.evaluation.environments)
    stack.push_async_callback(source.aclose)
    datasets = await source.datasets()
    version = REASONING_GYM.version
    window = settings.designer.window
    rule = Climbing(window.last, window.width, window.promote)
    designer = GymDesigner(datasets, partial(plays_of, catalog), version, rule, code=code)
    return designer, GymModel(source.tasks, version)


def pool_of(settings: FactorySettings) -> list[str]:
    """The pool's programs: Python files of a folder by name, or those of a pool as `spade export pool` and the
    reference lay it out. Raises `Abort` where there are fewer than a cycle has slots."""
    named = settings.designer.pool
    folder = Path(named).expanduser()
    if named and (folder / "games").is_dir():
        programs = [environment.code for _, environment in read_pool(folder).environments]
    else:
        programs = [path.read_text("utf-8") for path in sorted(folder.glob("*.py"))] if named else []
    if len(programs) < settings.cycle.slots:
        raise Abort(
            f"The pool {named or '(none is named)'} has {len(programs)} programs for {settings.cycle.slots} slots.",
            "Name a folder of Python files or an exported pool with designer.pool, or plan fewer slots.",
        )
    return programs
