"""Catalog and memory on object storage: two homes share one store; trouble with it is one sentence."""

import pickle
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from data.catalog import Catalog
from data.embedding import HashedEmbedder
from data.integrity import breaches
from data.memory import VectorMemory
from data.remote import Remote
from flows.prefect_server import free_port
from spade.errors import Abort
from spade.operating_settings import StoreSettings
from tests.data.records import chain, episode
from tests.fakes_store import s3


@pytest.fixture(params=["s3", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StoreSettings]:
    if request.param == "file":
        yield StoreSettings(url=(tmp_path / "shared").as_uri())
        return
    with s3() as found:
        yield found


def ids(catalog: Catalog) -> list[str]:
    return [row["episode_id"] for row in catalog.query("select episode_id from episodes order by 1")]


def test_what_one_home_stores_another_one_reads(store: StoreSettings, tmp_path: Path) -> None:
    one, other = Catalog(tmp_path / "one", store), Catalog(tmp_path / "other", store)
    assert other.exists()
    assert ids(other) == []
    chain(one, 0)
    assert ids(one) == ids(other) != []
    chain(other, 1)
    assert ids(one) == ids(other)
    assert len(ids(one)) == len(set(ids(one))) == len(one.episodes())
    assert one.environments() == other.environments()
    assert ids(pickle.loads(pickle.dumps(one))) == ids(other)


def test_a_row_stored_from_two_homes_is_there_once(store: StoreSettings, tmp_path: Path) -> None:
    one, other = Catalog(tmp_path / "one", store), Catalog(tmp_path / "other", store)
    for catalog in (one, other):
        catalog.append("episodes", [episode(play=3)])
    assert ids(one) == ids(other)
    assert len(ids(one)) == 1


def broken_rows(catalog: Catalog) -> dict[str, set[str]]:
    """Rows by the rule they break, which come in any order."""
    return {breach.rule: set(breach.rows) for breach in breaches(catalog)}


def test_a_home_merges_what_all_have_stored(store: StoreSettings, tmp_path: Path) -> None:
    one, other = Catalog(tmp_path / "one", store), Catalog(tmp_path / "other", store)
    for number in range(4):
        chain((one, other)[number % 2], number)
    before, broken = ids(other), broken_rows(other)
    assert one.compact("episodes") == {"episodes": 4}
    assert ids(one) == ids(other) == before
    one.compact("episodes", grace_seconds=0.0)
    assert len(Remote(store, "catalog/episodes").names()) == 1
    assert ids(one) == ids(other) == ids(Catalog(tmp_path / "third", store)) == before
    assert broken_rows(other) == broken


def test_what_could_not_be_put_there_is_not_stored(
    store: StoreSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: Remote, source: Path) -> None:
        raise Abort("The store refuses us.")

    catalog = Catalog(tmp_path / "one", store)
    with monkeypatch.context() as patched:
        patched.setattr(Remote, "put", refused)
        with pytest.raises(Abort):
            catalog.append("episodes", [episode()])
    assert ids(catalog) == []
    assert list((tmp_path / "one").rglob("*.parquet")) == []
    catalog.append("episodes", [episode()])
    assert len(ids(catalog)) == 1


def test_a_file_that_never_reached_the_store_does_not_count(store: StoreSettings, tmp_path: Path) -> None:
    """A kill between the file here and the one there."""
    catalog = Catalog(tmp_path / "one", store)
    catalog.append("episodes", [episode(play=1)])
    [segment] = (tmp_path / "one").rglob("*.parquet")
    (segment.parent / segment.name.replace("-", "-f", 1)).write_bytes(segment.read_bytes())
    assert len(Catalog(tmp_path / "one", store).query("select 1 from episodes")) == 1


def test_homes_share_a_memory(tmp_path: Path) -> None:
    with s3() as store:
        one, other = (VectorMemory(tmp_path / name, HashedEmbedder(), store) for name in ("one", "other"))
        one.add("env-a", "guess a number", {"skill": "logical_deduction"})
        other.add("env-b", "walk through a maze", {"skill": "logical_deduction"})
        other.add("env-a", "guess a number", {"skill": "logical_deduction", "title": "new"})
        assert [r.env_id for r in one.nearest("guess a number", 2)] == ["env-a", "env-b"]
        assert one.nearest("guess a number", 1)[0].payload["title"] == "new"
        one.optimise()
        assert len(other.nearest("a maze", 5)) == 2
        assert "2 environments" in pickle.loads(pickle.dumps(other)).describe()


class Refusing(BaseHTTPRequestHandler):
    """Answers everything with S3's words for wrong keys."""

    def answer(self) -> None:
        said = b"<?xml version='1.0'?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
        self.send_response(403)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_HEAD = do_PUT = do_POST = answer

    def log_message(self, *_: object) -> None:
        return


def test_a_store_that_refuses_us_is_said_to(tmp_path: Path) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with s3() as store:
            there = store.model_copy(update={"endpoint": f"http://127.0.0.1:{server.server_port}"})
            with pytest.raises(Abort, match=r"refuses us.*AWS_ACCESS_KEY_ID"):
                ids(Catalog(tmp_path, there))
    finally:
        server.shutdown()
        server.server_close()


def test_trouble_with_a_store_is_one_sentence(tmp_path: Path) -> None:
    with s3() as store:
        nowhere = store.model_copy(update={"endpoint": f"http://127.0.0.1:{free_port()}"})
        with pytest.raises(Abort, match=r"cannot be used.*Could not connect"):
            ids(Catalog(tmp_path, nowhere))
        with pytest.raises(Abort, match="no such bucket"):
            Catalog(tmp_path, store.model_copy(update={"url": "s3://nobody-has-this/x"})).append(
                "episodes", [episode()]
            )
        with pytest.raises(Abort, match="cannot open the memory"):
            VectorMemory(tmp_path, HashedEmbedder(), nowhere).describe()
    with pytest.raises(Abort, match=r"cannot be used.*store\.url"):
        ids(Catalog(tmp_path, StoreSettings(url="tape://drawer")))
