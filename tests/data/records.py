"""Small records for the tests of what is stored."""

from collections.abc import Iterable
from dataclasses import replace

from data.catalog import Catalog
from spade.attempts import Attempt, Prompt
from spade.curation import Evidence, decide
from spade.documents import Document
from spade.environments import Environment
from spade.episodes import Arm, Asked, Episode, Turn
from spade.hints import Hint
from spade.learning import BatchRecord, Checkpoint, Trained
from spade.messages import Completion, Message, Role, Sampling, Tokens, Usage
from spade.outcomes import EpisodeOutcome
from spade.quality import PlainPlay
from spade.scores import score
from spade.skills import Setting, Skill
from spade.slots import Cycle, Slot
from spade.verdicts import Status, Verdict


def asked(cycle: str = "cycle-0", env: str = "env-0", play: int = 0, arm: Arm = Arm.PLAIN) -> Asked:
    return Asked(cycle, env, 0, arm, play, 7)


def turn(number: int = 0, last: bool = True) -> Turn:
    """A turn with exact tokens."""
    ids = tuple(range(number, number + 12))
    return Turn(
        observation=f"Guess a number from 1 to 9, try {number}.",
        reply="\\boxed{5}",
        action="5",
        reward=1.0 if last else 0.0,
        terminated=last,
        finish_reason="stop",
        guided=True,
        tokens=Tokens(ids, ids[:4], tuple(-0.25 * i for i in range(4))),
    )


def episode(
    cycle: str = "cycle-0",
    env: str = "env-0",
    play: int = 0,
    arm: Arm = Arm.PLAIN,
    won: bool = True,
    turns: int = 2,
) -> Episode:
    """A measured episode; its texts depend on `play`, so that no two are duplicates."""
    played = tuple(turn(10 * play + i, won and i == turns - 1) for i in range(turns))
    return Episode(
        asked=asked(cycle, env, play, arm),
        outcome=EpisodeOutcome.COMPLETED,
        turns=played,
        model="tiny",
        weights="tiny-1",
        return_=1.0 if won else 0.0,
        won=won,
        final_observation="Right." if won else "Wrong.",
        usage=Usage(20, 4, 0.001),
        seconds=0.25,
    )


def chain(catalog: Catalog, cycle_number: int = 0, plays: int = 3) -> tuple[Cycle, str]:
    """Store one whole chain: document, prompt, slot, attempt, environment, hint, both arms, score, decisions."""
    cycle = Cycle("0" * 12, 0, cycle_number)
    document = Document(f"Water boils at 100 degrees. ({cycle_number})", title="Water")
    slot = Slot(cycle.cycle_id, 0, Setting.GAMES, Skill.OPTIMIZATION, document.document_id, 11)
    asked_for = Prompt(Role.DESIGNER, (Message("user", f"Design! {cycle_number}"),), "design", "abc")
    env = Environment(
        f"class WaterEnv:\n    degrees = {cycle_number}\n", Setting.GAMES, Skill.OPTIMIZATION, "Boil", "heat"
    )
    passed = (Verdict("contract.class", Status.PASS), Verdict("semantic.oracle_max", Status.PASS, measured=1.0))
    attempt = Attempt(slot.slot_id, 0, asked_for.prompt_id, said(env.code), Sampling(), env.env_id, (), passed)
    refused = (Verdict("contract.class", Status.FAIL, "No class."),)
    broken = Attempt(slot.slot_id, 1, asked_for.prompt_id, said("oops"), Sampling(), "", (), refused, "contract.class")
    hint = Hint(env.env_id, 0, "halve", asked_for.prompt_id, said("halve"), passed[:1])
    plain = [played(cycle.cycle_id, env.env_id, i, Arm.PLAIN, i != 0) for i in range(plays)]
    hinted = [played(cycle.cycle_id, env.env_id, i, Arm.HINTED, True) for i in range(plays)]
    episodes = plain + hinted
    catalog.append("cycles", [cycle])
    catalog.append("documents", [document])
    catalog.append("slots", [slot])
    catalog.append("prompts", [asked_for])
    catalog.append("attempts", [attempt, broken])
    catalog.append("environments", [env])
    catalog.append("hints", [hint])
    catalog.append("episodes", episodes)
    catalog.append("scores", [score(cycle.cycle_id, env.env_id, episodes)])
    evidence = Evidence(frozenset(e.episode_id for e in episodes), frozenset({env.env_id}))
    catalog.append("decisions", decide(episodes, evidence))
    batch = BatchRecord(f"batch-{cycle_number:016x}", cycle.cycle_id, 0, plays, 4 * plays, 0, 0, "tiny-1")
    catalog.append("train_batches", [batch])
    catalog.append("train_rows", [Trained(batch.batch_id, e.episode_id, Role.AGENT, env.env_id, 0.5) for e in plain])
    catalog.append("checkpoints", [Checkpoint(1, batch.batch_id, "", "tiny", "0" * 12)])
    return cycle, env.env_id


def played(cycle_id: str, env_id: str, play: int, arm: Arm, won: bool) -> Episode:
    """An episode of a chain: what was seen differs from environment to environment."""
    one = episode(cycle_id, env_id, play, arm, won)
    turns = tuple(replace(t, observation=f"{t.observation} ({env_id})") for t in one.turns)
    return replace(one, turns=turns, system="You play a game.")


def said(text: str) -> Completion:
    return Completion(text, "tiny", "tiny-1", usage=Usage(5, 5))


def plain_plays(episodes: Iterable[Episode]) -> list[PlainPlay]:
    """What the report's question finds of these episodes."""
    return [
        PlainPlay(e.asked.cycle_id, e.asked.env_id, e.return_, [_said(turn) for turn in e.turns])
        for e in episodes
        if e.asked.arm is Arm.PLAIN and e.return_ is not None
    ]


def _said(turn: Turn) -> int | None:
    return len(turn.tokens.output_ids) if turn.tokens and turn.tokens.output_ids is not None else None
