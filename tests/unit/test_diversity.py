from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from spade.diversity import Pool, Twin, pool_verdicts, structural_hash
from spade.near_code import jaccard, marks, runs
from spade.ports import Recalled
from spade.verdicts import Status, Verdict

GAME = '''
class GuessEnv:
    """Guess."""
    def reset(self, seed=None):
        limit = 9
        return f"Guess up to {limit}", {}
'''


def test_names_texts_and_comments_do_not_make_a_new_environment() -> None:
    renamed = GAME.replace("GuessEnv", "DiveEnv").replace("limit", "depth").replace("Guess up to", "# Dive to")
    assert structural_hash(renamed) == structural_hash(GAME)


def test_another_number_or_another_structure_does() -> None:
    assert structural_hash(GAME.replace("9", "30")) != structural_hash(GAME)
    assert structural_hash(GAME.replace("return", "limit += 1\n        return")) != structural_hash(GAME)


def test_each_rejection_names_its_neighbour() -> None:
    structure = structural_hash(GAME)
    near = [Recalled("env-b", 0.95, {})]

    def failed(pool: Pool) -> dict[str, str]:
        return {v.gate: v.message for v in pool_verdicts("env-a", structure, pool) if not v.passed}

    assert failed(Pool({})) == {}
    assert "env-a" in failed(Pool({structure: "env-a"}))["pool.exact"]
    assert "env-c" in failed(Pool({structure: "env-c"}))["pool.structural"]
    assert "env-b" in failed(Pool({}, near))["pool.meaning"]
    assert failed(Pool({}, near, semantic=False)) == {}


def test_code_that_is_mostly_anothers_is_refused_and_names_it_and_templates_only_warn() -> None:
    twin = Twin("env-b", 0.9)

    def verdict(pool: Pool) -> Verdict:
        return next(v for v in pool_verdicts("env-a", "s", pool) if v.gate == "pool.code")

    assert verdict(Pool({}, code=twin)).status is Status.FAIL
    assert "env-b" in verdict(Pool({}, code=twin)).message
    assert verdict(Pool({}, code=twin, templated=True)).status is Status.WARN
    assert verdict(Pool({}, code=Twin("env-b", 0.79))).status is Status.PASS


def test_a_form_of_an_older_cycle_may_come_again_and_one_of_this_cycle_may_not() -> None:
    """Forms are few: a factory that runs for weeks would refuse all of them."""
    structure = structural_hash(GAME)

    def verdict(**changed: Any) -> Verdict:
        pool = Pool({structure: "env-c"}, cycles={"env-c": "cycle-1"}, cycle_id="cycle-2", **changed)
        return next(v for v in pool_verdicts("env-a", structure, pool) if v.gate == "pool.structural")

    assert verdict(templated=True).status is Status.WARN
    assert "env-c" in verdict(templated=True).message
    assert verdict().status is Status.FAIL, "a program that somebody wrote is not written twice"
    mine = Pool({structure: "env-c"}, cycles={"env-c": "cycle-2"}, cycle_id="cycle-2", templated=True)
    assert not all(v.passed for v in pool_verdicts("env-a", structure, mine))


def test_what_is_close_in_meaning_warns_before_it_is_refused() -> None:
    def status(similarity: float) -> Status:
        pool = Pool({}, [Recalled("env-b", similarity, {})])
        return next(v.status for v in pool_verdicts("env-a", "s", pool) if v.gate == "pool.meaning")

    assert [status(s) for s in (0.84, 0.85, 0.92)] == [Status.PASS, Status.WARN, Status.FAIL]


def test_a_full_cluster_refuses_and_names_its_nearest() -> None:
    def verdict(**changes: Any) -> Verdict:
        pool = Pool({}, cluster=("env-b", "env-c"), cluster_most=2)
        return pool_verdicts("env-a", "s", replace(pool, **changes))[-1]

    assert verdict().status is Status.FAIL
    assert "env-b" in verdict().message
    assert verdict(semantic=False).status is Status.WARN
    assert verdict(cluster_most=3).status is Status.PASS


def test_runs_of_tokens_leave_texts_comments_and_layout_aside() -> None:
    assert runs('x = f("one")  # why\n') == runs("x=f('two, three')")
    assert runs('x = f("one")') != runs('x = f("one", 2)')
    assert jaccard(marks("a"), marks("a")) == 1.0


@given(st.text(), st.text())
def test_jaccard_is_symmetrical_between_0_and_1_and_1_for_itself(one: str, other: str) -> None:
    first, second = marks(one), marks(other)
    sets = runs(one), runs(other)
    assert jaccard(first, second) == jaccard(second, first) == len(sets[0] & sets[1]) / len(sets[0] | sets[1])
    assert 0.0 <= jaccard(first, second) <= jaccard(first, first) == 1.0
