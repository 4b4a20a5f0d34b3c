"""Which episodes enter which pool, with which reason; pairs, splits and contamination."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.contamination import EvaluationData
from spade.curation import Decision, Evidence, Pool, Rules, decide, decide_positives, latin_share
from spade.episodes import Arm, Episode
from spade.outcomes import EpisodeOutcome
from spade.pairs import preference_pairs
from spade.splits import clusters, split_of
from tests.data.records import episode

WIN, LOSS = episode(play=0), episode(play=1, won=False)
KNOWN = Evidence(replayed=frozenset({WIN.episode_id}), solvable=frozenset({"env-0"}))


def by_pool(
    episodes: list[Episode], evidence: Evidence = KNOWN, rules: Rules | None = None
) -> dict[Pool, list[Decision]]:
    found: dict[Pool, list[Decision]] = {pool: [] for pool in Pool}
    for decision in decide(episodes, evidence, rules or Rules()):
        found[decision.pool].append(decision)
    return found


def test_a_win_and_a_loss_go_where_they_belong() -> None:
    found = by_pool([WIN, LOSS])
    assert [d.reason for d in found[Pool.POSITIVE]] == ["", "lost"]
    assert [d.reason for d in found[Pool.HARD_NEGATIVE]] == ["won", ""]
    assert [d.reason for d in found[Pool.GROUP]] == ["", ""]


SPOILED: list[tuple[str, Callable[[Episode], Episode], Evidence, Rules]] = [
    ("hinted arm", lambda e: replace(e, asked=replace(e.asked, arm=Arm.HINTED)), KNOWN, Rules()),
    ("not measured: env_error", lambda e: replace(e, outcome=EpisodeOutcome.ENV_ERROR, return_=None), KNOWN, Rules()),
    ("not stored as it was", lambda e: e, replace(KNOWN, blemished=frozenset({WIN.episode_id})), Rules()),
    ("left out by a person", lambda e: e, replace(KNOWN, left_out=frozenset({"env-0"})), Rules()),
    ("a turn without a boxed action", lambda e: replace(e, turns=(replace(e.turns[0], reply="5"),)), KNOWN, Rules()),
    ("a guided turn", lambda e: e, KNOWN, Rules(guided=False)),
    ("more than 1 turns", lambda e: e, KNOWN, Rules(max_turns=1)),
    ("longer than 10 characters", lambda e: e, KNOWN, Rules(max_characters=10)),
    ("not in Latin script", lambda e: replace(e, turns=(replace(e.turns[0], reply="猜 \\boxed{五}"),)), KNOWN,
     Rules(latin_share=0.9)),
    ("contaminated: 13 words", lambda e: e, replace(KNOWN, contaminated={WIN.episode_id: "13 words"}), Rules()),
    ("replay differs", lambda e: e, replace(KNOWN, replayed=frozenset()), Rules()),
]  # fmt: skip


@pytest.mark.parametrize(("reason", "spoil", "evidence", "rules"), SPOILED, ids=[s[0] for s in SPOILED])
def test_every_reason_against_a_positive(
    reason: str, spoil: Callable[[Episode], Episode], evidence: Evidence, rules: Rules
) -> None:
    assert [d.reason for d in by_pool([spoil(WIN)], evidence, rules)[Pool.POSITIVE]] == [reason]


def test_the_first_of_equal_transcripts_stays() -> None:
    twin = replace(WIN, asked=replace(WIN.asked, play=9))
    evidence = replace(KNOWN, replayed=frozenset({WIN.episode_id, twin.episode_id}))
    assert [d.reason for d in by_pool([WIN, twin], evidence)[Pool.POSITIVE]] == ["", "duplicate transcript"]


def test_a_loss_that_nobody_can_win_teaches_nothing() -> None:
    found = by_pool([LOSS], replace(KNOWN, solvable=frozenset()))
    assert [d.reason for d in found[Pool.HARD_NEGATIVE]] == ["not proven solvable"]


def test_groups_need_spread_and_tokens() -> None:
    lost = replace(LOSS, turns=(replace(LOSS.turns[0], tokens=None),))
    assert {d.reason for d in by_pool([WIN])[Pool.GROUP]} == {"all returns of the group are equal"}
    reasons = [d.reason for d in by_pool([WIN, lost])[Pool.GROUP]]
    assert reasons == ["", "tokens or log-probabilities are missing"]


def test_other_rules_are_other_decisions() -> None:
    one, other = (by_pool([WIN], rules=rules)[Pool.POSITIVE][0] for rules in (Rules(), Rules(max_turns=3)))
    assert one.decision_id != other.decision_id
    assert list(decide([WIN, LOSS], KNOWN)) == list(decide([WIN, LOSS], KNOWN))
    assert [d.kept for d in decide_positives([WIN, LOSS], KNOWN.replayed)] == [True, False]


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(1, 3)), max_size=12))
def test_pairs_are_fair_and_use_nobody_twice(plays: list[tuple[bool, int, int]]) -> None:
    episodes = [
        replace(episode(play=100 + i, won=won, turns=turns), asked=replace(episode().asked, play=i, seed=seed))
        for i, (won, seed, turns) in enumerate(plays)
    ]
    same = [replace(e, turns=tuple(replace(t, observation="Start.") for t in e.turns)) for e in episodes]
    by_id = {e.episode_id: e for e in same}
    pairs = list(preference_pairs([e for e in same if e.won], [e for e in same if not e.won]))

    for pair in pairs:
        assert by_id[pair.chosen_id].won
        assert not by_id[pair.rejected_id].won
        assert by_id[pair.chosen_id].asked.seed == by_id[pair.rejected_id].asked.seed
    used = [i for pair in pairs for i in (pair.chosen_id, pair.rejected_id)]
    assert len(used) == len(set(used))
    seeds = {seed for _, seed, _ in plays}
    wins = {seed: sum(w for w, s, _ in plays if s == seed) for seed in seeds}
    losses = {seed: sum(not w for w, s, _ in plays if s == seed) for seed in seeds}
    assert len(pairs) == sum(min(wins[seed], losses[seed]) for seed in seeds)


def test_no_pair_where_the_tasks_differ() -> None:
    """The same seed, another first observation: an environment that is not what it was."""
    other = replace(LOSS, turns=(replace(LOSS.turns[0], observation="Something else."),))
    assert list(preference_pairs([WIN], [other])) == []


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=3), max_size=8), st.integers(0, 99))
def test_what_is_linked_lands_in_one_split(links: list[list[str]], seed: int) -> None:
    named = clusters(links)
    shares = {"train": 0.5, "validation": 0.3, "test": 0.2}
    splits = {item: split_of(cluster, shares, seed) for item, cluster in named.items()}
    assert set(named) == {item for link in links for item in link}
    assert all(len({splits[item] for item in link}) == 1 for link in links)
    assert named == clusters(reversed(links))


def test_splits_have_about_their_shares() -> None:
    drawn = [split_of(f"c{i}", {"train": 0.8, "test": 0.2}, 0) for i in range(2000)]
    assert 0.76 < drawn.count("train") / 2000 < 0.84
    assert split_of("any", {"train": 1.0}, 0) == "train"


def test_a_shared_run_of_words_is_contamination() -> None:
    question = "Natalia sold clips to 48 of her friends in April, and then she sold half as many clips in May."
    data = EvaluationData()
    data.add("GSM8K", [question])
    assert data.shared(f"Game: {question.upper().replace(',', ';')} Go!").startswith(
        "13 words with GSM8K: natalia sold"
    )
    assert data.shared("Natalia sold clips to 48 of her friends in June, then none in May.") == ""


def test_latin_share() -> None:
    assert latin_share("Ångström, café 123") == 1.0
    assert latin_share("123 !") == 1.0
    assert latin_share("abcд") == 0.75
