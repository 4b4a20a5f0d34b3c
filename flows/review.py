"""Rows before people in the Prefect UI: the run pauses at each, and its form is the question."""

from typing import Annotated, Any

from prefect import flow
from prefect.flow_runs import apause_flow_run
from prefect.runtime import flow_run
from pydantic import Field

from data.catalog import Catalog
from data.reviewing import queue_rows, waiting_for
from flows.configuring import flags_of, load_settings
from spade.errors import Abort
from tasks.asking import RowVerdict, row_page

POLL_SECONDS = 5
"""Between two looks at whether the form was sent."""


@flow(name="review", flow_run_name="review {rows} rows")
async def review(  # noqa: PLR0913 - a deployment's form has one field a parameter
    rows: Annotated[int, Field(ge=1, le=200)] = 10,
    reviewer: str = "",
    dataset: str = "",
    seed: int = 0,
    hours: Annotated[float, Field(gt=0, le=168)] = 24.0,
    profile: str = "starter",
    home: str | None = None,
) -> dict[str, Any]:
    """Ask people about rows of a dataset, one after another: the run pauses, *Resume* shows the row and the form.

    Each verdict is stored when it is sent. A run that is cancelled, or that nobody answers in time, leaves the other
    rows in the queue; `spade review` in the terminal works on the same one. Returns how many were reviewed and wait.

    Args:
        rows: How many rows to ask about; new ones are drawn where fewer wait.
        reviewer: Whose queue it is, and the name that the form begins with; rows this person has seen are left out.
        dataset: Id of the dataset to draw from; the newest of plays when empty.
        seed: Seed of the draw.
        hours: How long to wait for an answer before the run ends.
        profile: Settings profile; it only says where the home is.
        home: Folder of run artifacts; var when empty.
    """
    settings = load_settings(profile, flags_of(home=home))
    catalog = Catalog(settings.home, settings.store)
    if not catalog.exists():
        raise Abort(f"There is no catalog in {settings.home} yet.", "Start with `spade run`, or give --home.")
    try:
        waiting = waiting_for(catalog, reviewer)
        if len(waiting) < rows:
            queue_rows(catalog, dataset, rows - len(waiting), seed)
            waiting = waiting_for(catalog, reviewer)
        asked = waiting[:rows]
        for number, row in enumerate(asked, 1):
            form = RowVerdict.with_initial_data(
                description=row_page(catalog, row, f"{number} of {len(asked)}"),
                **({"reviewer": reviewer} if reviewer else {}),
            )
            said = await apause_flow_run(
                wait_for_input=form, timeout=round(3600 * hours), poll_interval=POLL_SECONDS, key=row.row_id
            )
            catalog.append("reviews", [said.review(row)])
        return {"reviewed": len(asked), "waiting": len(waiting) - len(asked), "run": str(flow_run.id or "")}
    finally:
        catalog.close()
