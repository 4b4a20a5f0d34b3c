"""The factory's own held-out environments: those of documents and clusters that a test split keeps, in both arms."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from data.catalog import Catalog
from data.selection import grouped
from data.splitting import Splits
from spade.episodes import Arm, Asked, Episode, Hinted, play
from spade.errors import Abort, Retry, Skip
from spade.evaluating import MarkerError, Talk
from spade.evaluation import Mark, Protocol, Question, SampleOutcome, SuiteCard
from spade.identity import digest, seed_for
from spade.messages import Completion, Message
from spade.outcomes import EpisodeOutcome
from spade.ports import Limits, Sandbox
from spade.prompting import agent_system
from spade.skills import Setting

SEEDS = 4
"""Instances of each environment and arm."""


@dataclass(frozen=True, slots=True)
class _Player:
    """A talk as a player."""

    talk: Talk

    async def act(self, messages: Sequence[Message]) -> Completion:
        return await self.talk.ask(messages)


@dataclass
class HeldOut:
    """The suite; `share` of the documents, drawn by `seed` as `spade export --test-share` draws them, is held out."""

    catalog: Catalog
    sandbox: Sandbox
    share: float = 0.1
    seed: int = 0
    max_turns: int = 25

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise Abort(f"held-out has no share {self.share}.", "Use a number above 0, at most 1.")
        self._rows = self._held_out()

    @property
    def card(self) -> SuiteCard:
        return SuiteCard(
            name="held-out",
            version=digest(" ".join(row["env_id"] for row in self._rows))[:12],
            title="Held-out environments",
            source="this factory's catalog: accepted environments of documents and clusters in the test split",
            licence="yours",
            about="environments that no training row comes from, without and with their hint on the same seeds",
        )

    @property
    def protocol(self) -> Protocol:
        return Protocol(
            turns=self.max_turns,
            system=agent_system(),
            extraction="the last \\boxed{}, or the tool calls",
            metric="mean return of an episode, in [0, 1]; groups are the arms",
        )

    async def questions(self, tasks: int | None, seed: int) -> Sequence[Question]:
        """`tasks` environments of each arm, on `SEEDS` seeds each."""
        if not self._rows:
            raise Abort(
                f"no accepted environment is held out with share={self.share:g} and seed={self.seed}.",
                "Make more with `spade run`, or hold out a larger share.",
            )
        return [
            Question(f"{row['env_id']}/{arm}/{n}", arm.value, {**row, "seed": seed_for(seed, row["env_id"], n), "n": n})
            for arm in (Arm.PLAIN, Arm.HINTED)
            for row in self._rows[:tasks]
            for n in range(SEEDS)
            if arm is Arm.PLAIN or row["hint"]
        ]

    async def prompt(self, question: Question) -> str:
        return str(question.content["code"])

    async def attempt(self, question: Question, talk: Talk) -> Mark:
        episode = await self._played(question, talk)
        match episode.outcome:
            case EpisodeOutcome.MODEL_ERROR:
                raise Retry(episode.detail)
            case EpisodeOutcome.MODEL_REFUSED:
                raise Skip(episode.detail)
        if episode.return_ is None:
            raise MarkerError(f"{episode.outcome.value}: {episode.detail}")
        outcome = SampleOutcome.SCORED if episode.outcome is EpisodeOutcome.COMPLETED else SampleOutcome.CUT_SHORT
        last = episode.turns[-1].action if episode.turns else ""
        return Mark(min(max(episode.return_, 0.0), 1.0), last, outcome, episode.detail)

    async def _played(self, question: Question, talk: Talk) -> Episode:
        row = question.content
        setting, arm = Setting(row["setting"]), Arm(question.group)
        asked = Asked("evaluation", row["env_id"], 0, arm, row["n"], row["seed"])
        player = _Player(talk) if arm is Arm.PLAIN else Hinted(_Player(talk), row["hint"])
        opened = await self.sandbox.open(row["code"], Limits())
        if opened.game is None:
            raise MarkerError(f"{opened.reply.outcome.value}: {opened.reply.detail}")
        try:
            turns = min(self.max_turns, talk.protocol.turns)
            return await play(opened.game, player, asked, agent_system(setting), max_turns=turns, setting=setting)
        finally:
            await opened.game.close()

    async def aclose(self) -> None:
        return None

    def _held_out(self) -> list[dict[str, Any]]:
        """Environments of the test split with their hints, by id."""
        rows = self.catalog.query(
            """select c.cycle_id, c.document_id, e.env_id, e.code, e.setting,
                (select first(h.text order by h.number) from hints as h
                where h.env_id = e.env_id and h.accepted) as hint
            from chains as c join environments as e using (env_id) order by e.env_id, c.cycle_id"""
        )
        selection = grouped("held-out", [{"cycle_id": row["cycle_id"], "key": row["env_id"]} for row in rows])
        splits = Splits.over(self.catalog, selection, {"train": 1.0 - self.share, "test": self.share}, self.seed)
        kept = {row["env_id"]: row for row in rows if splits.of(row["document_id"]) == "test"}
        return [{name: kept[e][name] or "" for name in ("env_id", "code", "setting", "hint")} for e in sorted(kept)]
