"""A process is started again when it dies, and not for ever."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from flows.guarding import Deaths, Guarded


def sleeping() -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])


def ending() -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def stop(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()


def test_a_killed_process_is_started_again_and_stays_stopped_in_the_end() -> None:
    guarded = Guarded(sleeping, lambda _: None)
    guarded.watch()
    first = guarded.process
    first.kill()
    until(lambda: guarded.process is not first and guarded.process.poll() is None)
    second = guarded.process
    guarded.close(stop)

    assert not guarded.gave_up
    assert guarded.process is second
    assert second.poll() is not None


def test_a_process_that_always_ends_interrupts_the_run_and_then_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flows.guarding.PATIENCE_SECONDS", 0.5)
    told: list[int] = []
    died: list[bool] = []
    before = signal.signal(signal.SIGINT, lambda number, _: told.append(number))
    try:
        guarded = Guarded(ending, died.append)
        guarded.watch()
        until(lambda: bool(told))
        guarded.close(stop)
        until(lambda: bool(died))
    finally:
        signal.signal(signal.SIGINT, before)

    assert guarded.gave_up
    assert told == [signal.SIGINT]
    assert died == [True]


def test_one_that_never_was_watched_can_be_closed() -> None:
    guarded = Guarded(sleeping, lambda _: None)
    guarded.close(stop)
    assert guarded.process.poll() is not None


@pytest.mark.parametrize(("seconds_between", "too_many"), [(1.0, True), (40.0, False)])
def test_deaths_far_apart_do_not_add_up(seconds_between: float, *, too_many: bool) -> None:
    now = [0.0]
    deaths = Deaths(most=3, within=60.0, clock=lambda: now[0])
    found = []
    for _ in range(6):
        found.append(deaths.one_more())
        now[0] += seconds_between
    assert any(found) is too_many


def test_too_many_is_one_more_than_most() -> None:
    deaths = Deaths(most=2, within=60.0)
    assert [deaths.one_more() for _ in range(3)] == [False, False, True]
