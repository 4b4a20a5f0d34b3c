"""What follows from what by itself: zombie runs end, alarms pause generation, failures are told, training starts."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from flows.deploying import TAG, deployments
from spade.alarms import ALARM, READY

if TYPE_CHECKING:
    from prefect.client.orchestration import PrefectClient
    from prefect.events.schemas.automations import AutomationCore

PREFIX = "spade: "
NOTICE = '{"run": "{{ flow_run.name }}", "id": "{{ flow_run.id }}", "state": "{{ flow_run.state.name }}"}'
SILENT_SECONDS = 90
"""A run that says nothing for three heartbeats has died with its worker."""
HEARTBEAT = "prefect.flow-run.heartbeat"
ENDS = {
    f"prefect.flow-run.{state}" for state in ("Completed", "Failed", "Cancelled", "Crashed", "Paused", "Interrupted")
}


async def register_automations(client: "PrefectClient", notify_url: str | None) -> list[str]:
    """Have exactly the automations that apply here; their names. What a person switched on or off stays so."""
    ours = [zombies(), *await _pauses(client), *await _training(client), *await _notices(client, notify_url)]
    wanted = {a.name: a for a in ours}
    known = {a.name: a for a in await client.read_automations() if a.name.startswith(PREFIX)}
    for automation in known.values():
        await client.delete_automation(automation.id)
    for name, new in wanted.items():
        new.enabled = known[name].enabled if name in known else new.enabled
        await client.create_automation(new)
    return list(wanted)


def zombies() -> "AutomationCore":
    """A run whose worker died with it would be called running for ever."""
    from prefect.client.schemas.objects import StateType
    from prefect.events.actions import ChangeFlowRunState
    from prefect.events.schemas.automations import AutomationCore, EventTrigger, Posture

    return AutomationCore(
        name=f"{PREFIX}zombie runs",
        description="Marks a run as crashed when its heartbeats stop; the factory then starts one that goes on.",
        trigger=EventTrigger(
            after={HEARTBEAT},
            expect={HEARTBEAT, *ENDS},
            match={"prefect.resource.id": ["prefect.flow-run.*"]},
            for_each={"prefect.resource.id"},
            posture=Posture.Proactive,
            threshold=1,
            within=timedelta(seconds=SILENT_SECONDS),
        ),
        actions=[ChangeFlowRunState(state=StateType.CRASHED, message="No heartbeat: its process is gone.")],
    )


async def _pauses(client: "PrefectClient") -> "list[AutomationCore]":
    """An alarm pauses the deployments that generate, until a person resumes them in the UI."""
    from prefect.events.actions import PauseDeployment
    from prefect.events.schemas.automations import AutomationCore, EventTrigger

    found = [d for d in await deployments(client) if "generate" in d.tags]
    return [
        AutomationCore(
            name=f"{PREFIX}alarm pauses {deployment.name}",
            description="Too much alike, or too many failures: look at the cycle, then resume the deployment.",
            trigger=EventTrigger(expect={ALARM}, threshold=1),
            actions=[PauseDeployment(source="selected", deployment_id=deployment.id)],
        )
        for deployment in found
    ]


async def _training(client: "PrefectClient") -> "list[AutomationCore]":
    """Enough plays that no update has seen start the deployments that train; off until a person switches it on."""
    from prefect.events.actions import RunDeployment
    from prefect.events.schemas.automations import AutomationCore, EventTrigger

    found = [d for d in await deployments(client) if "train" in d.tags]
    return [
        AutomationCore(
            name=f"{PREFIX}train when enough plays are ready",
            description="Starts an update once training.ready_plays plays wait that no update has seen.",
            enabled=False,
            trigger=EventTrigger(expect={READY}, threshold=1),
            actions=[RunDeployment(source="selected", deployment_id=deployment.id)],
        )
        for deployment in found
    ]


async def _notices(client: "PrefectClient", url: str | None) -> "list[AutomationCore]":
    """A failed run is posted as JSON to the address in `notify.url`."""
    if not url:
        return []
    from prefect.blocks.webhook import Webhook
    from prefect.events.actions import CallWebhook
    from prefect.events.schemas.automations import AutomationCore, EventTrigger

    hook: Any = Webhook(method="POST", url=url, allow_private_urls=True)
    block_id = await hook.save("spade-notify", overwrite=True)
    return [
        AutomationCore(
            name=f"{PREFIX}failure notice",
            description="Posts the name, state and address of a run that failed, or of an alarm.",
            trigger=EventTrigger(
                expect={"prefect.flow-run.Failed", "prefect.flow-run.Crashed"},
                match_related={"prefect.resource.id": f"prefect.tag.{TAG}", "prefect.resource.role": "tag"},
                threshold=1,
            ),
            actions=[
                CallWebhook(
                    block_document_id=block_id,
                    payload=NOTICE,
                )
            ],
        )
    ]
