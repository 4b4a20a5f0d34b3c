"""Turn a GGUF file into a transformers folder that vLLM and training load. Run by a Python that has transformers,
torch, gguf and accelerate, such as the one of scripts/vllm_cpu.sh.

    var/vllm-env/bin/python scripts/gguf_to_transformers.py var/models/smollm2-135m.q8_0.gguf var/models/smollm2-135m-hf
"""

import os
import sys
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import transformers


def convert(file: Path, folder: Path) -> None:
    """Weights dequantised to bfloat16, tokenizer and chat template beside them; the folder appears whole or not."""
    more = {}
    if hasattr(transformers, "GgufConfig"):  # newer versions keep weights packed unless told otherwise
        more["quantization_config"] = transformers.GgufConfig(dequantize=True)
    source = {"pretrained_model_name_or_path": file.parent, "gguf_file": file.name}
    model = transformers.AutoModelForCausalLM.from_pretrained(**source, dtype=torch.bfloat16, **more)
    tokenizer = transformers.AutoTokenizer.from_pretrained(**source)
    part = folder.with_name(folder.name + ".part")
    model.save_pretrained(part)
    tokenizer.save_pretrained(part)
    part.rename(folder)


if __name__ == "__main__":
    convert(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
