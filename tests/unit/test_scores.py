"""The meaning of the scores, pinned with worked numbers. A failing test here is a decision, not a nuisance."""

from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.episodes import Arm, Asked, Episode
from spade.outcomes import EpisodeOutcome
from spade.scores import Score, blend, bootstrap, paired_returns, plateau, score

returns_G = st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=16)


def episode(
    arm: Arm, play: int, return_: float | None, outcome: EpisodeOutcome | None = None, round: int = 0
) -> Episode:
    asked = Asked("cycle-1", "env-1", round, arm, play, seed=1000 + play)
    ended = outcome or (EpisodeOutcome.COMPLETED if return_ is not None else EpisodeOutcome.MODEL_ERROR)
    won = None if return_ is None else return_ >= 1 - 1e-6
    return Episode(asked, ended, (), "m", "w", return_=return_, won=won)


def scored(plain: list[float | None], hinted: list[float | None], variant: str = "blend") -> Score:
    episodes = [episode(Arm.PLAIN, i, r) for i, r in enumerate(plain)]
    episodes += [episode(Arm.HINTED, i, r) for i, r in enumerate(hinted)]
    return score("cycle-1", "env-1", episodes, variant)


@pytest.mark.parametrize(
    ("win_rate", "worth"), [(0.5, 1), (0.4, 1), (0.6, 1), (0.3, 0.6), (0.7, 0.6), (0.15, 0), (0.85, 0), (0, 0), (1, 0)]
)
def test_1_the_plateau_has_its_published_corners(win_rate: float, worth: float) -> None:
    assert plateau(win_rate) == pytest.approx(worth, abs=1e-9)


def test_2_blend_weighs_plateau_and_clipped_regret() -> None:
    assert blend(0.5, 0.15) == pytest.approx(1.0)
    assert blend(0.5, 0.30) == pytest.approx(1.0)
    assert blend(0.5, 0.075) == pytest.approx(0.8)
    assert blend(0.0, -0.5) == 0.0


def test_3_mastered_frontier_and_hopeless_come_out_right() -> None:
    mastered = scored([1.0] * 8, [1.0] * 8)
    frontier = scored([0.0] * 8, [1.0] * 8)
    hopeless = scored([0.0] * 8, [0.0] * 8)
    assert (mastered.designer_reward, hopeless.designer_reward) == (0.0, 0.0)
    assert frontier.designer_reward == pytest.approx(0.4)
    assert scored([0.0, 1.0] * 4, [1.0] * 8).designer_reward == pytest.approx(1.0)


def test_4_regret_is_signed_and_paired_by_seed() -> None:
    worse = scored([1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0])
    assert worse.regret == pytest.approx(-0.25)
    assert worse.regret_interval is not None
    assert worse.regret_interval.low <= -0.25 <= worse.regret_interval.high


def test_5_what_was_not_measured_is_none_with_a_reason_never_zero() -> None:
    unmeasured = scored([None] * 5 + [1.0] * 3, [1.0] * 8)
    assert unmeasured.designer_reward is None
    assert unmeasured.regret is None
    assert unmeasured.reason == "only 3 of 8 plain plays were measured"
    assert scored([1.0, 0.0], []).regret is None
    assert scored([1.0, 0.0], []).reason == "no hinted arm: no hint passed its gates"


def test_6_a_seed_measured_in_one_arm_only_is_no_pair() -> None:
    half = scored([None, 1.0, 0.0, 0.0], [1.0, None, 1.0, 0.0])
    assert half.regret_pairs == 2
    assert half.regret == pytest.approx(0.5)
    assert (half.plain.measured, half.plain.asked) == (3, 4)


def test_7_an_environment_that_hangs_is_punished_in_every_variant() -> None:
    episodes = [episode(Arm.PLAIN, i, 1.0) for i in range(7)]
    episodes.append(episode(Arm.PLAIN, 7, None, EpisodeOutcome.ENV_TIMEOUT))
    for variant in ("blend", "solve_rate", "regret", "signed_regret"):
        assert score("cycle-1", "env-1", episodes, variant).designer_reward == -0.5


def test_8_regret_looks_at_the_first_round_only_and_win_rate_at_all() -> None:
    """In later rounds the agent has learned, so the arms would no longer share their weights."""
    first = [episode(arm, i, 0.0) for arm in Arm for i in range(4)]
    later = [episode(Arm.PLAIN, i, 1.0, round=1) for i in range(4)]
    both = score("cycle-1", "env-1", first + later)
    assert both.plain.win_rate == 0.5
    assert both.regret == 0.0


@given(returns_G, st.integers(0, 2**31))
def test_the_interval_holds_the_mean_and_repeats(differences: list[float], seed: int) -> None:
    interval = bootstrap(differences, seed)
    assert interval == bootstrap(differences, seed)
    assert interval.low - 1e-9 <= fmean(differences) <= interval.high + 1e-9 or len(set(differences)) > 1
    assert min(differences) - 1e-9 <= interval.low <= interval.high <= max(differences) + 1e-9


@given(returns_G)
def test_equal_arms_have_no_regret(returns: list[float]) -> None:
    assert scored(list(returns), list(returns)).regret == 0.0


@given(returns_G, returns_G)
def test_pairs_never_outnumber_either_arm(plain: list[float], hinted: list[float]) -> None:
    episodes = [episode(Arm.PLAIN, i, r) for i, r in enumerate(plain)]
    episodes += [episode(Arm.HINTED, i, r) for i, r in enumerate(hinted)]
    assert len(paired_returns(episodes)) == min(len(plain), len(hinted))


rates = st.floats(0.0, 1.0)
VARIANTS = ("blend", "solve_rate", "regret", "signed_regret")


@given(rates, rates)
def test_the_plateau_is_symmetrical_within_0_and_1_and_falls_away_from_the_middle(one: float, other: float) -> None:
    assert plateau(one) == pytest.approx(plateau(1 - one), abs=1e-9)
    assert 0.0 <= plateau(one) <= 1.0
    near, far = sorted((one, other), key=lambda rate: abs(rate - 0.5))
    assert plateau(near) >= plateau(far) - 1e-9


@given(rates, rates, st.one_of(st.none(), st.floats(-1, 1)))
def test_blend_is_the_weighted_sum_for_any_win_rate_and_regret(
    win_rate: float, more: float, regret: float | None
) -> None:
    """Monotone in the regret up to 0.15, where it is worth all of its 0.4; without one the plateau stands alone."""
    found = blend(win_rate, regret)
    assert 0.0 <= found <= 1.0
    paid = 0.0 if regret is None else min(max(regret, 0.0), 0.15) / 0.15
    assert found == pytest.approx(0.6 * plateau(win_rate) + 0.4 * paid)
    if regret is not None:
        assert blend(win_rate, min(1.0, regret + more)) >= found - 1e-9


@given(st.integers(1, 24))
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_three_regimes_come_out_right_at_any_number_of_plays(variant: str, plays: int) -> None:
    mastered = scored([1.0] * plays, [1.0] * plays, variant)
    hopeless = scored([0.0] * plays, [0.0] * plays, variant)
    frontier = scored([0.0] * plays, [1.0] * plays, variant)
    assert (mastered.designer_reward, hopeless.designer_reward) == (0.0, 0.0)
    assert frontier.regret == 1.0
    assert frontier.designer_reward == {"blend": pytest.approx(0.4), "solve_rate": 0.0}.get(variant, 1.0)


@given(returns_G, returns_G, st.sampled_from(VARIANTS))
def test_regret_is_the_mean_difference_over_pairs_and_variants_are_made_of_it(
    plain: list[float], hinted: list[float], variant: str
) -> None:
    found = scored(list(plain), list(hinted), variant)
    pairs = list(zip(plain, hinted, strict=False))
    assert found.regret == pytest.approx(fmean(h - p for p, h in pairs))
    assert found.regret_pairs == len(pairs)
    assert (found.plain.measured, found.plain.asked) == (len(plain), len(plain))
    assert found.regret is not None
    worth = {
        "regret": max(0.0, found.regret),
        "signed_regret": found.regret,
        "solve_rate": plateau(found.plain.win_rate or 0.0),
        "blend": blend(found.plain.win_rate or 0.0, found.regret),
    }
    assert found.designer_reward == pytest.approx(worth[variant])
