"""Datasets as TRL's own trainers read them: each takes a step on them, on the processor, with a tiny model."""

from pathlib import Path

import pytest

from tests.data.consumers.conftest import ran

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

TINY = """
import sys
import torch
from datasets import load_dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from trl.chat_template_utils import qwen3_chat_template

rows = load_dataset(sys.argv[1], split="train")
special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
alphabet = pre_tokenizers.ByteLevel.alphabet()
tokenizer.train_from_iterator([], trainers.BpeTrainer(special_tokens=special, initial_alphabet=alphabet))
tokenizer = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>")
tokenizer.chat_template = qwen3_chat_template
torch.manual_seed(0)
shape = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2)
config = Qwen3Config(vocab_size=len(tokenizer), head_dim=16, pad_token_id=0, eos_token_id=2, **shape)
Qwen3ForCausalLM(config).save_pretrained(sys.argv[2] + "/tiny")
model = Qwen3ForCausalLM.from_pretrained(sys.argv[2] + "/tiny")  # some trainers load a second one from where it came
common = dict(output_dir=sys.argv[2], max_steps=1, per_device_train_batch_size=2, use_cpu=True, report_to="none",
              logging_steps=1, save_strategy="no", learning_rate=1e-3, bf16=False)
before = {name: value.clone() for name, value in model.named_parameters()}

def step(trainer):
    trainer.train()
    said = [entry for entry in trainer.state.log_history if "loss" in entry or "train_loss" in entry]
    assert said and all(torch.isfinite(torch.tensor(float(entry.get("loss", 0.0)))) for entry in said), said
    moved = any(not torch.equal(value, before[name]) for name, value in trainer.model.named_parameters())
    print("trained" if moved else "unmoved", len(rows))
"""
SFT = """
from trl import SFTConfig, SFTTrainer
step(SFTTrainer(model, args=SFTConfig(max_length=256, **common), train_dataset=rows, processing_class=tokenizer))
"""
DPO = """
from trl import DPOConfig, DPOTrainer
step(DPOTrainer(model, args=DPOConfig(max_length=256, **common), train_dataset=rows, processing_class=tokenizer))
"""
KTO = """
from trl import KTOConfig, KTOTrainer
step(KTOTrainer(model, args=KTOConfig(max_length=256, **common), train_dataset=rows, processing_class=tokenizer))
"""
GRPO = """
sys.path.insert(0, sys.argv[1])
from spade_trl import SpadeEnv
from trl import GRPOConfig, GRPOTrainer

def reward(environments, **kwargs):
    returns = [environment.get_reward() for environment in environments]
    print("played", len(returns), all(0.0 <= value <= 1.0 for value in returns))
    return [value + 0.01 * at for at, value in enumerate(returns)]  # some spread, so that there is a gradient

config = GRPOConfig(max_completion_length=48, num_generations=2, max_tool_calling_iterations=2, **common)
step(GRPOTrainer(model, reward_funcs=reward, args=config, train_dataset=rows, processing_class=tokenizer,
                 environment_factory=SpadeEnv))
"""


@pytest.mark.parametrize(
    ("kind", "trainer"),
    [
        ("sft", SFT),
        ("sft-tools", SFT),
        ("sft-mixed", SFT),
        ("prompt-completion", SFT),
        ("dpo", DPO),
        ("kto", KTO),
        ("grpo", GRPO),
    ],
)
def test_a_trainer_takes_a_step(exported: dict[str, Path], tmp_path: Path, kind: str, trainer: str) -> None:
    said = ran("trl", TINY + trainer, exported[kind], tmp_path)
    assert "trained" in said, said
    if kind == "grpo":
        assert "played 2 True" in said
