"""Weights in the form that this machine multiplies fastest.

The packaged SmolLM2 is Q4_1, for which llama.cpp has no matrix kernel: a prompt costs as much a token as generation.
As Q8_0, which holds every value of Q4_1 to within half a step of 1/127 of its block, prompts take half the time.
"""

from pathlib import Path
from typing import Any

FILE_TYPE, Q8_0 = "general.file_type", 7
"""llama.cpp's number for a file that is mostly Q8_0 (`LLAMA_FTYPE_MOSTLY_Q8_0`)."""
WHOLE = ("F32", "F16", "BF16", "Q8_0")
"""Tensors of these types stay as they are."""


def to_q8_0(source: Path, target: Path) -> None:
    """Write the GGUF file `source` to `target` with its quantised matrices as Q8_0. Raises `ValueError` when `source`
    is no GGUF file, `OSError` when `target` cannot be written."""
    import gguf

    reader = gguf.GGUFReader(source)
    writer = writer_like(reader, target, Q8_0)
    for tensor in reader.tensors:
        data, kind = tensor.data, tensor.tensor_type
        if kind.name not in WHOLE:
            kind = gguf.GGMLQuantizationType.Q8_0
            data = gguf.quants.quantize(gguf.quants.dequantize(tensor.data, tensor.tensor_type), kind)
        writer.add_tensor(tensor.name, data, raw_dtype=kind)
    finish(writer)


def writer_like(reader: Any, target: Path, file_type: int) -> Any:
    """A writer of `target` that has the metadata and tokenizer of what is read; tensors are still to be added. Raises
    `ValueError` when the file names no architecture."""
    import gguf

    architecture = reader.get_field("general.architecture")
    if architecture is None:
        raise ValueError("it names no architecture")
    writer = gguf.GGUFWriter(target, architecture.contents())
    for name, field in reader.fields.items():
        if not name.startswith("GGUF.") and name != "general.architecture":
            value = file_type if name == FILE_TYPE else field.contents()
            writer.add_key_value(name, value, field.types[0], field.types[1] if len(field.types) > 1 else None)
    return writer


def finish(writer: Any) -> None:
    """Write everything that was added, and close."""
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
