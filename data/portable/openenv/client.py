"""The client of one environment: `with SpadeEnv(base_url="http://localhost:8000").sync() as env: env.reset(seed=7)`."""

from typing import Any

from openenv.core import EnvClient  # type: ignore[import-not-found]
from openenv.core.client_types import StepResult  # type: ignore[import-not-found]
from openenv.core.env_server.types import State  # type: ignore[import-not-found]

from .models import SpadeAction, SpadeObservation


class SpadeEnv(EnvClient[SpadeAction, SpadeObservation, State]):  # type: ignore[misc]
    """Plays over one WebSocket; each client has its own game."""

    def _step_payload(self, action: SpadeAction) -> dict[str, Any]:
        return {"action": action.action}

    def _parse_result(self, payload: dict[str, Any]) -> Any:
        seen = payload.get("observation", {})
        done, reward = payload.get("done", False), payload.get("reward")
        observation = SpadeObservation(
            text=seen.get("text", ""), truncated=seen.get("truncated", False), done=done, reward=reward
        )
        return StepResult(observation=observation, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> Any:
        return State(episode_id=payload.get("episode_id"), step_count=payload.get("step_count", 0))
