"""The start of every arm: a tokenizer and a small transformer that know the worlds' words, little skill, and designs
drawn evenly.

Learned from plays of an even player (all tokens, so how worlds answer; its wins weigh more) and, as a stand-in for what
a pretrained model brings, from the shortest solutions of the easiest cells where they can be read off what is shown.
"""

import asyncio
import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.coevolve.playing import Gatekeeper, even_plays, solved_plays
from benchmarks.coevolve.sharing import Programs
from benchmarks.coevolve.world import NAMES, SKILLS, Cell, Told, cells, corpus_words, design_messages, even_design
from sandbox.opening import open_sandbox
from spade.blueprints import MECHANICS
from spade.blueprints.mechanic import Value
from spade.episodes import Episode
from spade.identity import rng_for
from spade.messages import Message, Role
from spade.settings import SandboxSettings
from spade.training_settings import RoleTraining, TrainingSettings
from training.imitation import imitate
from training.learner import Learner
from training.policy import policy_of
from training.samples import Sample
from training.scratch import scratch_model, scratch_tokenizer

PLAYS = 9000
WINS = 250
"""Wins kept of each mechanic; other plays are kept for how worlds answer."""
OTHERS = 1200
EASIEST: dict[str, dict[str, tuple[Value, ...]]] = {"doors": {"doors": (2, 3)}, "dial": {"count": (2, 3)}}
"""Cells whose solutions are shown."""
SHOWN = 1500
"""Solutions of each of these mechanics."""
HINTED = 0.5
"""Share of them that are shown with a hint: without any, the hinted arm would not know what a hint is."""
DESIGNS = 1200
SIZE, EPOCHS = 48, 8
SEEN = 0.08
"""Weight of a token that the world said, against 1 for an action of a win and `LOST` for one of a loss."""
LOST = 0.1


@dataclass(frozen=True, slots=True)
class Shape:
    width: int = 64
    layers: int = 2
    vocabulary: int = 900


async def gathered(folder: Path, seed: int = 0) -> list[Episode]:
    """Even plays of cells that the gates accept, and the gates' word on every cell, kept in `folder`."""
    known_file = folder / "gates.json"
    known = json.loads(known_file.read_text()) if known_file.exists() else {}
    async with open_sandbox(SandboxSettings()) as sandbox:
        keeper = Gatekeeper(sandbox, known)
        gate = asyncio.Semaphore(4)

        async def judged(cell: Cell) -> None:
            async with gate:
                await keeper.refusal(cell.environment())

        await asyncio.gather(*(judged(cell) for cell in cells()))
        folder.mkdir(parents=True, exist_ok=True)
        known_file.write_text(json.dumps(known))
        rng = Random(seed)
        good = {n: [c for c in cells(n) if not c.held and not known[c.environment().env_id]] for n in NAMES}
        drawn = [rng.choice(good[NAMES[n % len(NAMES)]]) for n in range(PLAYS)]
        programs = Programs(sandbox, 160)
        episodes = chosen(await even_plays(programs, drawn, seed))
        easy = [[c for c in good[name] if is_easiest(c)] for name in EASIEST]
        shown = [rng.choice(some) for some in easy for _ in range(SHOWN)]
        episodes += await solved_plays(programs, shown, seed, HINTED)
        await programs.close()
    return episodes


def is_easiest(cell: Cell) -> bool:
    knobs = (k.name for k in MECHANICS[cell.mechanic].knobs)
    of = dict(zip(knobs, cell.values, strict=True))
    return all(of[name] in allowed for name, allowed in EASIEST[cell.mechanic].items())


def chosen(episodes: list[Episode]) -> list[Episode]:
    """Up to `WINS` wins a mechanic, and `OTHERS` other plays."""
    mechanics = {c.environment().env_id: c.mechanic for c in cells()}
    wins: dict[str, list[Episode]] = {name: [] for name in NAMES}
    others: list[Episode] = []
    for episode in episodes:
        of = wins[mechanics[episode.asked.env_id]]
        if episode.won and len(of) < WINS:
            of.append(episode)
        elif len(others) < OTHERS:
            others.append(episode)
    print("  wins of the even player kept: " + ", ".join(f"{n} {len(w)}" for n, w in wins.items()), flush=True)
    return [e for w in wins.values() for e in w] + others


def conversation(episode: Episode) -> list[Message]:
    said = []
    for turn in episode.turns:
        said += [Message("user", turn.observation), Message("assistant", turn.reply)]
    return said


def texts(episodes: list[Episode]) -> list[str]:
    return [t.observation for e in episodes for t in e.turns] + list(corpus_words())


def play_sample(tokenizer: Any, episode: Episode) -> Sample:
    """All tokens of a play; actions weigh by how it ended. One advantage a sample, so weights go by repetition."""
    ids: list[int] = []
    actions: list[int] = []
    for message in conversation(episode):
        text = f"<|{message.role}|>{message.content}"
        more = tokenizer(text, add_special_tokens=False)["input_ids"]
        if message.role == "assistant":
            actions += range(len(ids) + 1, len(ids) + len(more))
        ids += more
    return _sample(Role.AGENT, ids, actions, episode.episode_id)


def _sample(role: Role, ids: list[int], at: list[int], subject: str, weight: float = 1.0) -> Sample:
    zeros = (0.0,) * len(at)
    return Sample(role, "warm", subject, 0, tuple(ids), tuple(at), zeros, ((),) * len(at), weight)


def seen_sample(whole: Sample) -> Sample:
    """The same play with what the world said as what is learned."""
    actions = set(whole.at)
    at = [n for n in range(1, len(whole.ids)) if n not in actions]
    return _sample(Role.AGENT, list(whole.ids), at, whole.subject_id, SEEN)


def design_sample(tokenizer: Any, rng: Random, number: int) -> Sample:
    """An even design after a prompt that may tell of earlier ones."""
    skill = rng.choice(SKILLS)
    told = [Told(even_design(skill, rng).rsplit(" ", 1)[0], rng.random()) for _ in range(rng.choice((0, 1, 2)))]
    prompt = f"<|user|>{design_messages(skill, told)[0].content}<|assistant|>"
    head = tokenizer(prompt, add_special_tokens=False)["input_ids"]
    body = tokenizer(even_design(skill, rng), add_special_tokens=False)["input_ids"]
    return _sample(Role.DESIGNER, head + body, list(range(len(head), len(head) + len(body))), f"design-{number}")


def warm_start(folder: Path, episodes: list[Episode], seed: int, shape: Shape) -> None:
    """Write tokenizer and weights of one seed's start into `folder`."""
    rng = rng_for(seed, "warm")
    tokenizer = scratch_tokenizer(texts(episodes), shape.vocabulary, list(dict.fromkeys(corpus_words())))
    model = scratch_model(tokenizer, width=shape.width, layers=shape.layers, seed=seed)
    settings = TrainingSettings(agent=RoleTraining(), betas=(0.9, 0.98), micro_tokens=6000)
    learner = Learner(policy_of(model, tokenizer, settings), settings, seed)
    samples: list[Sample] = []
    for episode in episodes:
        whole = play_sample(tokenizer, episode)
        samples.append(seen_sample(whole))
        weight = 1.0 if episode.won else LOST
        samples.append(_sample(Role.AGENT, list(whole.ids), list(whole.at), whole.subject_id, weight))
    samples += [design_sample(tokenizer, rng, n) for n in range(DESIGNS)]
    losses = imitate(learner, "agent", samples, rate=3e-3, size=SIZE, epochs=EPOCHS)
    print(f"  warm start: {len(losses)} steps, loss {losses[0]:.2f} to {sum(losses[-10:]) / 10:.2f}", flush=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
