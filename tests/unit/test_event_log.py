"""The log for machines: whole lines, ids, and no secret, whatever is written."""

import json
import logging
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from flows.configuring import load_settings
from flows.event_log import HIDDEN, EventLog, LogLines, secrets_of
from tasks.tracing import about, ids

printable = st.text(st.characters(blacklist_categories=["Cs"]), max_size=40)


def lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@given(printable, printable)
def test_a_secret_never_gets_through(before: str, after: str) -> None:
    log = EventLog(Path("/dev/null"), {}, ["hunter2-password"])
    try:
        assert "hunter2-password" not in log.scrubbed(f"{before}hunter2-password{after}")
    finally:
        log.close()


def test_what_looks_like_a_key_is_hidden_too(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl", {"run": "r"}, [])
    log.saw("blocked", "x", why="Authorization: Bearer abcdefghijkl")
    log.saw("blocked", "x", why="postgresql+asyncpg://spade:tell-nobody@host/db")
    log.saw("blocked", "x", why="the line stays")
    log.close()

    text = (tmp_path / "events.jsonl").read_text("utf-8")
    assert "abcdefghijkl" not in text
    assert "tell-nobody" not in text
    assert [line["why"].count(HIDDEN) for line in lines(tmp_path / "events.jsonl")] == [1, 1, 0]


def test_secrets_come_from_the_settings_and_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_AUTH_STRING", "someone:a-long-password")
    settings = load_settings("default", {"model": {"api_key": SecretStr("the-key-of-the-settings")}})

    assert {"the-key-of-the-settings", "a-long-password"} <= set(secrets_of(settings))


def test_lines_say_what_they_are_about(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl", {"run": "r"}, [])
    handler = LogLines(log)
    handler.attach()
    try:
        with about(slot="slot-1"), about(environment="env-1"):
            log.saw("hinted", "env-1")
            logging.getLogger("inference.endpoint").warning("slow %s", "today")
            logging.getLogger("prefect.flow_runs").info("of no interest", extra={"send_to_api": False})
        assert dict(ids()) == {}
    finally:
        handler.detach()
        log.close()

    hinted, slow = lines(tmp_path / "events.jsonl")
    assert (hinted["event"], hinted["slot"], hinted["environment"], hinted["run"]) == ("hinted", "slot-1", "env-1", "r")
    assert (slow["level"], slow["message"], slow["slot"]) == ("warning", "slow today", "slot-1")


def test_calls_that_went_well_are_not_written(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl", {}, [])
    log.saw("answered", "agent", ended="ok", seconds=0.1, tokens=(1, 1))
    log.saw("answered", "agent", ended="retry", seconds=0.1, tokens=(0, 0))
    log.close()

    assert [line["ended"] for line in lines(tmp_path / "events.jsonl")] == ["retry"]


def test_a_full_disk_loses_lines_and_nothing_else() -> None:
    log = EventLog(Path("/dev/full"), {}, [])
    log.saw("scored", "env-1")
    log.close()
