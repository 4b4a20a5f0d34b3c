"""The co-evolution benchmark's designs: no cell twice in a cycle, whoever designs."""

from random import Random

from benchmarks.coevolve.designing import Oracle, by_model, distinct, fixed_pool
from benchmarks.coevolve.world import SKILLS, cells, open_cells
from spade.messages import Completion, Request

COUNT = 30


class FirstChoice:
    """Writes the first line it may."""

    name = weights = "first"

    async def complete(self, request: Request) -> Completion:
        assert request.guide is not None
        return Completion(request.guide.choices[0], self.name, self.weights)


async def test_a_model_with_one_favourite_designs_another_cell_each_time() -> None:
    first = open_cells(SKILLS[0])[0].text
    made = await by_model(FirstChoice(), COUNT, {}, 1, 0, set())
    again = await by_model(FirstChoice(), COUNT, {}, 1, 1, {first})

    assert len({d.cell for d in made}) == len({d.cell for d in again}) == COUNT
    assert [d.skill for d in made] == [SKILLS[n % len(SKILLS)] for n in range(COUNT)]
    assert first in {d.cell.text for d in made} - {d.cell.text for d in again}
    assert not any(d.cell.held for d in made)


async def test_a_design_under_fewer_choices_is_the_one_that_is_learned_from() -> None:
    made = await by_model(FirstChoice(), COUNT, {}, 1, 0, set())
    assert all(d.attempt is not None and d.attempt.completion.text == f"{d.cell.text} {d.plan}" for d in made)


def test_pool_and_oracle_draw_no_cell_twice() -> None:
    pool = fixed_pool(450, 1)
    kept = distinct(pool)
    assert kept[0] is pool[0]
    assert len(kept) == len({d.cell for d in pool}) < len(pool)

    oracle = Oracle()
    for cell in cells("dial"):
        oracle.saw(cell, 4, 8)
    drawn = oracle.draw(COUNT, Random(1))
    assert len({d.cell for d in drawn}) == COUNT
