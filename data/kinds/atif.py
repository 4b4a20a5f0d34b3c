"""Trajectories in Harbor's interchange format (ATIF 1.8): plays, won or lost, with tokens where they are known."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from data.catalog import Catalog
from data.kinds.base import ORIGIN, PLAY, TEXT, Item, Rows, conversation, play_facts, play_lineage
from data.selection import Selection, chosen, select
from spade.curation import Pool
from spade.episodes import Episode, Turn
from spade.identity import digest


@dataclass(frozen=True)
class Atif(Rows):
    """`trajectory`: one ATIF document a row, as JSON text; rewards stand in `extra`."""

    name: str = "atif"
    about: str = "A row is a play, won or lost, as an ATIF 1.8 trajectory in JSON text."
    tags: tuple[str, ...] = ("atif", "trajectories")

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([pa.field("trajectory", TEXT), *ORIGIN, *PLAY])

    def select(self, catalog: Catalog, cycle_ids: Sequence[str] | None) -> Selection:
        return select(catalog, [Pool.POSITIVE, Pool.HARD_NEGATIVE], cycle_ids)

    def items(self, catalog: Catalog, selection: Selection) -> Iterator[Item]:
        for one in chosen(catalog, selection):
            messages = conversation(one.episode)
            text = "\n".join(m.content for m in messages)
            content = {"trajectory": json.dumps(trajectory(one.episode), ensure_ascii=False, allow_nan=False)}
            yield Item(content, play_lineage(one), {**play_facts(one, messages), "content": digest(text)}, text)


def trajectory(episode: Episode) -> dict[str, Any]:
    """The episode as an ATIF document: system and user steps for what was seen, agent steps for what was said."""
    steps: list[dict[str, Any]] = []
    if episode.system:
        steps.append({"source": "system", "message": episode.system})
    if episode.turns:
        steps.append({"source": "user", "message": episode.turns[0].observation})
    seen_next = [*(turn.observation for turn in episode.turns[1:]), episode.final_observation]
    steps += [_agent_step(turn, seen) for turn, seen in zip(episode.turns, seen_next, strict=True)]
    usage = episode.usage
    totals = {"total_prompt_tokens": usage.prompt_tokens, "total_completion_tokens": usage.completion_tokens}
    return {
        "schema_version": "ATIF-v1.8",
        "session_id": episode.asked.cycle_id,
        "trajectory_id": episode.episode_id,
        "agent": {"name": "spade-factory", "version": version("spade-factory"), "model_name": episode.model},
        "steps": [{"step_id": number, **step} for number, step in enumerate(steps, start=1)],
        "final_metrics": {**totals, **_known("total_cost_usd", usage.cost), "total_steps": len(steps)},
        "extra": {
            "env_id": episode.asked.env_id,
            "seed": episode.asked.seed,
            "arm": episode.asked.arm.value,
            "outcome": episode.outcome.value,
            "reward": episode.return_,
        },
    }


def _agent_step(turn: Turn, seen: str) -> dict[str, Any]:
    step: dict[str, Any] = {
        "source": "agent",
        "message": turn.reply,
        **_known("reasoning_content", turn.reasoning or None),
        "observation": {"results": [{"content": seen}]},
        "llm_call_count": 1,
        "extra": {"action": turn.action, "reward": turn.reward, "guided": turn.guided},
    }
    metrics = _metrics(turn)
    return {**step, "metrics": metrics} if metrics else step


def _metrics(turn: Turn) -> dict[str, Any]:
    tokens = turn.tokens
    if tokens is None:
        return {}
    return {
        **_known("prompt_token_ids", tokens.prompt_ids and list(tokens.prompt_ids)),
        **_known("completion_token_ids", tokens.output_ids and list(tokens.output_ids)),
        **_known("logprobs", tokens.logprobs and list(tokens.logprobs)),
    }


def _known(name: str, value: Any) -> dict[str, Any]:
    """The field, or nothing where the value is not known: ATIF has no nulls."""
    return {} if value is None else {name: value}
