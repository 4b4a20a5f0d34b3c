"""Small models from nothing: a tokenizer learned from texts and a transformer with random weights.

For experiments on a processor. Pieces are merged over spaces, so that a phrase that always comes whole is one token;
numbers stay whole and apart.
"""

from collections.abc import Iterable, Sequence
from typing import Any

TEMPLATE = (
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SPECIAL = ("<|end|>", "<|pad|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>")


def scratch_tokenizer(texts: Iterable[str], size: int = 1024, whole: Sequence[str] = ()) -> Any:
    """A byte-level BPE tokenizer of about `size` tokens. `whole` texts are one token each, wherever they stand."""
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r" ?[0-9]+"), behavior="isolated"),
            pre_tokenizers.Split(Regex(r"[.;:,?!] "), behavior="merged_with_previous"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>", pad_token="<|pad|>")
    fast.add_tokens([text for text in whole if len(fast(text, add_special_tokens=False)["input_ids"]) > 1])
    fast.chat_template = TEMPLATE
    return fast


def scratch_model(tokenizer: Any, *, width: int = 64, layers: int = 2, heads: int = 4, seed: int = 0) -> Any:
    """A Qwen3-style transformer with random weights and tied embeddings; attention heads of `width / heads`."""
    import torch
    from transformers import GenerationConfig, Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=4 * width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        head_dim=width // heads,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        initializer_range=0.06,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    model = Qwen3ForCausalLM(config)
    model.generation_config = GenerationConfig(eos_token_id=tokenizer.eos_token_id)
    return model
