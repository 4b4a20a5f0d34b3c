"""The price of bare package names, guarded: both hazards were seen for real before these tests were written."""

import sys
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OURS = {"spade", "inference", "sandbox", "data", "training", "tasks", "flows"}
INSTALLED = packages_distributions()


def test_no_other_distribution_ships_our_names() -> None:
    """Installing one would overwrite our files, and uninstalling it would delete them."""
    intruders = {name: set(INSTALLED.get(name, [])) - {"spade-factory"} for name in OURS}
    assert not any(intruders.values()), intruders


def test_no_module_hides_another_package() -> None:
    """Prefect puts a flow's own folder first on sys.path: flows/data.py would hide data/."""
    taken = OURS | set(INSTALLED) | set(sys.stdlib_module_names)
    hiding = [path for name in OURS for path in (ROOT / name).glob("*.py") if path.stem in taken]
    assert hiding == []
