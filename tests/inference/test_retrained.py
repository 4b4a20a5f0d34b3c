"""Trained weights as a GGUF file: what transformers reads back is what was written; what does not fit is refused."""

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

from inference.retrained import write_gguf
from spade.errors import Abort

torch = pytest.importorskip("torch", reason="needs the extra: spade-factory[train]")
pytest.importorskip("transformers", reason="needs the extra: spade-factory[train]")

WIDTH, HEADS, SHARED, WORDS = 64, 4, 2, 32


def shapes() -> dict[str, tuple[int, ...]]:
    """Names of transformers with the shapes of one small layer."""
    narrow, layer = WIDTH // HEADS * SHARED, "model.layers.0"
    return {
        "model.embed_tokens.weight": (WORDS, WIDTH),
        "model.norm.weight": (WIDTH,),
        f"{layer}.self_attn.q_proj.weight": (WIDTH, WIDTH),
        f"{layer}.self_attn.k_proj.weight": (narrow, WIDTH),
        f"{layer}.mlp.up_proj.weight": (2 * WIDTH, WIDTH),
    }


def state(**changed: Any) -> dict[str, Any]:
    numbers = torch.Generator().manual_seed(3)
    return {name: torch.randn(shape, generator=numbers) for name, shape in shapes().items()} | changed


def old_file(path: Path) -> Path:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_file_type(7)
    writer.add_block_count(1)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(SHARED)
    writer.add_token_list(["a", "b"])
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, 1)
    for name, shape in shapes().items():
        writer.add_tensor(names.get_name(name, try_suffixes=(".weight",)), np.zeros(shape, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_values_lie_where_llama_cpp_looks_for_them(tmp_path: Path) -> None:
    """In a head of 16 rows, row 1 of llama.cpp is row 8 of transformers: rotary pairs side by side."""
    given = state()
    write_gguf(given, old_file(tmp_path / "old.gguf"), tmp_path / "new.gguf", "F32")

    reader = gguf.GGUFReader(tmp_path / "new.gguf")
    found = {t.name: t.data.reshape([int(n) for n in reversed(t.shape)]) for t in reader.tensors}
    assert np.array_equal(found["token_embd.weight"], given["model.embed_tokens.weight"].numpy())
    assert np.array_equal(found["blk.0.ffn_up.weight"], given["model.layers.0.mlp.up_proj.weight"].numpy())
    queries = given["model.layers.0.self_attn.q_proj.weight"].numpy()
    assert np.array_equal(found["blk.0.attn_q.weight"][:4], queries[[0, 8, 1, 9]])
    assert np.array_equal(found["blk.0.attn_q.weight"][16:18], queries[[16, 24]])
    assert reader.get_field("general.file_type").contents() == 0
    assert reader.get_field("tokenizer.ggml.tokens").contents() == ["a", "b"]


@pytest.mark.parametrize(
    ("kind", "matrix"), [("Q8_0", gguf.GGMLQuantizationType.Q8_0), ("F16", gguf.GGMLQuantizationType.F16)]
)
def test_matrices_are_rounded_and_vectors_stay_whole(tmp_path: Path, kind: str, matrix: Any) -> None:
    write_gguf(state(), old_file(tmp_path / "old.gguf"), tmp_path / "new.gguf", kind)

    types = {t.name: t.tensor_type for t in gguf.GGUFReader(tmp_path / "new.gguf").tensors}
    assert types.pop("output_norm.weight") is gguf.GGMLQuantizationType.F32
    assert set(types.values()) == {matrix}


def test_weights_of_another_model_are_refused_by_name(tmp_path: Path) -> None:
    old = old_file(tmp_path / "old.gguf")
    lacking = {name: value for name, value in state().items() if "k_proj" not in name}

    with pytest.raises(Abort, match=r"lack blk\.0\.attn_k\.weight \(1 in all\)"):
        write_gguf(lacking, old, tmp_path / "new.gguf", "F32")
    with pytest.raises(Abort, match=r"output_norm\.weight has the shape \[5\]"):
        write_gguf(state(**{"model.norm.weight": torch.zeros(5)}), old, tmp_path / "new.gguf", "F32")
    assert not (tmp_path / "new.gguf").exists()
