"""BFCL v4 multi-turn: a user's requests in several turns, tools with state, and the state compared with the truth's."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from data.benchmarks.packages import BFCL, greeted, python_of
from data.benchmarks.worker import Workers
from spade.boxes import without_thoughts
from spade.errors import Abort
from spade.evaluating import Talk, unanswered
from spade.evaluation import Mark, Protocol, Question, SampleOutcome, SuiteCard
from spade.identity import rng_for
from spade.messages import Message, ToolCall

MODES = ("prompt", "calls")
DOCS = ("json", "python", "xml")


@dataclass
class Bfcl:
    """The suite; `mode` says how tools are offered: in the system prompt (`prompt`), or to the endpoint (`calls`).

    `docs` is how the package writes functions into the system prompt. Its default `json` needs up to 9,600 tokens of a
    small model's vocabulary; `python`, a form of its own format-sensitivity category, up to 3,800."""

    environments: Path
    mode: str = "prompt"
    docs: str = "json"
    processes: int = 4
    _workers: Workers | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise Abort(f"bfcl has no mode {self.mode!r}.", f"Use one of {', '.join(MODES)}.")
        if self.docs not in DOCS:
            raise Abort(f"bfcl has no docs {self.docs!r}.", f"Use one of {', '.join(DOCS)}.")
        if self.mode == "calls" and self.docs != "json":
            raise Abort("bfcl writes no docs in mode=calls.", "Leave docs out: the endpoint gets the tools.")

    @property
    def card(self) -> SuiteCard:
        return SuiteCard(
            name="bfcl",
            version=BFCL.version,
            title="BFCL v4 multi-turn",
            source="package bfcl-eval (Berkeley Function-Calling Leaderboard), data included",
            licence="Apache-2.0",
            about="requests over several turns, served by calls of stateful tools; four categories of 200 tasks",
        )

    @property
    def protocol(self) -> Protocol:
        return Protocol(
            temperature=0.001,
            top_p=1.0,
            top_k=0,
            max_tokens=4096,
            turns=21,
            system="the package's own" if self.mode == "prompt" else "",
            extraction="the package's decode_execute, after each reply; 20 steps a turn, as in the package",
            metric="share of tasks whose every turn ends in the true state and response (the package's checker)",
        )

    async def questions(self, tasks: int | None, seed: int) -> Sequence[Question]:
        """`tasks` of each category in a seeded order; those with the same tools begin alike."""
        said = await greeted(self._calls(), BFCL)
        planned = []
        for category, tools in said["tasks"].items():
            ids = list(tools)
            rng_for(seed, "bfcl", category).shuffle(ids)
            where = [{"category": category, "task_id": task_id} for task_id in ids[:tasks]]
            planned += [Question(w["task_id"], category, {"where": w}, alike=tools[w["task_id"]]) for w in where]
        return planned

    async def prompt(self, question: Question) -> str:
        """What the user says over all turns."""
        return str(await self._calls().call("text", **question.content["where"]))

    async def attempt(self, question: Question, talk: Talk) -> Mark:
        async def answering(asked: dict[str, Any]) -> dict[str, Any]:
            messages = [_message(m) for m in asked["messages"]]
            completion = await talk.ask(messages, asked.get("tools", ()))
            calls = [{"id": c.call_id, "name": c.name, "arguments": c.arguments} for c in completion.tool_calls]
            return {"text": without_thoughts(completion.text).strip(), "calls": calls}

        calling = self.mode == "calls"
        said = await self._calls().call(
            "attempt", answering, calling=calling, docs=self.docs, **question.content["where"]
        )
        answer = json.dumps(said["calls"], ensure_ascii=False)
        if not said["valid"] and not any(said["calls"]):
            return replace(unanswered(talk), detail=said["why"])
        return Mark(float(said["valid"]), answer, SampleOutcome.SCORED, said["why"])

    async def aclose(self) -> None:
        if self._workers is not None:
            await self._workers.aclose()

    def _calls(self) -> Workers:
        if self._workers is None:
            self._workers = Workers(python_of(BFCL, self.environments), BFCL.script, self.processes)
        return self._workers


def _message(wire: dict[str, Any]) -> Message:
    """A message in OpenAI's form as our own."""
    calls = [ToolCall(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in wire.get("tool_calls", ())]
    return Message(wire["role"], wire["content"] or "", tuple(calls), wire.get("tool_call_id", ""))
