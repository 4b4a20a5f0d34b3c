"""What goes over the wire."""

from openenv.core.env_server.types import Action, Observation  # type: ignore[import-not-found]
from pydantic import Field


class SpadeAction(Action):  # type: ignore[misc]
    """One move."""

    action: str = Field(..., description="The move, in the form the game asks for")


class SpadeObservation(Observation):  # type: ignore[misc]
    """What the player sees; `reward` and `done` come with it."""

    text: str = Field(default="", description="What the player sees")
    truncated: bool = Field(default=False, description="Whether the turn cap ended the game")
