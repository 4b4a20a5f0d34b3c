"""The catalog on object storage: files are put there whole, and fetched once, because they never change."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from data.writing import written
from spade.errors import Abort
from spade.operating_settings import StoreSettings

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

CONNECT_SECONDS, REQUEST_SECONDS, TRIES = 5, 60, 4
FETCHED_AT_ONCE = 16
_REFUSED = ("ACCESS_DENIED", "INVALID_ACCESS_KEY", "INVALID_CLIENT_TOKEN", "SIGNATURE", "HTTP response code 403")
_ABSENT = ("NO_SUCH_BUCKET", "HTTP response code 404")


@dataclass(frozen=True)
class Remote:
    """One folder of a store; picklable, connected when it is first asked. `path` is relative to the store's URL.

    A put is whole or absent: object stores show an upload when it is complete, file systems get a rename.
    """

    settings: StoreSettings
    path: str = ""

    def folder(self, name: str) -> "Remote":
        return Remote(self.settings, f"{self.path}/{name}" if self.path else name)

    def names(self) -> list[str]:
        """The files directly in the folder; none when there is no such folder. Raises `Abort`."""
        from pyarrow.fs import FileSelector, FileType

        with self._plainly():
            found = self._system.get_file_info(FileSelector(self._root, allow_not_found=True))
        return [info.base_name for info in found if info.type == FileType.File]

    def put(self, source: Path) -> None:
        """Store a whole file under its own name. Raises `Abort`."""
        content = source.read_bytes()
        with self._plainly():
            if self._system.type_name == "local":
                self._put_here(source.name, content)
                return
            with self._system.open_output_stream(f"{self._root}/{source.name}") as stream:
                stream.write(content)

    def fetch(self, names: Sequence[str], target: Path) -> None:
        """Have files in the folder `target` too; one that went away meanwhile is left out. Raises `Abort`."""
        if names:
            with ThreadPoolExecutor(min(FETCHED_AT_ONCE, len(names))) as threads:
                list(threads.map(lambda name: self._fetch(name, target), names))

    def delete(self, name: str) -> None:
        """Raises `Abort`; what is gone already is gone."""
        with self._plainly(), suppress(FileNotFoundError):
            self._system.delete_file(f"{self._root}/{name}")

    def _fetch(self, name: str, target: Path) -> None:
        try:
            with self._plainly(), self._system.open_input_stream(f"{self._root}/{name}") as stream:
                content = stream.read()
        except FileNotFoundError:
            return
        with written(target / name, flushed=False) as file:
            file.write(content)

    def _put_here(self, name: str, content: bytes) -> None:
        self._system.create_dir(self._root)
        temporary = f"{self._root}/.tmp-{os.getpid()}-{name}"
        with self._system.open_output_stream(temporary) as stream:
            stream.write(content)
        self._system.move(temporary, f"{self._root}/{name}")

    @cached_property
    def _located(self) -> "tuple[FileSystem, str]":
        from pyarrow.fs import AwsStandardS3RetryStrategy, FileSystem, S3FileSystem

        url = self.settings.url or ""
        with self._plainly():
            if not url.startswith("s3://"):
                return FileSystem.from_uri(url)
            parts = urlsplit(url)
            system = S3FileSystem(
                endpoint_override=self.settings.endpoint,
                region=self.settings.region,
                connect_timeout=CONNECT_SECONDS,
                request_timeout=REQUEST_SECONDS,
                retry_strategy=AwsStandardS3RetryStrategy(max_attempts=TRIES),
            )
            return system, f"{parts.netloc}{parts.path}".rstrip("/")

    @property
    def _system(self) -> "FileSystem":
        return self._located[0]

    @property
    def _root(self) -> str:
        return f"{self._located[1].rstrip('/')}/{self.path}"

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        """Trouble with the store in one sentence; a file that is not there stays `FileNotFoundError`."""
        try:
            yield
        except FileNotFoundError:
            raise
        except (OSError, ValueError) as error:
            raise self._abort(str(error)) from error

    def _abort(self, said: str) -> Abort:
        url = self.settings.url
        if any(word in said for word in _REFUSED):
            return Abort(f"The store {url} refuses us.", "Give keys that may read and write there (AWS_ACCESS_KEY_ID).")
        if any(word in said for word in _ABSENT):
            return Abort(f"The store {url} has no such bucket.", "Make the bucket, or mend store.url.")
        return Abort(f"The store {url} cannot be used: {said}.", "Mend store.url, store.endpoint or the network.")


def lance_place(settings: StoreSettings) -> tuple[str, dict[str, str]]:
    """Where the memory's tables lie in a store, and LanceDB's options for it."""
    options = {"aws_region": settings.region} if settings.region else {}
    if settings.endpoint:
        options |= {
            "aws_endpoint": settings.endpoint,
            "allow_http": str(settings.endpoint.startswith("http://")).lower(),
        }
    return f"{(settings.url or '').rstrip('/')}/memory", options
