"""Deployments of `prefect.yaml` on a server: registered when they changed, schedules as people switched them."""

import hashlib
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spade.errors import Abort

if TYPE_CHECKING:
    from prefect.client.orchestration import PrefectClient
    from prefect.client.schemas.responses import DeploymentResponse

POOL = "spade"
TAG = "spade"
DEPLOY_SECONDS = 120.0


def prefect_file() -> Path:
    """`prefect.yaml` of this checkout, or the copy that is installed with the package."""
    here = Path(__file__).resolve().parent
    return next(p for p in (here.parent / "prefect.yaml", here / "prefect.yaml") if p.is_file())


def stamp(file: Path) -> str:
    """What says whether deployments are current: the file, the version, and the folder that flows run in."""
    parts = (file.read_bytes(), version("spade-factory").encode(), str(Path.cwd()).encode())
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:12]


async def register(client: "PrefectClient", file: Path, log: Path) -> bool:
    """Have the pool and the deployments of `file`; whether anything had to be registered.

    Schedules that somebody switched on or off stay as they are. Raises `Abort` with the end of the log.
    """
    from prefect.client.schemas.actions import DeploymentUpdate

    await _have_pool(client)
    before = await deployments(client)
    wanted = stamp(file)
    if before and all(d.version == wanted for d in before):
        return False
    _deploy(file, log)
    for deployment in await deployments(client):
        was = next((d for d in before if d.id == deployment.id), None)
        if was is not None:
            await _switched_as(client, was, deployment)
        await client.update_deployment(deployment.id, DeploymentUpdate(version=wanted))
    return True


async def deployments(client: "PrefectClient") -> "list[DeploymentResponse]":
    """The factory's deployments."""
    from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterTags

    return await client.read_deployments(deployment_filter=DeploymentFilter(tags=DeploymentFilterTags(all_=[TAG])))


async def _have_pool(client: "PrefectClient") -> None:
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.exceptions import ObjectAlreadyExists

    description = "Flow runs of the factory, as processes on this machine."
    try:
        await client.create_work_pool(WorkPoolCreate(name=POOL, type="process", description=description))
    except ObjectAlreadyExists:
        return


def _deploy(file: Path, log: Path) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "prefect", "--no-prompt", "deploy", "--all", "--prefect-file", str(file)]
    with log.open("ab") as sink:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, timeout=DEPLOY_SECONDS)
    if done.returncode:
        said = log.read_text("utf-8", "replace").strip().splitlines()[-1:]
        raise Abort(f"The deployments of {file} could not be registered: {' '.join(said)}", f"Its log is {log}.")


async def _switched_as(client: "PrefectClient", was: Any, now: Any) -> None:
    if was.paused:
        await client.pause_deployment(now.id)
    active = {s.slug: s.active for s in was.schedules if s.slug}
    for schedule in now.schedules:
        if schedule.slug in active and active[schedule.slug] != schedule.active:
            await client.update_deployment_schedule(now.id, schedule.id, active=active[schedule.slug])
