"""The two-role update beside TRL's: same model, same stored samples, same tokens, same threads, on this processor.

    python benchmarks/update.py --trl PYTHON [--model FOLDER] [--quick] [--json]

PYTHON is the interpreter of TRL's environment (benchmarks/build_trl.sh makes one). The samples are plays of the
factory's own blueprint environments, as the model's chat template lays them out, with log-probabilities under the
model itself. Both run in processes of their own, in turns; seconds are medians over updates, the first left out; memory
is the peak of the process. Gradients of both, and of a plain implementation of the loss, are compared.
"""

import argparse
import asyncio
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from spade.training_settings import RoleTraining, TrainingSettings

SETTINGS = TrainingSettings(agent=RoleTraining(learning_rate=1e-6, max_grad_norm=1e9), micro_tokens=4096)

PLAYED = ("guess_number", "grid_walk", "reach_target", "machine", "treasure", "pattern")
"""Mechanics whose plays have many turns, whoever plays."""


def stored_samples(tokenizer: Any, count: int, seed: int = 0) -> list[Any]:
    """Plays of an even player, in groups of eight of one environment, every reply token trained."""
    from benchmarks.coevolve.playing import even_plays
    from benchmarks.coevolve.sharing import Programs
    from benchmarks.coevolve.world import cells
    from sandbox.opening import open_sandbox
    from spade.messages import Role
    from spade.settings import SandboxSettings
    from training.advantages import agent_advantages
    from training.samples import Sample

    async def play() -> list[Any]:
        rng = Random(seed)
        every = [cell for name in PLAYED for cell in cells(name)]
        chosen = [rng.choice(every) for _ in range(count // 8)]
        async with open_sandbox(SandboxSettings()) as sandbox:
            programs = Programs(sandbox)
            episodes = await even_plays(programs, [cell for cell in chosen for _ in range(8)], seed)
            await programs.close()
        return episodes

    episodes = asyncio.run(play())
    samples = []
    for start in range(0, count, 8):
        group = episodes[start : start + 8]
        advantages = agent_advantages([e.return_ or 0.0 for e in group]) or [1.0, -1.0] * 4
        for episode, advantage in zip(group, advantages, strict=True):
            ids, at = _laid_out(tokenizer, episode)
            zeros, free = (0.0,) * len(at), ((),) * len(at)
            samples.append(
                Sample(Role.AGENT, f"g{start}", episode.episode_id, 0, ids, at, zeros, free, advantage, weights="w")
            )
    return samples


def _laid_out(tokenizer: Any, episode: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    messages: list[dict[str, str]] = []
    ids: list[int] = []
    at: list[int] = []
    for turn in episode.turns:
        messages.append({"role": "user", "content": turn.observation})
        head = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        messages.append({"role": "assistant", "content": turn.reply})
        whole = tokenizer.apply_chat_template(messages, tokenize=False)
        before = tokenizer(head, add_special_tokens=False)["input_ids"]
        ids = tokenizer(whole, add_special_tokens=False)["input_ids"]
        at += [n for n in range(len(before), len(ids)) if n not in at]
    return tuple(ids), tuple(at)


def ours(folder: str, batch: str, updates: int, threads: int) -> None:
    """The child process that runs our update; prints one JSON line."""
    import torch
    import transformers

    from training.batch_files import read_batch
    from training.learner import Learner
    from training.policy import open_policy

    torch.set_num_threads(threads)
    transformers.utils.logging.disable_progress_bar()
    stored = read_batch(Path(batch))
    learner = Learner(open_policy(Path(folder), SETTINGS), SETTINGS)
    seconds, places = [], 0
    captured: list[Any] = []
    step = learner.optimisers["agent"].step

    def keep_first_gradient(*args: Any, **kwargs: Any) -> Any:
        if not captured:
            named = learner.policy.parts["agent"].model.named_parameters()
            captured.append(torch.cat([p.grad.flatten() for _, p in sorted(named)]))
            torch.save(captured[0], Path(batch).parent / "our-gradient.pt")
        return step(*args, **kwargs)

    learner.optimisers["agent"].step = keep_first_gradient  # type: ignore[method-assign]
    for _ in range(updates):
        started = time.perf_counter()
        places = learner.update(stored).places
        seconds.append(time.perf_counter() - started)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak_mb": peak, "places": places}))


def plain_gradient(folder: Path, samples: list[Any]) -> Any:
    """The loss as it is written down: one sample at a time, all logits, autograd; nothing of the trainer's."""
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    total = sum(len(s.at) for s in samples)
    for sample in samples:
        ids = torch.tensor([sample.ids])
        logprobs = model(ids).logits[0, :-1].log_softmax(-1).gather(-1, ids[0, 1:, None])[:, 0]
        current = logprobs[torch.tensor(sample.at) - 1]
        ratio = (current - torch.tensor(sample.logprobs)).exp()
        gain = torch.minimum(ratio * sample.advantage, ratio.clamp(0.8, 1.28) * sample.advantage)
        (-gain.sum() / total).backward()
    return torch.cat([p.grad.flatten() for _, p in sorted(model.named_parameters())])


def prepared(folder: Path, count: int, home: Path) -> tuple[Path, list[Any]]:
    """The batch on disk, its log-probabilities those of the model, a little off so that ratios are not all one."""
    from training.batch_files import write_batch
    from training.batches import Batch
    from training.learner import Learner
    from training.policy import open_policy

    policy = open_policy(folder, SETTINGS)
    samples = stored_samples(policy.tokenizer, count)
    rng = Random(1)
    scored = Learner(policy, SETTINGS).score(samples)
    samples = [
        replace(s, logprobs=tuple(min(0.0, v + rng.uniform(-0.2, 0.2)) for v in values))
        for s, values in zip(samples, scored, strict=True)
    ]
    return write_batch(Batch(tuple(samples)), home), samples


def small_model(folder: Path) -> Path:
    """About four million weights, for --quick."""
    from benchmarks.coevolve.world import corpus_words
    from training.scratch import scratch_model, scratch_tokenizer

    tokenizer = scratch_tokenizer(list(corpus_words()), 900)
    scratch_model(tokenizer, width=256, layers=4).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def child(command: list[str], threads: int) -> dict[str, Any]:
    environment = os.environ | {
        "OMP_NUM_THREADS": str(threads),
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_VERBOSITY": "error",
    }
    ended = subprocess.run(command, capture_output=True, text=True, env=environment)
    if ended.returncode:
        raise SystemExit(f"{' '.join(command[:2])} failed:\n{ended.stderr[-2000:]}")
    return dict(json.loads(ended.stdout.strip().splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trl", help="Python of TRL's environment; without it TRL is left out")
    parser.add_argument("--model", type=Path, help="transformers folder; a small one is made without it")
    parser.add_argument("--samples", type=int, default=32)
    parser.add_argument("--updates", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=2, help="how often both are run, in turns")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="a small model, one round")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--ours", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.ours:
        ours(*args.ours, args.updates, args.threads)
        return
    if args.quick:
        args.samples, args.updates = 16, 2
    with tempfile.TemporaryDirectory() as home:
        report(args, *measured(args, Path(home)))


def peer(args: argparse.Namespace, folder: Path, batch: Path) -> list[str]:
    """TRL's command: the program that is handed to people who go on with TRL."""
    program = Path(__file__).resolve().parent.parent / "training" / "handoff" / "with_trl.py"
    given = ["--out", str(batch.parent / "trl"), "--updates", str(args.updates), "--max-grad-norm", "1e9"]
    return [
        args.trl,
        str(program),
        str(folder),
        str(batch),
        *given,
        "--gradient",
        str(batch.parent / "trl-gradient.pt"),
    ]


def measured(args: argparse.Namespace, home: Path) -> tuple[dict[str, Any], list[Any]]:
    import torch

    folder = args.model if args.model and not args.quick else small_model(home / "small")
    batch, samples = prepared(folder, args.samples, home / "batches")
    mine: list[dict[str, Any]] = []
    theirs: list[dict[str, Any]] = []
    for _ in range(1 if args.quick else args.rounds):
        own = [sys.executable, __file__, "--ours", str(folder), str(batch)]
        mine.append(child([*own, "--updates", str(args.updates), "--threads", str(args.threads)], args.threads))
        if args.trl:
            theirs.append(child([*peer(args, folder, batch), "--threads", str(args.threads)], args.threads))
    gradients = {"plain": plain_gradient(folder, samples), "ours": torch.load(batch.parent / "our-gradient.pt")}
    if args.trl:
        gradients["trl"] = torch.load(batch.parent / "trl-gradient.pt")
    return {"ours": mine, "trl": theirs, "gradients": gradients}, samples


def report(args: argparse.Namespace, found: dict[str, Any], samples: list[Any]) -> None:
    import torch

    def cosine(one: str, two: str) -> float:
        pair = (found["gradients"][name].double() for name in (one, two))
        return float(torch.nn.functional.cosine_similarity(*pair, dim=0))

    tokens = sum(len(s.ids) for s in samples)
    trained = sum(len(s.at) for s in samples)

    def speed(runs: list[dict[str, Any]]) -> float:
        return tokens / statistics.median(s for run in runs for s in run["seconds"][1:])

    rows = [
        ("our tokens/s", speed(found["ours"]), "tokens/s", None, None),
        ("our peak memory", statistics.median(r["peak_mb"] for r in found["ours"]), "MB", None, None),
        (
            "our gradient against the plain one",
            cosine("ours", "plain"),
            "cosine",
            0.9999,
            cosine("ours", "plain") >= 0.9999,
        ),
    ]
    if found["trl"]:
        ratio = speed(found["ours"]) / speed(found["trl"])
        memory = rows[1][1] / statistics.median(r["peak_mb"] for r in found["trl"])
        rows += [
            ("TRL tokens/s", speed(found["trl"]), "tokens/s", None, None),
            ("TRL peak memory", statistics.median(r["peak_mb"] for r in found["trl"]), "MB", None, None),
            ("tokens/s, ours / TRL", ratio, "ratio", 1.2, ratio >= 1.2),
            ("peak memory, ours / TRL", memory, "ratio", 1.0, memory <= 1.0),
            ("TRL's gradient against the plain one", cosine("trl", "plain"), "cosine", None, None),
        ]
    if args.json:
        keys = ("name", "value", "unit", "target", "ok")
        print(json.dumps({"rows": [dict(zip(keys, row, strict=True)) for row in rows]}))
        return
    longest, shortest = max(len(s.ids) for s in samples), min(len(s.ids) for s in samples)
    print(f"{platform.machine()}, {os.cpu_count()} processors, {args.threads} threads, torch {torch.__version__}")
    print(
        f"{len(samples)} samples of {shortest} to {longest} tokens, {tokens} in all, {trained} of them trained; fp32\n"
    )
    print("| what | value | unit | aim | reached |\n|---|---|---|---|---|")
    for name, value, unit, target, ok in rows:
        shown = f"{value:.6f}" if unit == "cosine" else f"{value:,.2f}"
        print(f"| {name} | {shown} | {unit} | {target or ''} | {'' if ok is None else 'yes' if ok else 'no'} |")


if __name__ == "__main__":
    main()
