"""The HTTP and WebSocket server, started in the folder above: `uvicorn server.app:app --host 0.0.0.0 --port 8000`."""

from models import SpadeAction, SpadeObservation  # type: ignore[import-not-found]
from openenv.core.env_server.http_server import create_app  # type: ignore[import-not-found]
from openenv.core.env_server.types import ConcurrencyConfig  # type: ignore[import-not-found]
from server.game_environment import GameEnvironment  # type: ignore[import-not-found]

app = create_app(
    GameEnvironment,
    SpadeAction,
    SpadeObservation,
    env_name="spade",
    concurrency_config=ConcurrencyConfig(max_concurrent_envs=32, session_timeout=600.0),
)


def main() -> None:
    import uvicorn

    uvicorn.run(app, host="0.0.0.0", port=8000)


if __name__ == "__main__":
    main()
