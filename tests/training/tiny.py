"""A model of a few thousand weights, and samples it could have played, for tests that compute."""

from dataclasses import replace
from random import Random
from typing import Any

from spade.messages import Role
from training.batches import Batch
from training.samples import Sample

VOCABULARY = 37


def tiny_model(seed: int = 0, *, family: str = "llama", tied: bool = False) -> Any:
    """A causal language model of transformers with random weights."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(seed)
    size = {
        "vocab_size": VOCABULARY,
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 8,
        "max_position_embeddings": 256,
        "initializer_range": 0.3,
        "tie_word_embeddings": tied,
    }
    if family == "qwen3":
        return Qwen3ForCausalLM(Qwen3Config(**size)).eval()
    return LlamaForCausalLM(LlamaConfig(**size)).eval()


def random_samples(count: int = 8, seed: int = 0, role: Role = Role.AGENT, guided: bool = False) -> list[Sample]:
    """Samples of different lengths with several output spans; `played` gives them true log-probabilities."""
    rng = Random(seed)
    made = []
    for number in range(count):
        ids = tuple(rng.randrange(VOCABULARY) for _ in range(rng.randrange(6, 30)))
        at = tuple(sorted(rng.sample(range(2, len(ids)), rng.randrange(2, min(8, len(ids) - 2)))))
        choices = [tuple(sorted({ids[a], *(rng.randrange(VOCABULARY) for _ in range(4))})) for a in at]
        made.append(
            Sample(
                role=role,
                group=f"g{number // 4}",
                subject_id=f"{role}-{number}",
                part=0,
                ids=ids,
                at=at,
                logprobs=tuple(-rng.random() * 3 for _ in at),
                allowed=tuple(c if guided and len(c) > 1 else () for c in choices),
                advantage=rng.uniform(-2, 2),
                temperature=rng.choice((0.7, 1.0)),
                weights="w0",
                env_id=f"env-{number // 4}",
            )
        )
    return made


def played(learner: Any, samples: list[Sample]) -> list[Sample]:
    """The samples with log-probabilities as the learner's present weights give them."""
    return [
        replace(sample, logprobs=tuple(min(0.0, v) for v in values))
        for sample, values in zip(samples, learner.score(samples), strict=True)
    ]


def batch_of(samples: list[Sample]) -> Batch:
    return Batch(tuple(samples))
