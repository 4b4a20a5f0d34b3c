"""A player for verifiers without a program of its own: its contract lets a harness call the interception server itself.

The shipped `null` harness starts a Python process for each turn; this is the quickest player that the contract allows.
"""

from typing import Any

import httpx
from verifiers.v1.dialects.chat import message_to_wire
from verifiers.v1.harnesses.null import NullHarness
from verifiers.v1.runtimes import ProgramResult

CLIENT = httpx.AsyncClient(limits=httpx.Limits(max_connections=256), timeout=60.0)


class InProcessHarness(NullHarness):
    async def setup(self, runtime: Any) -> None:
        return None

    async def launch(self, ctx: Any, trace: Any, runtime: Any, endpoint: str, secret: str, *rest: Any, **_: Any) -> Any:
        system, prompt = self.resolve_prompt(rest[1])
        messages = [{"role": "system", "content": system}] if system else []
        said = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else map(message_to_wire, prompt or [])
        answer = await CLIENT.post(
            f"{endpoint}/chat/completions",
            json={"model": ctx.model, "messages": [*messages, *said]},
            headers={"authorization": f"Bearer {secret}"},
        )
        answer.raise_for_status()
        return ProgramResult(0, "", "")


__all__ = ["InProcessHarness"]
