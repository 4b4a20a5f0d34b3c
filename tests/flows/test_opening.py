"""Who designs in a run, whatever plays: pools are dealt and other designers asked, in self-play too."""

from pathlib import Path
from typing import Any

import pytest

from flows.configuring import load_settings
from flows.opening import open_parts
from spade.designing import Brief
from spade.errors import Abort
from spade.messages import Message, Request, Role, Sampling
from spade.skills import Setting, Skill
from spade.slots import Slot
from tests.fakes import ScriptedModel
from tests.fakes_endpoint import FakeEndpoint, text

ROOT = Path(__file__).parents[2]
SLOT = Slot("cycle-0", 0, Setting.GAMES, Skill.OPTIMIZATION, "doc-0", 7)


async def answers(place: Path, profile: str, player: ScriptedModel, **groups: Any) -> dict[Role, str]:
    """What a run whose playing model is given says in each role."""
    settings = load_settings(profile, {"home": str(place), "memory": {"embedder": "hashed"}, **groups})
    said = {}
    async with open_parts(settings, model=player) as parts:
        asked = parts.designer.prompt(Brief(SLOT)).messages
        for role in (Role.DESIGNER, Role.HINT, Role.AGENT):
            messages = asked if role is Role.DESIGNER else (Message("user", "Play."),)
            said[role] = (await parts.model.complete(Request(messages, Sampling(), role))).text
    return said


async def test_a_pool_is_dealt_whoever_plays(tmp_path: Path) -> None:
    player = ScriptedModel("I play.")
    said = await answers(tmp_path, "starter+fixed-pool", player, designer={"pool": str(ROOT / "examples/environments")})
    assert "Env:" in said[Role.DESIGNER]
    assert (said[Role.HINT], said[Role.AGENT]) == ("I play.", "I play.")


async def test_an_exported_pool_is_dealt(tmp_path: Path) -> None:
    games = tmp_path / "pool" / "games"
    games.mkdir(parents=True)
    for number in range(6):
        file = games / f"game_00000_{number:03d}_optimization.py"
        file.write_text(f"class Game{number}Env:\n    pass\n")
    said = await answers(
        tmp_path, "starter+imported-pool", ScriptedModel(""), designer={"pool": str(tmp_path / "pool")}
    )
    assert "class Game" in said[Role.DESIGNER]


async def test_another_designer_is_asked_whoever_plays(tmp_path: Path) -> None:
    async with FakeEndpoint(text("I design.")) as fake:
        said = await answers(
            tmp_path, "fixed-designer", ScriptedModel("I play."), designer={"model": {"base_url": fake.base_url}}
        )
    assert said == {Role.DESIGNER: "I design.", Role.HINT: "I design.", Role.AGENT: "I play."}


async def test_without_the_package_its_pool_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(Abort, match=r"needs the package reasoning-gym.*suite_environment.sh reasoning-gym"):
        await answers(
            tmp_path, "reasoning-gym-pool", ScriptedModel(""), evaluation={"environments": str(tmp_path / "none")}
        )
