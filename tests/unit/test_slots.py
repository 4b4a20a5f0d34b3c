from hypothesis import given
from hypothesis import strategies as st

from spade.documents import cut_at_paragraph
from spade.skills import GAME_SKILLS, Setting
from spade.slots import Cycle, active_skills, plan_slots


def test_slots_take_documents_and_skills_in_turn() -> None:
    cycle = Cycle("hash", seed=7, number=2)
    slots = plan_slots(cycle, Setting.GAMES, [f"doc-{i}" for i in range(7)])

    assert [slot.document_id for slot in slots] == [f"doc-{i}" for i in range(7)]
    assert len({slot.skill for slot in slots}) == 3
    assert len({slot.slot_id for slot in slots}) == 7
    assert slots == plan_slots(cycle, Setting.GAMES, [f"doc-{i}" for i in range(7)])


@given(st.integers(0, 2**31), st.integers(0, 50))
def test_an_epoch_of_cycles_trains_every_skill_once(seed: int, epoch: int) -> None:
    skills = active_skills(Setting.GAMES, 2 * epoch, seed) + active_skills(Setting.GAMES, 2 * epoch + 1, seed)
    assert sorted(skills) == sorted(GAME_SKILLS)


def test_all_triples_of_skills_occur() -> None:
    """Two fixed halves would never mix, say, spatial reasoning with optimization."""
    triples = {frozenset(active_skills(Setting.GAMES, number, seed=1)) for number in range(400)}
    assert len(triples) == 20


@given(st.lists(st.text(alphabet="ab \n", max_size=30), max_size=8).map("\n\n".join), st.integers(1, 30))
def test_a_cut_document_is_a_prefix_within_the_limit(text: str, limit: int) -> None:
    cut = cut_at_paragraph(text, limit)
    assert len(cut.split()) <= limit
    assert text.split()[: len(cut.split())] == cut.split()
    if len(text.split()) <= limit:
        assert cut == text
