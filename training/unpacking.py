"""A GGUF file as a transformers folder that can be trained: weights dequantised, tokenizer beside them."""

import os
from pathlib import Path

from spade.errors import Abort, boundary
from training.writing import folder_appearing


def unpack_gguf(file: Path, folder: Path) -> Path:
    """Write `folder` from `file` unless it is there. Raises `Abort` when transformers cannot read the file."""
    if (folder / "config.json").is_file():
        return folder
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch
    import transformers

    with boundary(Abort, f"{file.name} could not be unpacked for training", "Name a transformers folder instead."):
        model = transformers.AutoModelForCausalLM.from_pretrained(
            file.parent,
            gguf_file=file.name,
            dtype=torch.float32,
            quantization_config=transformers.GgufConfig(dequantize=True),
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
        with folder_appearing(folder) as part:
            model.save_pretrained(part)
            tokenizer.save_pretrained(part)
    return folder
