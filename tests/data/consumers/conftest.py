"""One catalog with a real program, exported in every kind, for all consumers."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from data.catalog import Catalog
from data.export import Export, Plan, export
from data.kinds.registry import KINDS
from spade.attempts import Attempt, Prompt
from spade.curation import Evidence, decide
from spade.documents import Document
from spade.environments import Environment
from spade.episodes import Arm, Asked, Episode, Turn
from spade.messages import Message, Role, Sampling
from spade.outcomes import EpisodeOutcome
from spade.scores import score
from spade.skills import Setting, Skill
from spade.slots import Cycle, Slot
from spade.verdicts import Status, Verdict
from tests.data.consumers.make_env import made
from tests.data.programs import GUESS
from tests.data.records import said
from tests.data.tool_records import desk

pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """The guessing game with three plays a seed, two won and one lost."""
    catalog = Catalog(tmp_path_factory.mktemp("home"))
    cycle, document = Cycle("0" * 12, 0, 0), Document("Halving finds a number in few questions.", title="Halving")
    slot = Slot(cycle.cycle_id, 0, Setting.GAMES, Skill.LOGICAL_DEDUCTION, document.document_id, 11)
    prompt = Prompt(Role.DESIGNER, (Message("user", "Design!"),), "design", "abc")
    environment = Environment(GUESS, Setting.GAMES, Skill.LOGICAL_DEDUCTION, "Guess", "higher or lower")
    passed = (Verdict("semantic.oracle_max", Status.PASS, measured=1.0),)
    attempt = Attempt(slot.slot_id, 0, prompt.prompt_id, said(GUESS), Sampling(), environment.env_id, (), passed)
    episodes = [guessed(cycle, environment, play) for play in range(12)]
    evidence = Evidence(frozenset(e.episode_id for e in episodes), frozenset({environment.env_id}))
    for table, records in {
        "cycles": [cycle], "documents": [document], "slots": [slot], "prompts": [prompt], "attempts": [attempt],
        "environments": [environment], "episodes": episodes, "decisions": list(decide(episodes, evidence)),
        "scores": [score(cycle.cycle_id, environment.env_id, episodes)],
    }.items():  # fmt: skip
        catalog.append(table, records)
    return catalog


def guessed(cycle: Cycle, environment: Environment, play: int) -> Episode:
    """One play over four seeds: every third is lost."""
    seed, won = play % 4, play % 3 != 2
    first = f"Guess my number from 1 to 9. Answer with \\boxed{{number}}. ({seed})"
    turns = (
        Turn(first, f"I halve, play {play}. \\boxed{{5}}", "5", 0.0, finish_reason="stop"),
        Turn("Higher.", f"So {play}. \\boxed{{7}}", "7", float(won), won, not won, finish_reason="stop"),
    )
    asked = Asked(cycle.cycle_id, environment.env_id, 0, Arm.PLAIN, play, seed)
    outcome = EpisodeOutcome.COMPLETED if won else EpisodeOutcome.TRUNCATED
    episode = Episode(asked, outcome, turns, "tiny", "tiny-1", float(won), won, final_observation="Right.")
    return replace(episode, system="You play a game. Put your move into \\boxed{}.")


@pytest.fixture(scope="session")
def exported(catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folder of each kind; the one with tool calls of another catalog."""
    home = tmp_path_factory.mktemp("exported")
    office = Catalog(tmp_path_factory.mktemp("office"))
    desk(office)
    made: dict[str, Export | None] = {
        kind: export(office if kind == "sft-tools" else catalog, home, Plan(kind, "try")) for kind in KINDS
    }
    assert all(made.values()), made
    return {kind: one.folder for kind, one in made.items() if one is not None}


def ran(consumer: str, program: str, *arguments: object, timeout: int = 600) -> str:
    """What a program prints in a consumer's environment. Skips, with the reason, where that cannot be made."""
    try:
        python = made(consumer)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"the environment of {consumer} cannot be made here: {error}")
    done = subprocess.run(
        [str(python), "-c", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        env={
            "PATH": f"{python.parent}:/usr/bin:/bin",
            "HF_HUB_OFFLINE": "1",
            "HF_DATASETS_OFFLINE": "1",
            "HOME": "/tmp",
        },
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
