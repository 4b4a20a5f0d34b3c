"""From records to batches: what is a group, what an advantage, what is left out and why. No torch needed."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.attempts import Attempt
from spade.episodes import Arm, Asked, Episode, Turn
from spade.errors import Abort
from spade.messages import Completion, Role, Sampling, Tokens
from spade.outcomes import EpisodeOutcome
from training.advantages import agent_advantages, designer_advantages, designer_scale
from training.batch_files import check_sample, read_batch, write_batch
from training.batches import Batch, Designed, agent_part, designer_part, make_batch
from training.packing import pack
from training.samples import Fault, Limits, Origin, fault_of, samples_of

PLAIN_DRAW = Sampling(temperature=0.8, top_p=1.0, top_k=0)
LIMITS = Limits(vocabulary=100, tokens=50)
GOOD = Tokens((1, 2, 3), (4, 5), (-0.5, -0.25), "sampling")


def turn(tokens: Tokens | None, *, guided: bool = False) -> Turn:
    return Turn("Guess.", "\\boxed{1}", "1", 0.0, tokens=tokens, guided=guided)


def episode(play: int, value: float | None, *, env: str = "env-a", arm: Arm = Arm.PLAIN, round_: int = 0) -> Episode:
    asked = Asked("cycle-1", env, round_, arm, play, play)
    outcome = EpisodeOutcome.COMPLETED if value is not None else EpisodeOutcome.MODEL_ERROR
    tokens = replace(GOOD, prompt_ids=(1, 2, 3 + play))
    return Episode(asked, outcome, (turn(tokens),), "m", "w1", value, None if value is None else value >= 1)


def designed(number: int, reward: float | None, skill: str = "optimization", tokens: Tokens | None = GOOD) -> Designed:
    attempt = Attempt(
        f"slot-{number}", 0, "prompt-1", Completion("x", "m", "w1", tokens=tokens), PLAIN_DRAW, f"env-{number}"
    )
    return Designed(attempt, skill, "cycle-1", reward)


def test_plays_of_older_weights_are_late(tmp_path: Path) -> None:
    """Late samples are compared with the policy at the start of the update, and the gap goes into their weight."""
    episodes = [replace(episode(i, float(i % 2)), weights="w1" if i < 2 else "w2") for i in range(4)]

    def late(weights: str) -> list[bool]:
        return [s.late for s in agent_part(episodes, PLAIN_DRAW, LIMITS, weights)[0]]

    assert late("w2") == [True, True, False, False]
    assert late("") == [False] * 4


def test_a_group_is_the_plain_plays_of_one_environment_in_one_round() -> None:
    """Returns 1, 0, 0, 1 have mean 0.5 and population std 0.5, so advantages of +1 and -1; other rounds are apart."""
    episodes = [episode(i, v) for i, v in enumerate((1.0, 0.0, 0.0, 1.0))]
    episodes += [episode(i, v, round_=1) for i, v in enumerate((1.0, 0.0, 0.0, 0.0))]
    samples, report = agent_part(episodes, PLAIN_DRAW, LIMITS)

    assert [round(s.advantage, 6) for s in samples[:4]] == [1, -1, -1, 1]
    assert [round(s.advantage, 4) for s in samples[4:]] == [1.7321, -0.5774, -0.5774, -0.5774]
    assert (report.groups, report.flat_groups, report.records) == (2, 0, 8)


def test_hinted_plays_never_enter_and_unmeasured_ones_count_for_nothing() -> None:
    episodes = [episode(0, 1.0), episode(1, 0.0), episode(2, None), episode(3, 1.0, arm=Arm.HINTED)]
    samples, report = agent_part(episodes, PLAIN_DRAW, LIMITS)

    assert {s.subject_id for s in samples} == {episodes[0].episode_id, episodes[1].episode_id}
    assert report.records == 2


def test_groups_without_spread_are_reported_and_left_out() -> None:
    episodes = [episode(i, 1.0) for i in range(3)] + [episode(i, float(i), env="env-b") for i in range(2)]
    samples, report = agent_part(episodes, PLAIN_DRAW, LIMITS)

    assert {s.env_id for s in samples} == {"env-b"}
    assert report.flat_groups == 1


def test_designer_groups_are_skills_and_are_centred_and_scaled() -> None:
    """Rewards 0.2 and 0.6 of one skill: -0.2 and +0.2 times the scale; 16 plays, 4 designs and 4 rounds make 16."""
    given_ = [
        designed(0, 0.2),
        designed(1, 0.6),
        designed(2, 1.0, "logical_deduction"),
        designed(3, 0.0, "logical_deduction"),
    ]
    samples, _ = designer_part(given_, LIMITS, agent_samples=16, rounds=4)

    assert [round(s.advantage, 6) for s in samples] == [-3.2, 3.2, 8.0, -8.0]
    assert all(s.late and s.role is Role.DESIGNER for s in samples)


def test_the_designer_scale_balances_roles_and_has_a_ceiling() -> None:
    assert designer_scale(384, 24, 1) == 16.0
    assert designer_scale(384, 24, 4) == 50.0
    assert designer_scale(10, 0, 4) == 0.0


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_advantages_have_no_mean(returns: list[float]) -> None:
    made = agent_advantages(returns)
    assert made is None or abs(sum(made)) < 1e-5
    assert abs(sum(designer_advantages(returns, 3.0))) < 1e-9


@pytest.mark.parametrize(
    ("tokens", "fault"),
    [
        (None, Fault.MISSING_TOKENS),
        (Tokens(None, (1,), (-0.1,), "model"), Fault.MISSING_TOKENS),
        (Tokens((1,), (1,), None), Fault.MISSING_TOKENS),
        (Tokens((1,), (1, 2), (-0.1,), "model"), Fault.LENGTHS_DIFFER),
        (Tokens((1,), (1, 2), (-0.1, -0.1), "sampling", ((1, 2),)), Fault.LENGTHS_DIFFER),
        (Tokens((1,), (1,), (math.nan,), "sampling"), Fault.NAN_LOGPROB),
        (Tokens((1,), (1,), (-math.inf,), "sampling"), Fault.NAN_LOGPROB),
        (Tokens((1,), (1,), (0.5,), "sampling"), Fault.POSITIVE_LOGPROB),
        (Tokens((1,), (100,), (-0.5,), "sampling"), Fault.VOCABULARY),
        (Tokens((-1,), (1,), (-0.5,), "sampling"), Fault.VOCABULARY),
        (Tokens((1,), (1,), (-0.5,), "sampling", ((2, 3),)), Fault.NOT_ALLOWED),
        (Tokens(tuple([1] * 50), (1,), (-0.5,), "sampling"), Fault.TOO_LONG),
        (GOOD, None),
    ],
)
def test_each_bad_record_has_its_name(tokens: Tokens | None, fault: Fault | None) -> None:
    assert fault_of(tokens, False, PLAIN_DRAW, LIMITS) is fault


def test_guided_records_need_the_choices_and_cut_draws_are_refused() -> None:
    """Without the choices, or under top-p, nobody can say what the trained log-probability would be."""
    assert fault_of(GOOD, True, PLAIN_DRAW, LIMITS) is Fault.UNKNOWN_CHOICES
    assert fault_of(GOOD, False, replace(PLAIN_DRAW, top_p=0.9), LIMITS) is Fault.CUT_DISTRIBUTION
    assert fault_of(replace(GOOD, logprobs_of="model"), False, replace(PLAIN_DRAW, top_k=20), LIMITS) is None


def test_turns_that_go_on_are_one_sequence_and_others_are_samples_of_their_own() -> None:
    """A thinking model's second prompt lacks its first thoughts, so it cannot share a sequence with the first turn."""
    origin = Origin(Role.AGENT, "g", "ep-1", "w1", "env-a")
    goes_on = Tokens((1, 2, 3, 4, 5, 6), (7,), (-0.125,), "sampling")
    anew = Tokens((1, 2, 3, 5, 6), (7,), (-0.125,), "sampling")

    (whole,) = samples_of(origin, [(GOOD, False), (goes_on, False)], PLAIN_DRAW, LIMITS)  # type: ignore[misc]
    parts = samples_of(origin, [(GOOD, False), (anew, False)], PLAIN_DRAW, LIMITS)

    assert whole.ids == (1, 2, 3, 4, 5, 6, 7)
    assert whole.at == (3, 4, 6)
    assert whole.logprobs == (-0.5, -0.25, -0.125)
    assert whole.temperature == 0.8
    assert not isinstance(parts, Fault)
    assert [p.ids for p in parts] == [(1, 2, 3, 4, 5), (1, 2, 3, 5, 6, 7)]


def test_a_token_that_was_the_only_choice_is_context() -> None:
    origin = Origin(Role.AGENT, "g", "ep-1", "w1", "env-a")
    tokens = Tokens((1, 2), (3, 4), (0.0, -0.5), "sampling", ((3,), (4, 5)))
    (sample,) = samples_of(origin, [(tokens, True)], PLAIN_DRAW, LIMITS)  # type: ignore[misc]

    assert sample.at == (3,)
    assert sample.allowed == ((4, 5),)


def test_faulty_records_are_skipped_and_counted_and_most_of_them_refuse_the_batch() -> None:
    few = [episode(i, float(i % 2)) for i in range(8)]
    broken = replace(few[0], turns=(turn(replace(GOOD, logprobs=(-0.1, 0.7))),))
    samples, report = agent_part([broken, *few[1:]], PLAIN_DRAW, LIMITS)

    assert report.skipped == (("positive log-probability", 1),)
    assert len(make_batch((samples, report)).samples) == 7
    bare = [replace(e, turns=(turn(None),)) for e in few]
    with pytest.raises(Abort, match="missing tokens"):
        make_batch(agent_part(bare, PLAIN_DRAW, LIMITS))


def a_batch() -> Batch:
    agent = agent_part([episode(i, float(i % 2)) for i in range(4)], PLAIN_DRAW, LIMITS)
    designer = designer_part([designed(0, 0.2), designed(1, 0.6)], LIMITS, agent_samples=4, rounds=1)
    return make_batch(agent, designer, cycles=["cycle-1"], round=2)


def test_a_batch_is_a_file_with_a_manifest_and_comes_back_the_same(tmp_path: Path) -> None:
    batch = a_batch()
    folder = write_batch(batch, tmp_path)

    assert read_batch(folder, LIMITS) == batch
    assert write_batch(batch, tmp_path) == folder
    assert folder.name == batch.batch_id
    assert [p.name for p in tmp_path.iterdir()] == [batch.batch_id]


def test_a_batch_id_depends_on_what_is_trained() -> None:
    batch = a_batch()
    moved = Batch((replace(batch.samples[0], advantage=0.5), *batch.samples[1:]))
    assert moved.batch_id != batch.batch_id


def test_changed_or_broken_batch_files_are_refused_by_name(tmp_path: Path) -> None:
    folder = write_batch(a_batch(), tmp_path)
    with pytest.raises(Abort, match="vocabulary"):
        read_batch(folder, Limits(vocabulary=4))
    other = write_batch(Batch(a_batch().samples[:2], a_batch().reports), tmp_path)
    (folder / "samples.parquet").write_bytes((other / "samples.parquet").read_bytes())
    with pytest.raises(Abort, match="not those of its manifest"):
        read_batch(folder)
    (folder / "samples.parquet").unlink()
    with pytest.raises(Abort, match="no readable batch"):
        read_batch(folder)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"ids": ()}, Fault.MISSING_TOKENS),
        ({"logprobs": (-0.1,)}, Fault.LENGTHS_DIFFER),
        ({"at": (3, 99)}, Fault.LENGTHS_DIFFER),
        ({"logprobs": (-0.1, math.nan)}, Fault.NAN_LOGPROB),
        ({"logprobs": (-0.1, 0.1)}, Fault.POSITIVE_LOGPROB),
        ({"allowed": ((), (1, 2))}, Fault.NOT_ALLOWED),
    ],
)
def test_samples_are_checked_before_they_are_trained_on(change: dict[str, object], fault: Fault) -> None:
    with pytest.raises(Abort, match=fault.value):
        check_sample(replace(a_batch().samples[0], **change), LIMITS, "sample 0")  # type: ignore[arg-type]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=60), st.integers(1, 200))
def test_packing_keeps_every_sample_once_and_within_its_limits(lengths: list[int], budget: int) -> None:
    micros = list(pack(lengths, budget))
    placed = [n for m in micros for row in m.rows for n in row]

    assert sorted(placed) == list(range(len(lengths)))
    assert all(sum(lengths[n] for n in row) <= m.width for m in micros for row in m.rows)
    assert all(len(m.rows) == 1 or m.places <= budget for m in micros)


def test_positives_need_token_ids_alone() -> None:
    """A record without log-probabilities can feed a warm start, never an update."""
    torch = pytest.importorskip("torch", reason="needs the extra: spade-factory[train]")
    from training.imitation import positives

    bare = replace(episode(0, 1.0), turns=(turn(Tokens((1, 2, 3), (4, 5), None), guided=True),))
    nothing = replace(episode(1, 1.0), turns=(turn(None),))
    samples, unusable = positives([bare, nothing], PLAIN_DRAW, LIMITS)
    assert torch is not None
    assert [(s.ids, s.at, s.advantage) for s in samples] == [((1, 2, 3, 4, 5), (3, 4), 1.0)]
    assert unusable == 1
