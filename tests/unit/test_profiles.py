"""Ablations by name: each changes what it says and nothing else."""

import asyncio
from pathlib import Path

import pytest

from flows.configuring import load_settings, profile_names
from spade.blueprints.designer import BlueprintDesigner
from spade.dealing import PoolDesigner, PoolModel
from spade.designing import Brief
from spade.documents import Document
from spade.errors import Abort
from spade.messages import Request, Role, Sampling
from spade.prompting import CodeDesigner
from spade.skills import Setting, Skill
from spade.slots import Slot

CHANGES = {
    "no-memory": {"memory.lessons": False},
    "no-corpus": {"corpus.shown": False},
    "frozen-designer": {"training.frozen_designer": True},
    "frozen-designer-no-memory": {"training.frozen_designer": True, "memory.lessons": False},
    "learning-potential": {"training.frontier.reward": "learning_potential"},
    "solve-rate": {"score.variant": "solve_rate"},
    "two-skills": {"cycle.skills": 2},
}


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings file and no variables of whoever runs the tests."""
    monkeypatch.chdir(tmp_path)


def flat(values: dict[str, object], prefix: str = "") -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in values.items():
        found |= flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return found


@pytest.mark.parametrize("base", ["default", "starter"])
@pytest.mark.parametrize("name", CHANGES)
def test_an_ablation_changes_what_it_says_and_nothing_else(base: str, name: str) -> None:
    plain, changed = (flat(load_settings(each).model_dump(mode="json")) for each in (base, f"{base}+{name}"))
    assert {k: v for k, v in changed.items() if plain.get(k) != v} == CHANGES[name] | {"profile": f"{base}+{name}"}


def test_another_designer_is_frozen_and_has_an_address() -> None:
    settings = load_settings("fixed-designer")
    assert settings.training.frozen_designer
    assert settings.designer.model is not None
    assert settings.designer.model.base_url is not None


def slot(index: int, cycle: str = "cycle-0") -> Slot:
    return Slot(cycle, index, Setting.GAMES, Skill.OPTIMIZATION, "doc-0", 7)


def test_a_pool_deals_each_program_once_a_cycle() -> None:
    """No model is asked; another cycle deals in another order, and the same cycle always in the same."""
    programs = [f"class Game{n}Env:\n    pass\n" for n in range(6)]
    designer, model = PoolDesigner(programs), PoolModel(programs)

    async def dealt(cycle: str) -> list[str]:
        prompts = [designer.prompt(Brief(slot(n, cycle))) for n in range(6)]
        said = [await model.complete(Request(p.messages, Sampling(), Role.DESIGNER)) for p in prompts]
        drafts = [designer.read(completion.text, slot(0)) for completion in said]
        return [d.environment.code.strip() for d in drafts if d.environment]

    first, again, other = (asyncio.run(dealt(cycle)) for cycle in ("cycle-0", "cycle-0", "cycle-1"))
    assert sorted(first) == sorted(other) == [p.strip() for p in programs]
    assert first == again != other


def test_a_pool_that_is_too_small_is_refused(tmp_path: Path) -> None:
    from flows.dealing import pool_of

    settings = load_settings("fixed-pool", {"designer": {"pool": str(tmp_path)}})
    with pytest.raises(Abort, match="has 0 programs for 24 slots"):
        pool_of(settings)


def test_the_runs_of_ablations_are_told_apart() -> None:
    """Cycles are named by their settings; training shows in the weights' version."""
    told = {
        load_settings(name).settings_hash for name in ("default", "no-memory", "no-corpus", "solve-rate", "two-skills")
    }
    assert len(told) == 5


def test_every_profile_loads() -> None:
    assert {*CHANGES, "fixed-designer", "starter"} <= set(profile_names())
    for name in profile_names():
        load_settings(name)


def test_an_unknown_part_is_named() -> None:
    with pytest.raises(Abort, match="There is no profile 'no-such'"):
        load_settings("starter+no-such")


@pytest.mark.parametrize("designer", [CodeDesigner(), BlueprintDesigner()])
def test_without_a_document_the_rest_of_the_prompt_stays(designer: CodeDesigner | BlueprintDesigner) -> None:
    document = Document("Water boils at a hundred degrees, and salt changes that.", title="Boiling")
    shown, bare = (designer.prompt(Brief(slot(0), d)).messages[-1].content for d in (document, None))
    assert "hundred degrees" in shown
    assert "hundred degrees" not in bare
    assert "Boiling" not in bare
    kept = [line for line in shown.splitlines() if line in bare.splitlines()]
    assert len(kept) > 0.6 * len(bare.splitlines())
