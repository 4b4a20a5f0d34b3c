"""Short words for tests of the client."""

from inference.connecting import connect
from inference.endpoint import Endpoint, Patience
from spade.messages import Guide, Message, Request, Role, Sampling
from spade.settings import ModelSettings
from tests.fakes_endpoint import FakeEndpoint

DIGITS = Guide(digits=3, prefix="\\boxed{", suffix="}")
SCHEMA = Guide(schema={"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
CHOICES = Guide(choices=("LEFT", "RIGHT"))


def request(said: str = "Say hello.", *, guide: Guide | None = None, **sampling: float) -> Request:
    values = {"max_tokens": 16, "seed": 1} | sampling
    return Request((Message("user", said),), Sampling(**values), Role.AGENT, guide=guide)  # type: ignore[arg-type]


async def connected(fake: FakeEndpoint, *, retries: int = 2, seconds: float = 5.0, **settings: object) -> Endpoint:
    """A client of the fake that does not dawdle between retries."""
    wanted = ModelSettings.model_validate({"timeout_seconds": seconds} | settings)
    endpoint = await connect(wanted, fake.base_url)
    endpoint.patience = Patience(retries, first=0.0)
    return endpoint
