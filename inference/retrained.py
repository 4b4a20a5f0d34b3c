"""Trained weights as a GGUF file, for llama.cpp: the file they were unpacked from, with the trained values in it.

Metadata and tokenizer are the old file's, so that the server treats the new one as it did the old. A matrix takes the
old one's type or another; vectors stay whole.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from inference.requantising import finish, writer_like
from spade.errors import Abort

ENDS = (".weight", ".bias")
ROTATED = ("attn_q.", "attn_k.")
"""Matrices whose rows llama.cpp keeps in another order than transformers in models of the llama family: rotary pairs
lie side by side instead of half a head apart."""
FILE_TYPES = {"F32": 0, "F16": 1, "Q8_0": 7}
"""llama.cpp's numbers for files that are mostly of a type (`general.file_type`)."""


def write_gguf(state: Mapping[str, Any], like: Path, target: Path, kind: str = "Q8_0") -> None:
    """Write `target`: the file `like` with the weights of `state` (names of transformers) as `kind`, one of
    `FILE_TYPES`. Raises `Abort` when `state` lacks a weight that the file has, or has one of another shape."""
    import gguf

    reader = gguf.GGUFReader(like)
    named = dict(_named(reader, state, like.name))
    writer = writer_like(reader, target, FILE_TYPES[kind])
    for tensor in reader.tensors:
        values, matrix = named[tensor.name], len(tensor.shape) > 1
        of = gguf.GGMLQuantizationType[kind if matrix else "F32"]
        writer.add_tensor(tensor.name, gguf.quants.quantize(values, of), raw_dtype=of)
    finish(writer)


def _named(reader: Any, state: Mapping[str, Any], like: str) -> Iterator[tuple[str, Any]]:
    """Values in llama.cpp's names and order, float32, for every tensor of the old file."""
    import gguf

    architecture = _text(reader, "general.architecture")
    numbers = {name: number for number, name in gguf.MODEL_ARCH_NAMES.items()}
    layers = int(reader.get_field(f"{architecture}.block_count").contents())
    names = gguf.get_tensor_name_map(numbers[architecture], layers)
    found = {names.get_name(name, try_suffixes=ENDS): tensor for name, tensor in state.items()}
    missing = sorted(tensor.name for tensor in reader.tensors if tensor.name not in found)
    if missing:
        raise Abort(
            f"The trained weights lack {missing[0]} ({len(missing)} in all) of {like}.", "Name its own GGUF file."
        )
    for tensor in reader.tensors:
        values = found[tensor.name].detach().float().cpu().numpy()
        if list(values.shape) != [int(n) for n in reversed(tensor.shape)]:
            raise Abort(
                f"{tensor.name} has the shape {list(values.shape)}, in {like} {list(reversed(tensor.shape))}.",
                "Name the GGUF file that this model was trained from.",
            )
        if architecture == "llama" and any(part in tensor.name for part in ROTATED):
            which = "head_count" if "attn_q." in tensor.name else "head_count_kv"
            values = _rotated(values, int(reader.get_field(f"llama.attention.{which}").contents()))
        yield tensor.name, values


def _rotated(values: Any, heads: int) -> Any:
    """[heads x 2 x half, ...] with each head's two halves interleaved."""
    return (
        values.reshape(heads, 2, values.shape[0] // heads // 2, *values.shape[1:]).swapaxes(1, 2).reshape(values.shape)
    )


def _text(reader: Any, name: str) -> str:
    return str(reader.get_field(name).contents())
