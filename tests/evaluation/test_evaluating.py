"""Taking samples: what is stored is not asked again, what failed is, and tables say what they show."""

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest

from data.benchmarks.registry import wanted
from data.catalog import Catalog
from data.results import results_html, stored_results, write_page
from data.tables import SAMPLES
from spade.errors import Abort, Retry, Skip, TooLong
from spade.evaluation import Evaluation, Put, Question, SampleOutcome
from spade.evaluation_scores import GroupScore, group_scores
from spade.messages import Completion, Request
from spade.ports import Model
from spade.published import Published, read_published
from spade.results import comma_separated, latex, markdown, tables
from tasks.evaluating import Bench, due, stored_samples, take_samples
from tests.fakes import RuleModel, ScriptedModel, SumSuite


def adding(request: Request) -> str:
    """Right, but for sums of 3 and more."""
    a, b = map(int, re.findall(r"\d+", request.messages[-1].content))
    return str(a + b) if a < 3 else "I cannot."


def run(
    catalog: Catalog, model: Model, suite: SumSuite | None = None, tasks: int = 4, samples: int = 1, label: str = ""
) -> tuple[Evaluation, tuple[GroupScore, ...]]:
    """The real runner, less Prefect."""

    async def taken() -> Evaluation:
        asked = suite or SumSuite()
        questions = await asked.questions(tasks, 0)
        put = Put(model.name, model.weights, asked.card, (), replace(asked.protocol, samples=samples))
        ids, groups = tuple(q.task_id for q in questions), tuple(q.group for q in questions)
        evaluation = Evaluation(put, ids, groups, label)
        catalog.append("evaluations", [evaluation])
        await take_samples.fn(Bench(catalog, asked, model), evaluation, questions)
        return evaluation

    evaluation = asyncio.run(taken())
    return evaluation, group_scores(evaluation, stored_samples(catalog, evaluation))


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return Catalog(tmp_path)


def test_scores_and_replies_are_stored(catalog: Catalog) -> None:
    _, (small, large, whole) = run(catalog, RuleModel(adding))
    assert (small.score, large.score, whole.score) == (0.75, 0.75, 0.75)
    assert whole.outcomes == (("scored", 6), ("no_answer", 2))
    samples = catalog.read(SAMPLES)
    assert {s.replies[0] for s in samples} == {"0", "1", "2", "I cannot."}
    assert all(s.prompt_tokens == 10 and s.completion_tokens == 2 for s in samples)


def test_what_is_stored_is_not_asked_again(catalog: Catalog) -> None:
    """The same evaluation asks nothing; more tasks and samples ask for the rest only."""
    run(catalog, RuleModel(adding))
    for tasks, samples, calls in ((4, 1, 0), (6, 1, 4), (6, 2, 12)):
        model = RuleModel(adding)
        run(catalog, model, tasks=tasks, samples=samples)
        assert len(model.requests) == calls


def test_an_endpoint_that_dies_in_the_middle_leaves_what_was_measured(catalog: Catalog) -> None:
    """The run stops with the endpoint's own words; the next run takes what is missing and nothing else."""
    dying = ScriptedModel("0", "1", Abort("the endpoint is gone."))
    with pytest.raises(Abort, match="the endpoint is gone"):
        run(catalog, dying)
    stored = len(catalog.read(SAMPLES))
    model = ScriptedModel("3")
    run(catalog, model)
    assert stored + len(model.requests) == 8


def test_failures_are_tried_again_and_counted(catalog: Catalog) -> None:
    _, (*_, whole) = run(catalog, ScriptedModel(Retry("busy.")))
    assert (whole.score, whole.outcomes) == (None, (("model_error", 8),))
    assert len(catalog.read(SAMPLES)) == 16
    _, (*_, whole) = run(catalog, ScriptedModel("2"))
    assert (whole.measured, whole.outcomes) == (8, (("scored", 8),))


def test_a_refused_request_and_a_broken_marker_are_no_zeros(catalog: Catalog) -> None:
    _, (*_, refused) = run(catalog, ScriptedModel(Skip("filtered.")))
    assert (refused.measured, refused.outcomes) == (0, (("model_refused", 8),))
    _, (*_, longer) = run(catalog, ScriptedModel("3", "3", TooLong("9,000 tokens."), "3"))
    assert (longer.measured, longer.asked, dict(longer.outcomes)["too_long"]) == (7, 8, 1)
    _, (*_, broken) = run(catalog, RuleModel(adding), SumSuite(broken=[0]))
    assert (broken.measured, broken.score) == (6, pytest.approx(2 / 3))
    assert dict(broken.outcomes)[SampleOutcome.MARKER_ERROR.value] == 2


def test_tasks_that_begin_alike_are_taken_one_after_another(catalog: Catalog) -> None:
    """And others meanwhile: a prompt cache serves the later ones, and nothing else waits."""

    class Alike(SumSuite):
        async def questions(self, tasks: int | None, seed: int) -> list[Question]:
            return [replace(q, alike=q.group) for q in await super().questions(tasks, seed)]

    class Watching(RuleModel):
        def __init__(self) -> None:
            super().__init__(adding)
            self.now, self.most = 0, 0

        async def complete(self, request: Request) -> Completion:
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0)
            self.now -= 1
            return await super().complete(request)

    apart, alike = Watching(), Watching()
    run(Catalog(catalog.folder / "apart"), apart)
    _, (*_, whole) = run(catalog, alike, Alike())
    assert (apart.most, alike.most, whole.measured) == (8, 2, 8)
    mixed = [Question(f"t{n}", "all", {}, alike) for n, alike in enumerate("abab")]
    evaluation = Evaluation(Put("m", "w", SumSuite.card, (), SumSuite.protocol), (), ())
    assert [each.question.task_id for each in due(evaluation, mixed, [])] == ["t0", "t2", "t1", "t3"]


def test_a_reply_cut_at_the_token_limit_is_named_so(catalog: Catalog) -> None:
    class Cut(RuleModel):
        async def complete(self, request: Request):  # type: ignore[no-untyped-def]
            return replace(await super().complete(request), finish_reason="length")

    _, (*_, whole) = run(catalog, Cut(lambda request: "Let me think"))
    assert whole.outcomes == (("cut_short", 8),)
    assert whole.score == 0.0


def test_tables_of_real_results(catalog: Catalog) -> None:
    """One row a model; another protocol and missing samples are marked; published rows stand apart."""
    run(catalog, RuleModel(adding), label="base|1")
    run(catalog, ScriptedModel("0"), label="trained")
    run(catalog, ScriptedModel("1"), tasks=2, label="fewer tasks")
    theirs = Published("sums", "Theirs", "a paper", (("small", 0.5),), "They ask four times.")
    (table,) = tables(stored_results(catalog), [theirs])
    assert [row[0] for row in table.rows] == ["base|1", "trained", "fewer tasks †", "Theirs ‡"]
    assert table.rows[0][1].startswith("0.750 [")
    assert table.rows[3] == ("Theirs ‡", "0.500", "–", "–", "–", "–", "–")
    text = markdown(table)
    assert "base\\|1" in text
    assert "other tasks (4 against 8)" in text
    assert "published by a paper, not measured here. They ask four times." in text
    assert r"$^\dagger$" in latex(table)
    assert latex(table).count(r"\midrule") == 2
    rows = comma_separated([table]).splitlines()
    assert 'sums,base|1,measured,small,"0.750 [0.250, 1.000]"' in rows
    assert 'sums,Theirs ‡,"published, not measured here",small,0.500' in rows


def test_a_table_with_missing_samples_says_so(catalog: Catalog) -> None:
    run(catalog, RuleModel(adding), SumSuite(broken=[0]))
    (table,) = tables(stored_results(catalog))
    assert table.rows[0][-1] == "2 marker_error"
    assert table.rows[0][1].endswith("*")
    assert "* some of the samples" in markdown(table)


def test_the_page_shows_what_is_stored_and_no_markup_of_a_model(catalog: Catalog, tmp_path: Path) -> None:
    run(catalog, RuleModel(adding), label="<script>alert(1)</script>")
    page = write_page(catalog, tmp_path).read_text("utf-8")
    assert "&lt;script&gt;" in page
    assert "<script>" not in page
    assert "Nothing was evaluated" in results_html([])


def test_checkpoints_make_a_chart(catalog: Catalog) -> None:
    for place, model in ((0, ScriptedModel("9")), (10, RuleModel(adding))):
        evaluation, _ = run(catalog, model, label=f"update {place}")
        catalog.append("evaluations", [replace(evaluation, place=place)])
    assert "sums over updates" in results_html(stored_results(catalog))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("nothing", "There is no suite 'nothing'"),
        ("reasoning-gym:level", "has no option 'level' with a value"),
        ("reasoning-gym:depth=3", "has no option 'depth'"),
    ],
)
def test_a_wrong_suite_is_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(Abort, match=sentence):
        wanted(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[[row]]\nsuite = 'sums'", "row 1 of rows.toml lacks suite"),
        ("[[row]]\nsuite='s'\nname='n'\nsource='p'\n[row.values]\nall = 45.0", "no number from 0 to 1"),
        ("[[row", "not valid TOML"),
    ],
)
def test_published_rows_need_a_source_and_shares(text: str, sentence: str) -> None:
    with pytest.raises(Abort, match=sentence):
        read_published(text, "rows.toml")
