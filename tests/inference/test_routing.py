"""Who plays which role."""

from pathlib import Path

import pytest

from inference.routing import Router, open_router
from spade.errors import Abort
from spade.messages import Message, Request, Role, Sampling
from spade.settings import ModelSettings
from tests import fakes_endpoint as says
from tests.fakes import ScriptedModel
from tests.fakes_endpoint import FakeEndpoint


def request(role: Role, said: str = "x", seed: int | None = 1) -> Request:
    return Request((Message("user", said),), Sampling(seed=seed), role)


async def test_one_model_plays_every_role_in_self_play() -> None:
    router = Router(ScriptedModel("mine"))

    assert {(await router.complete(request(role))).text for role in Role} == {"mine"}
    assert (router.name, router.weights) == ("scripted", "scripted-1")


async def test_a_role_with_a_model_of_its_own_goes_there() -> None:
    router = Router(ScriptedModel("agent"), {Role.JUDGE: [ScriptedModel("judge")]})

    assert (await router.complete(request(Role.JUDGE))).text == "judge"
    assert (await router.complete(request(Role.AGENT))).text == "agent"


def test_designers_rotate_and_the_same_request_goes_to_the_same_one() -> None:
    """A run that was killed and goes on asks the same designer again."""
    designers = [ScriptedModel(str(number)) for number in range(3)]
    router = Router(ScriptedModel("agent"), {Role.DESIGNER: designers})
    asked = [request(Role.DESIGNER, seed=seed) for seed in range(60)]
    picked = [router.model_for(one) for one in asked]

    assert picked == [router.model_for(one) for one in asked]
    assert all(picked.count(designer) >= 10 for designer in designers)


async def test_a_model_that_several_roles_share_is_opened_once(tmp_path: Path) -> None:
    async with FakeEndpoint(says.text("one")) as first, FakeEndpoint(says.text("two")) as second:
        settings = [ModelSettings(base_url=fake.base_url) for fake in (first, second)]
        roles = {Role.DESIGNER: settings, Role.HINT: settings[:1]}
        async with open_router(settings[0], roles, tmp_path) as router:
            assert (await router.complete(request(Role.HINT))).text == "one"

        assert [seen.path for seen in first.seen].count("/v1/models") == 1
        assert [seen.path for seen in second.seen].count("/v1/models") == 1


async def test_one_endpoint_that_is_missing_stops_the_opening(tmp_path: Path) -> None:
    async with FakeEndpoint() as fake:
        missing = {Role.JUDGE: [ModelSettings(base_url="http://127.0.0.1:9/v1")]}
        with pytest.raises(Abort, match="Nothing answers"):
            async with open_router(ModelSettings(base_url=fake.base_url), missing, tmp_path):
                pass
