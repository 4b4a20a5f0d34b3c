"""Held-out suites on a model: put the tasks, mark the replies, and say what is missing."""

from typing import Annotated, Any

from prefect import flow
from prefect.runtime import flow_run
from pydantic import Field

from data.benchmarks.registry import wanted
from data.catalog import Catalog
from flows.benching import Asked, open_evaluated, opened, planned
from flows.configuring import flags_of, load_settings, run_flags
from flows.observing import observed
from tasks.evaluating import Bench, evaluate_suite
from tasks.showing_results import show_results


def _run_name() -> str:
    given = flow_run.parameters
    return f"evaluate {' '.join(given.get('suites') or [])} {given.get('label') or given.get('model') or ''}".strip()


@flow(name="evaluate", flow_run_name=_run_name)
async def evaluate(  # noqa: PLR0913 - a deployment's form has one field a parameter
    suites: Annotated[list[str], Field(min_length=1)],
    model: str | None = None,
    base_url: str | None = None,
    tasks: Annotated[int | None, Field(ge=1)] = None,
    samples: Annotated[int | None, Field(ge=1)] = None,
    temperature: Annotated[float | None, Field(ge=0, le=2)] = None,
    max_tokens: Annotated[int | None, Field(ge=1)] = None,
    seed: int | None = None,
    label: str = "",
    update: Annotated[int | None, Field(ge=0)] = None,
    context: Annotated[int | None, Field(ge=256)] = None,
    profile: str = "starter",
    home: str | None = None,
) -> list[dict[str, Any]]:
    """Evaluate a model on held-out suites. What is stored is not asked again, so a run that was killed goes on.

    Args:
        suites: Suites by name with options, such as reasoning-gym:level=hard (docs/evaluation.md lists all).
        model: The model's name at the endpoint, a weights source (package:NAME, path:FILE, hub:REPO/FILE.gguf), or a
            checkpoint of the training folder (checkpoint:latest, checkpoint:40, an id or a folder).
        base_url: OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1; the embedded model when empty.
        tasks: Tasks of each group of a suite; all when empty.
        samples: Samples of each task; the suite's own number when empty.
        temperature: Sampling temperature; the suite's own when empty.
        max_tokens: New tokens per reply; the suite's own when empty.
        seed: Seed of tasks and samples; the suite's own when empty.
        label: What the model is called in tables; a checkpoint's own name when empty.
        update: Place of the checkpoint on the training axis, for the plot; a checkpoint's own when empty.
        context: Context of one sequence on the embedded server, in tokens.
        profile: Settings profile.
        home: Folder of run artifacts; var when empty.
    """
    flags = run_flags(seed=None, slots=None, plays=None, model=model, base_url=base_url, home=home)
    settings = load_settings(profile, _with_context(flags, context))
    catalog = Catalog(settings.home, settings.store)
    asked = Asked(tasks, samples, temperature, max_tokens, seed, label, update)
    each = [wanted(text) for text in suites]
    made = []
    async with observed(settings) as looking, open_evaluated(settings) as answering:
        for one in each:
            async with opened(one, settings, catalog) as suite:
                put = (answering.model.name, answering.model.weights)
                evaluation, questions = await planned(suite, one, answering.asked(asked), put)
                bench = Bench(catalog, suite, answering.model, settings.model.concurrency, looking.watcher)
                scores = await evaluate_suite(bench, evaluation, questions)
            looking.watcher.saw("evaluated", one.name, score=scores[-1].score)
            made.append(evaluation.evaluation_id)
    return await show_results(catalog, settings.home, made)


def _with_context(flags: dict[str, Any], context: int | None) -> dict[str, Any]:
    added = flags_of(model__context=context)
    return {**flags, "model": {**flags.get("model", {}), **added.get("model", {})}} if added else flags
