"""Both arms are the same up to the hint; whatever the endpoint does, every play that was asked for is accounted for."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.catalog import Catalog
from data.progress import CycleProgress
from flows.configuring import flags_of, load_settings
from inference.endpoint import Patience
from sandbox.opening import open_sandbox
from spade.environments import Environment
from spade.episodes import Arm, Episode
from spade.errors import SpadeError
from spade.hints import Hint
from spade.messages import Completion, Request, Sampling
from spade.outcomes import EpisodeOutcome
from spade.ports import Limits, Model
from spade.scores import score
from spade.settings import FactorySettings, SandboxSettings
from spade.skills import Setting, Skill
from spade.slots import Cycle, Slot
from tasks.factory import Nobody
from tasks.playing import ArmPlan, asked_plays, play_episodes
from tests import fakes_endpoint as wire
from tests.fakes import RuleModel, dial_lock
from tests.inference.asking import connected

CYCLE = Cycle("hash", 0, 0)
SLOT = Slot(CYCLE.cycle_id, 0, Setting.GAMES, Skill.LOGICAL_DEDUCTION, "doc-0", 1)
ENVIRONMENT = Environment(dial_lock(2, 6), Setting.GAMES, Skill.LOGICAL_DEDUCTION, "Lock", "narrowing")
HINT = Hint(ENVIRONMENT.env_id, 0, "Halve what is left.", "prompt-0", Completion("Halve what is left.", "m", "w"))
PLAIN = ArmPlan(SLOT, ENVIRONMENT, Arm.PLAIN, 0)
HINTED = replace(PLAIN, arm=Arm.HINTED, hint=HINT)


def settings(**flags: Any) -> FactorySettings:
    return load_settings("default", flags_of(**({"cycle__plays": 8} | flags)))


def progress_in(home: Path) -> CycleProgress:
    return CycleProgress.load(Catalog(home), CYCLE, [SLOT])


async def played(
    home: Path, model: Model, *plans: ArmPlan, progress: CycleProgress | None = None, **flags: Any
) -> list[Episode]:
    """The arms through the factory's own task and the sandbox; only the model is given."""
    kept = progress or progress_in(home)
    async with open_sandbox(SandboxSettings()) as sandbox:
        factory: Any = SimpleNamespace(
            settings=settings(**flags), progress=kept, sandbox=sandbox, model=model, watcher=Nobody(),
            limits=Limits(), plays=asyncio.Semaphore(8),
        )  # fmt: skip
        await asyncio.gather(*(play_episodes.fn(factory, plan) for plan in plans))
    return kept.all_episodes()


@given(st.integers(0, 2**31 - 1), st.integers(1, 20), st.integers(0, 9))
def test_both_arms_ask_for_the_same_plays(seed: int, plays: int, round_: int) -> None:
    given = settings(seed=seed, cycle__plays=plays)
    plain, hinted = (asked_plays(replace(plan, round=round_), given) for plan in (PLAIN, HINTED))
    assert [replace(a, arm=Arm.PLAIN, hint_id="") for a in hinted] == plain
    assert {a.hint_id for a in hinted} == {HINT.hint_id}
    assert len({a.seed for a in plain}) == plays


def turning(request: Request) -> str:
    """Turns dials by what it saw last, and knows nothing of hints."""
    return rf"\boxed{{{len(request.messages) % 10} 4}}"


async def test_a_scripted_agent_that_ignores_the_hint_plays_the_same_transcripts(tmp_path: Path) -> None:
    model = RuleModel(turning)
    episodes = await played(tmp_path, model, PLAIN, HINTED)

    arms = {arm: {e.asked.play: e for e in episodes if e.asked.arm is arm} for arm in Arm}
    assert len(arms[Arm.PLAIN]) == len(arms[Arm.HINTED]) == 8
    for play, plain in arms[Arm.PLAIN].items():
        hinted = arms[Arm.HINTED][play]
        same = {"asked": plain.asked, "seconds": plain.seconds}
        assert replace(hinted, **same) == plain
    asked = Counter(sampling_of(r.sampling) for r in model.requests)
    assert set(asked.values()) == {2}, "each draw of the one arm has its twin in the other"
    assert score(CYCLE.cycle_id, ENVIRONMENT.env_id, episodes).regret == 0.0


def sampling_of(sampling: Sampling) -> tuple[object, ...]:
    return (sampling.temperature, sampling.top_p, sampling.top_k, sampling.max_tokens, sampling.seed)


FAULTS: list[wire.Response] = [
    wire.REFUSE, wire.CUT, wire.HTML, wire.EMPTY, wire.NOT_UTF8, wire.status(429), wire.status(500), wire.status(503),
    wire.status(400, "maximum context length"), wire.raw(b"{half"), wire.TEN_MB, wire.text(""),
    wire.reply(choices="none"),
    wire.text("", message={"role": "assistant", "content": None, "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "nobody_knows", "arguments": "{"}}]}),
    wire.text("\\boxed{1 2}", finish_reason="length"), wire.Response(hang=0.6, body=wire.text("late").body),
    wire.raw(b'{"choices": [{"message": {"content": "\\\\boxed{3 4}"}}], "usage": {"prompt_tokens": "many"}}'),
]  # fmt: skip
GOOD = wire.text(r"\boxed{4 0}")


def faulty(share: int) -> Iterator[wire.Response]:
    """Every `share`-th answer is the next fault."""
    faults = cycle(FAULTS)
    for number in cycle(range(share)):
        yield next(faults) if number == 0 else GOOD


@pytest.mark.parametrize("share", [1, 3])
async def test_a_faulty_endpoint_leaves_no_play_unaccounted_for(tmp_path: Path, share: int) -> None:
    """Refused, cut, hanging, HTML, ten megabytes, no choices, wrong counts, unknown tools: each an outcome, once."""
    answers = faulty(share)
    async with wire.FakeEndpoint(lambda _: next(answers)) as fake:
        endpoint = await connected(fake, retries=2, seconds=0.3)
        endpoint.patience = Patience(2, first=0.0)
        progress = progress_in(tmp_path)
        tries = 0
        while tries < 20 and len(progress.all_episodes()) < 32:
            tries += 1
            try:
                await played(tmp_path, endpoint, PLAIN, HINTED, progress=progress, cycle__plays=16)
            except SpadeError:  # the breaker opened: a run stops with a reason, and the next one goes on
                continue
        await endpoint.aclose()

    episodes = Catalog(tmp_path).episodes()
    wanted = {a.episode_id for plan in (PLAIN, HINTED) for a in asked_plays(plan, settings(cycle__plays=16))}
    assert sorted(e.episode_id for e in episodes) == sorted(wanted), "every play once"
    outcomes = Counter(e.outcome for e in episodes)
    assert outcomes.total() == 32
    for episode in episodes:
        assert (episode.return_ is None) is (episode.won is None) is not episode.outcome.measured
        assert episode.outcome.measured or episode.detail, "what was not measured says why"
    assert outcomes.keys() <= {
        EpisodeOutcome.COMPLETED, EpisodeOutcome.TRUNCATED, EpisodeOutcome.MODEL_ERROR, EpisodeOutcome.MODEL_REFUSED,
    }  # fmt: skip
    found = score(CYCLE.cycle_id, ENVIRONMENT.env_id, episodes)
    assert (found.plain.asked, found.hinted.asked) == (16, 16)
    assert found.plain.measured == sum(e.outcome.measured for e in episodes if e.asked.arm is Arm.PLAIN)


STOPPING = {"cycle__plays": 16, "cycle__stopping__floor": 8, "cycle__stopping__half_width": 0.2}


async def test_an_arm_that_is_settled_stops_early_and_a_run_that_goes_on_agrees(tmp_path: Path) -> None:
    hopeless = RuleModel(lambda _: "I do not know.")
    episodes = await played(tmp_path, hopeless, PLAIN, HINTED, **STOPPING)
    assert Counter(e.asked.arm for e in episodes) == {Arm.PLAIN: 8, Arm.HINTED: 8}
    found = score(CYCLE.cycle_id, ENVIRONMENT.env_id, episodes)
    assert (found.plain.asked, found.plain.measured, found.regret_pairs) == (8, 8, 8)

    asked = len(hopeless.requests)
    again = await played(tmp_path, hopeless, PLAIN, HINTED, **STOPPING)
    assert len(again) == 16
    assert len(hopeless.requests) == asked, "what is settled stays settled after a restart"


async def test_without_the_setting_every_play_is_played(tmp_path: Path) -> None:
    episodes = await played(tmp_path, RuleModel(lambda _: "I do not know."), PLAIN, cycle__plays=16)
    assert len(episodes) == 16
