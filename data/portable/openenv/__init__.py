"""One environment for OpenEnv: a server that plays the program in a child process, and a client."""

from .client import SpadeEnv
from .models import SpadeAction, SpadeObservation

__all__ = ["SpadeAction", "SpadeEnv", "SpadeObservation"]
