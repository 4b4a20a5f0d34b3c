"""docs/evaluation.md names what there is."""

from pathlib import Path

import pytest

from data.benchmarks.packages import BFCL, REASONING_GYM, TEXTARENA
from data.benchmarks.registry import SUITES
from flows.configuring import profile_names
from spade.evaluation import SampleOutcome
from spade.experiments import read_experiment

ABLATIONS = (
    *("no-memory", "no-corpus", "frozen-designer", "frozen-designer-no-memory", "fixed-designer"),
    *("learning-potential", "solve-rate", "two-skills", "fixed-pool"),
    *("imported-pool", "reasoning-gym-pool"),
)
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "evaluation.md").read_text("utf-8")


@pytest.mark.parametrize("name", SUITES)
def test_every_suite_has_a_paragraph(name: str) -> None:
    assert f"(`{name}" in PAGE
    for option in SUITES[name].options:
        assert option in PAGE


def test_every_outcome_and_ablation_is_explained() -> None:
    for outcome in SampleOutcome:
        assert f"| `{outcome.value}` |" in PAGE
    for profile in ABLATIONS:
        assert f"| `{profile}` |" in PAGE
    assert set(ABLATIONS) <= set(profile_names())


@pytest.mark.parametrize("package", [BFCL, REASONING_GYM, TEXTARENA])
def test_versions_are_those_that_are_installed(package: object) -> None:
    """The page, the code and the script that makes the environment name one version."""
    name, version = package.name, package.version  # type: ignore[attr-defined]
    assert f"`{name}` {version}" in PAGE
    assert f"{name}=={version}" in (ROOT / "scripts" / "suites" / f"{name}.txt").read_text("utf-8")


def test_the_example_of_a_grid_is_one() -> None:
    example = PAGE.split('```toml\nname = "memory"')[1].split("```")[0]
    grid = read_experiment('name = "memory"' + example, "the page")
    assert grid.profiles == ("starter", "starter+no-memory")
    assert grid.limit.cycles == 2
