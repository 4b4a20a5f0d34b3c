"""An alarm ends the slice and tells the automations why."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from flows.configuring import load_settings
from spade.curriculum import Curriculum
from spade.summary import CycleRecords, summarise
from tasks import alarming
from tasks.factory import Nobody

ONE_MAZE = Curriculum(vendi=4.1, vendi_of=41)
"""The paper's loop without documents wrote the same maze 41 times; a tenth of them differing is still too few."""


class Stopped:
    """A budget that remembers why it was told to stop."""

    why = ""

    def stop(self, why: str) -> None:
        self.why = why


def raised(found: Curriculum, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str, list[tuple[str, dict[str, Any]]]]:
    """What was said, what the budget was told, and the events, of a cycle under the default settings."""
    events: list[tuple[str, dict[str, Any]]] = []
    monkeypatch.setattr(alarming, "emit_event", lambda name, _, payload: events.append((name, payload)))
    records = CycleRecords("cycle-0", 0, {}, [], [], [], 0)
    summary = replace(summarise(records, rows=0, dataset_id="", seconds=1.0), curriculum=found)
    budget = Stopped()
    factory: Any = SimpleNamespace(settings=load_settings("default"), budget=budget, watcher=Nobody())
    return alarming.raise_alarms(factory, summary), budget.why, events


def test_too_little_variety_raises_an_alarm_that_names_its_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    why, stopped, events = raised(ONE_MAZE, monkeypatch)

    assert "latest 41 environments are only 4.1 really different ones" in why
    assert stopped == f"alarm: {why}"
    assert [name for name, _ in events] == [alarming.FINISHED, alarming.ALARM]
    assert events[1][1] == {"accepted": 0, "episodes": 0, "why": why, "vendi": 4.1, "vendi_of": 41, "mode_share": None}


def test_a_cycle_in_order_is_told_and_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    why, stopped, events = raised(Curriculum(vendi=28.0, vendi_of=41), monkeypatch)
    assert (why, stopped, [name for name, _ in events]) == ("", "", [alarming.FINISHED])
