"""What all groups of settings share."""

from pydantic import BaseModel, ConfigDict, Field

Share = Field(ge=0.0, le=1.0)


class Settings(BaseModel):
    """Base: frozen, and a key nobody knows is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
