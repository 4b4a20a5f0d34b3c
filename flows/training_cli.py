"""Commands that learn: `train` from what is stored, `self-play` in turns with playing."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from flows.interrupting import stoppable

Home = Annotated[Path | None, typer.Option(help="Folder of run artifacts.", show_default="var")]
Profile = Annotated[str | None, typer.Option(help="Settings profile.", show_default="starter")]
Base = Annotated[
    str | None,
    typer.Option(
        help="Weights to start from: path:FOLDER (transformers) or package:NAME.", show_default="SmolLM2-135M"
    ),
]
Seed = Annotated[int | None, typer.Option(help="Seed of every random draw.", show_default="0")]


def train(
    profile: Profile = None,
    updates: Annotated[
        int | None, typer.Option(min=1, help="At most so many updates.", show_default="all pending")
    ] = None,
    base: Base = None,
    seed: Seed = None,
    home: Home = None,
) -> None:
    """Update the policy from stored plays that no update has seen yet; each update leaves a checkpoint.

    Plays need their token ids and log-probabilities: vLLM and `spade self-play` give them. Stopped or killed,
    the same command goes on from the last checkpoint.
    """
    from flows.train import train as flow

    made = _finished("train", profile, home, flow, updates=updates, base=base, seed=seed)
    if not made:
        print("Nothing to learn: every stored round was trained on, or none is finished. `spade run` makes more.")
    for each in made:
        print(f"Checkpoint {each['checkpoint_id']} (update {each['update']}) from {each['cycle']}")


def self_play(  # noqa: PLR0913 - one parameter a flag
    cycles: Annotated[int, typer.Option(min=1, help="How many cycles to finish.")] = 1,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Rounds per cycle; an update follows each.", show_default="1")
    ] = None,
    slots: Annotated[int | None, typer.Option(min=1, help="Environments to design per cycle.")] = None,
    plays: Annotated[int | None, typer.Option(min=1, help="Plays per arm and environment.")] = None,
    profile: Profile = None,
    base: Base = None,
    seed: Seed = None,
    home: Home = None,
) -> None:
    """Design, play and learn in turns: the model plays with its newest weights, here in this process.

    Stopped or killed, the same command finishes the cycle it was in.
    """
    from rich.console import Console

    from flows.running import print_summary
    from flows.self_play import self_play as flow

    made = _finished(
        "self-play", profile, home, flow, cycles=cycles, rounds=rounds, slots=slots, plays=plays, base=base, seed=seed
    )
    for summary in made:
        print_summary(Console(), summary)


def pack_checkpoint(
    checkpoint: Annotated[str, typer.Argument(help="latest, an update's number, an id, or a folder.")] = "latest",
    kind: Annotated[
        Literal["Q8_0", "F16", "F32"], typer.Option("--type", help="What matrices are rounded to.")
    ] = "Q8_0",
    like: Annotated[
        Path | None,
        typer.Option(help="GGUF file whose tokenizer and metadata it gets.", show_default="the packaged base model's"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The file to write.", show_default="HOME/models/CHECKPOINT.gguf")
    ] = None,
    base: Base = None,
    home: Home = None,
) -> None:
    """Write a checkpoint as a GGUF file, which the embedded server plays: `spade run --model path:FILE`.

    The file is served once and its log-probabilities are compared with the trained ones before it gets its name.
    """
    import asyncio

    from flows.configuring import flags_of, load_settings
    from flows.packing import pack_checkpoint as pack
    from flows.preflight import writable

    settings = load_settings(None, flags_of(home=str(home) if home else None, training__base=base))
    writable(settings.home)
    made = asyncio.run(pack(settings, checkpoint, like, kind, out))
    print(f"{made.checkpoint_id} is {made.file}; its log-probabilities are the trained ones to {made.gap:.3f} nats.")
    print(f"Play with it: spade run --model path:{made.file}")


def _finished(what: str, profile: str | None, home: Path | None, flow: Any, **parameters: Any) -> list[dict[str, Any]]:
    from flows.configuring import flags_of, load_settings
    from flows.preflight import writable
    from flows.running import run_watched
    from flows.schooling import base_folder, need_torch

    need_torch()
    place = str(home) if home else None
    settings = load_settings(profile, flags_of(home=place, training__base=parameters.get("base")))
    writable(settings.home)
    base_folder(settings)
    with stoppable(f"`spade {what}` goes on where this one ended."):
        return run_watched(flow, profile=profile, home=home, **parameters)
