"""Weights change their form, not what they say."""

from pathlib import Path

import gguf
import numpy as np
import pytest

from inference.requantising import to_q8_0

Q4_1, Q8_0, F32 = (gguf.GGMLQuantizationType[name] for name in ("Q4_1", "Q8_0", "F32"))


def written(path: Path) -> Path:
    numbers = np.random.default_rng(7)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_file_type(3)
    writer.add_token_list(["a", "b", "\u00fc"])
    writer.add_add_bos_token(True)
    writer.add_tensor("norm", numbers.normal(size=64).astype(np.float32))
    matrix = numbers.normal(size=(8, 64)).astype(np.float32)
    for name, kind in (("matrix", Q4_1), ("embedding", Q8_0)):
        writer.add_tensor(name, gguf.quants.quantize(matrix, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_matrices_become_q8_0_and_all_else_stays(tmp_path: Path) -> None:
    source = written(tmp_path / "source.gguf")
    to_q8_0(source, tmp_path / "made.gguf")
    before, after = gguf.GGUFReader(source), gguf.GGUFReader(tmp_path / "made.gguf")

    assert {t.name: t.tensor_type for t in after.tensors} == {"norm": F32, "matrix": Q8_0, "embedding": Q8_0}
    for old, new in zip(before.tensors, after.tensors, strict=True):
        values = gguf.quants.dequantize(old.data, old.tensor_type)
        step = np.abs(values).max() / 127
        assert np.abs(gguf.quants.dequantize(new.data, new.tensor_type) - values).max() <= step / 2 + 1e-6
    told = {name: field.contents() for name, field in after.fields.items() if not name.startswith("GGUF.")}
    assert told == {
        "general.architecture": "llama",
        "general.file_type": 7,
        "tokenizer.ggml.tokens": ["a", "b", "\u00fc"],
        "tokenizer.ggml.add_bos_token": True,
    }


def test_a_file_that_is_no_gguf_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"not a model at all, by any means")

    with pytest.raises(ValueError, match="GGUF"):
        to_q8_0(tmp_path / "x", tmp_path / "y")
