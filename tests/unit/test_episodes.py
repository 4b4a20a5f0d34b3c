from dataclasses import replace

import pytest

from spade.episodes import Arm, Asked, Hinted, ModelPolicy, play
from spade.errors import Abort, Retry, Skip
from spade.messages import Sampling
from spade.outcomes import CallOutcome, EpisodeOutcome, Reply
from tests.fakes import GuessGame, RuleModel, ScriptedModel

ASKED = Asked("cycle-1", "env-1", 0, Arm.PLAIN, 0, seed=3)
SAMPLING = Sampling()


async def test_an_episode_sums_rewards_and_knows_a_win() -> None:
    model = RuleModel()
    episode = await play(GuessGame(), ModelPolicy(model, SAMPLING), ASKED, "Play.", max_turns=10)

    assert episode.outcome is EpisodeOutcome.COMPLETED
    assert (episode.return_, episode.won) == (1.0, True)
    assert [turn.action for turn in episode.turns] == ["5", "2", "3", "4"]
    assert episode.turns[0].observation == "Guess a number from 1 to 9."
    assert episode.final_observation == "Right."
    assert episode.usage.prompt_tokens == 40
    assert [m.role for m in model.requests[-1].messages] == ["system", *["user", "assistant"] * 3, "user"]


async def test_arms_differ_by_the_hint_alone() -> None:
    """A player that ignores the hint plays the same transcript in both arms."""
    plain, hinted = RuleModel(), RuleModel()
    one = await play(GuessGame(), ModelPolicy(plain, SAMPLING), ASKED, "Play.", max_turns=10)
    asked = replace(ASKED, arm=Arm.HINTED)
    two = await play(GuessGame(), Hinted(ModelPolicy(hinted, SAMPLING), "Halve it."), asked, "Play.", max_turns=10)

    assert one.turns == two.turns
    for a, b in zip(plain.requests, hinted.requests, strict=True):
        assert b.messages[1].content == f"Hint: Halve it.\n\n{a.messages[1].content}"
        assert (a.messages[0], a.messages[2:]) == (b.messages[0], b.messages[2:])


async def test_the_runs_cap_and_the_environments_cap_truncate_with_a_measured_return() -> None:
    ours = await play(GuessGame(), ModelPolicy(ScriptedModel(r"\boxed{1}"), SAMPLING), ASKED, "", max_turns=2)
    theirs = await play(GuessGame(3), ModelPolicy(ScriptedModel(r"\boxed{1}"), SAMPLING), ASKED, "", max_turns=9)

    assert (ours.outcome, ours.return_, len(ours.turns)) == (EpisodeOutcome.TRUNCATED, 0.0, 2)
    assert (theirs.outcome, theirs.return_, len(theirs.turns)) == (EpisodeOutcome.TRUNCATED, 0.0, 3)


@pytest.mark.parametrize("outcome", [o for o in CallOutcome if o is not CallOutcome.OK])
async def test_what_the_program_does_wrong_is_an_outcome_without_a_return(outcome: CallOutcome) -> None:
    game = GuessGame(failing=Reply(outcome, detail="ValueError: no"))
    episode = await play(game, ModelPolicy(ScriptedModel("5"), SAMPLING), ASKED, "", max_turns=5)

    assert episode.outcome.value == outcome.value
    assert (episode.return_, episode.won) == (None, None)
    assert episode.detail == "step 1: ValueError: no"


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(Retry("busy"), EpisodeOutcome.MODEL_ERROR), (Skip("too long"), EpisodeOutcome.MODEL_REFUSED)],
)
async def test_what_the_endpoint_does_wrong_is_an_outcome_without_a_return(
    error: Exception, outcome: EpisodeOutcome
) -> None:
    model = ScriptedModel(r"\boxed{1}", error)
    episode = await play(GuessGame(), ModelPolicy(model, SAMPLING), ASKED, "", max_turns=5)

    assert (episode.outcome, episode.return_, len(episode.turns)) == (outcome, None, 1)


async def test_what_is_wrong_for_every_item_stops_the_run() -> None:
    with pytest.raises(Abort, match="wrong key"):
        await play(GuessGame(), ModelPolicy(ScriptedModel(Abort("wrong key")), SAMPLING), ASKED, "", max_turns=5)


def test_an_episodes_id_is_the_play_that_was_asked_for() -> None:
    """So that finishing a cycle after a crash cannot store a play twice."""
    assert ASKED.episode_id == replace(ASKED).episode_id
    assert ASKED.episode_id != replace(ASKED, play=1).episode_id
