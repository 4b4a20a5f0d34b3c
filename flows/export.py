"""A dataset on demand or by schedule: any kind, over all cycles or some, behind its expectations."""

from pathlib import Path
from typing import Annotated, Any

from prefect import flow, get_run_logger
from prefect.runtime import flow_run
from pydantic import Field

from data.catalog import Catalog
from data.export import Plan
from data.human import take_in_human
from flows.configuring import flags_of, load_settings
from spade.errors import Abort
from spade.settings import FactorySettings
from tasks.exporting import export_dataset


def _run_name() -> str:
    return f"export {flow_run.parameters.get('kind')} {flow_run.parameters.get('name') or ''}".strip()


@flow(name="export", flow_run_name=_run_name)
async def export(  # noqa: PLR0913 - a deployment's form has one field a parameter
    kind: str = "sft",
    name: str | None = None,
    cycles: list[str] | None = None,
    test_share: Annotated[float, Field(ge=0, lt=1)] = 0.0,
    seed: int = 0,
    license: str = "other",
    environments: Annotated[int | None, Field(ge=1)] = None,
    human_share: Annotated[float, Field(ge=0, lt=1)] = 0.0,
    human: str | None = None,
    allow_overlap: bool = False,
    profile: str = "starter",
    home: str | None = None,
) -> dict[str, Any]:
    """Write a dataset of everything that is fit for it. Returns its id, rows and folder; rows is 0 when there is none.

    The same selection gives the same bytes and the same id, so that a schedule that finds nothing new adds nothing.
    Fails, with a page that names the rows, when an expectation does not hold.

    Args:
        kind: What the rows are for, such as sft, dpo, kto, grpo, verl, gymnasium, openenv (docs/datasets.md lists all).
        name: The dataset's name in its manifest and card; the kind when empty.
        cycles: Ids of the cycles to take from; all when empty.
        test_share: Share of documents whose rows go into a test split.
        seed: Seed of the split.
        license: Licence for the dataset card, as hubs name it.
        allow_overlap: Write rows too that come from what repeats held-out tasks.
        environments: For kinds whose rows are tasks: at most so many environments, those first that the latest agent is
            expected to win in 30 to 70 plays of 100, a tenth harder ones.
        human_share: Share of rows that people wrote, of the kind sft-mixed.
        human: JSONL file of such rows to take in first: messages, or prompt and completion.
        profile: Settings profile; it only says where the home is.
        home: Folder of run artifacts; var when empty.
    """
    settings = load_settings(profile, flags_of(home=home))
    catalog = _opened(settings)
    shares = {"train": 1.0 - test_share, "test": test_share} if test_share else {"train": 1.0}
    chosen: dict[str, Any] = {"environments": environments, "human_share": human_share, "allow_overlap": allow_overlap}
    plan = Plan(kind, name or kind, "", cycles or None, shares, seed, license, **chosen)
    try:
        if human:
            _take_in(catalog, Path(human), license)
        exported = await export_dataset(catalog, settings.home, plan)
    finally:
        catalog.close()
    if exported is None:
        return {"dataset_id": "", "rows": 0, "folder": ""}
    dataset = exported.dataset
    return {"dataset_id": dataset.dataset_id, "rows": dataset.rows, "folder": str(exported.folder)}


def _opened(settings: FactorySettings) -> Catalog:
    catalog = Catalog(settings.home, settings.store)
    if not catalog.exists():
        raise Abort(f"There is no catalog in {settings.home} yet.", "Start with `spade run`, or give --home.")
    return catalog


def _take_in(catalog: Catalog, path: Path, license: str) -> None:
    """Store what people wrote; lines that are no conversation are named and left out."""
    taken = take_in_human(catalog, path, license)
    for number, why in taken.broken:
        get_run_logger().warning("%s, line %d was left out: %s", path.name, number, why)
