"""The progress of a run in the terminal: bars where there is a terminal, plain lines where there is none."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

BARS = ("design", "hints", "plays", "scores")
SAMPLES = "samples"


class ProgressWatcher:
    """Counts what tasks report and shows it. `plain` prints a line an event worth one instead of drawing bars."""

    def __init__(self, console: Console, *, plain: bool) -> None:
        self._console = console
        self._plain = plain
        self._progress = Progress(
            TextColumn("{task.description:<8}"),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}"),
            console=console,
            disable=plain,
        )
        self._bars: dict[str, TaskID] = {}
        self._counts: Counter[str] = Counter()
        self._totals: dict[str, int] = {}
        self._rejections: Counter[str] = Counter()

    @contextmanager
    def showing(self) -> Iterator["ProgressWatcher"]:
        with self._progress:
            yield self

    def saw(self, stage: str, subject: str, **facts: Any) -> None:
        """One event of the run; unknown stages are ignored, so that tasks may report more than is shown."""
        handler = getattr(self, f"_on_{stage}", None)
        if handler is not None:
            handler(subject, **facts)

    def _on_opening(self, subject: str, *, what: str) -> None:
        self._console.print(what, highlight=False)

    def _on_cycle(self, subject: str, *, number: int, slots: int, plays: int) -> None:
        self._counts.clear()
        self._rejections.clear()
        self._console.print(f"Cycle {number}: {slots} slots, {plays} plays per arm", highlight=False)
        self._totals = {"design": slots, "hints": slots, "plays": 2 * slots * plays, "scores": slots}
        self._plays = plays
        for name in BARS:
            if name in self._bars:
                self._progress.remove_task(self._bars[name])
            self._bars[name] = self._progress.add_task(name, total=self._totals[name], note="")

    def _on_refused(self, subject: str, *, gate: str) -> None:
        self._rejections[gate] += 1
        common = ", ".join(f"{name} {count}" for name, count in self._rejections.most_common(3))
        self._note("design", f"refused: {common}")

    def _on_designed(self, subject: str) -> None:
        self._advance("design")

    def _on_settled(self, subject: str, *, left: int) -> None:
        self._shrink("plays", left)

    def _on_dropped(self, subject: str, *, why: str) -> None:
        for name, count in (("design", 1), ("hints", 1), ("plays", 2 * self._plays), ("scores", 1)):
            self._shrink(name, count)

    def _on_hinted(self, subject: str) -> None:
        self._advance("hints")

    def _on_unhinted(self, subject: str) -> None:
        self._shrink("hints", 1)
        self._shrink("plays", self._plays)

    def _on_episode(self, subject: str, *, arm: str, won: bool | None, **_: Any) -> None:
        self._counts[f"{arm} {'won' if won else 'ended'}"] += 1
        self._note("plays", f"won: plain {self._counts['plain won']}, hinted {self._counts['hinted won']}")
        self._advance("plays")

    def _on_resumed(self, subject: str, *, plays: int) -> None:
        if plays:
            self._advance("plays", plays)

    def _on_paused(self, subject: str, *, why: str) -> None:
        self._console.print(f"[yellow]Stopped at a slot border:[/yellow] {escape(why)}", highlight=False)

    def _on_alarm(self, subject: str, *, why: str) -> None:
        self._console.print(f"[red]Alarm:[/red] {escape(why)}", highlight=False)

    def _on_blocked(self, subject: str, *, why: str) -> None:
        self._console.print(f"[yellow]No dataset:[/yellow] {escape(why)}", highlight=False)

    def _on_pending(self, subject: str, *, count: int, limit: int | None) -> None:
        wanted = count if limit is None else min(count, limit)
        self._console.print(f"{count} rounds to learn from; {wanted} updates now", highlight=False)
        self._totals["updates"] = wanted
        self._bars["updates"] = self._progress.add_task("updates", total=wanted, note="")

    def _on_updated(self, subject: str, *, number: int, seconds: float, **figures: float) -> None:
        said = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
        if "updates" in self._bars:
            self._progress.advance(self._bars["updates"])
        self._console.print(f"  update {number} from {subject} in {seconds:.1f} s: {said}", highlight=False)

    def _on_evaluating(self, subject: str, *, asked: int, stored: int) -> None:
        self._console.print(f"{subject}: {asked} samples, {stored} of them stored already", highlight=False)
        self._totals[SAMPLES], self._counts[SAMPLES] = asked, stored
        if SAMPLES in self._bars:
            self._progress.remove_task(self._bars[SAMPLES])
        self._bars[SAMPLES] = self._progress.add_task(SAMPLES, total=asked, completed=stored, note="")

    def _on_sampled(self, subject: str, *, outcome: str, score: float | None) -> None:
        self._counts[outcome] += 1
        self._counts[SAMPLES] += 1
        self._progress.advance(self._bars[SAMPLES])
        self._note(SAMPLES, f"scored {self._counts['scored']}")
        if self._plain and self._counts[SAMPLES] % 10 == 0:
            self._console.print(f"  {SAMPLES} {self._counts[SAMPLES]} of {self._totals[SAMPLES]}", highlight=False)

    def _on_evaluated(self, subject: str, *, score: float | None) -> None:
        said = "nothing was measured" if score is None else f"{score:.3f} over all tasks"
        self._console.print(f"{subject}: {said}", highlight=False)

    def _on_scored(self, subject: str) -> None:
        self._advance("scores")

    def _advance(self, name: str, count: int = 1) -> None:
        self._counts[name] += count
        self._progress.advance(self._bars[name], count)
        if self._plain and (name != "plays" or self._counts[name] % (4 * self._plays) == 0):
            self._console.print(f"  {name} {self._counts[name]} of {self._totals[name]}", highlight=False)

    def _shrink(self, name: str, count: int) -> None:
        self._totals[name] -= count
        self._progress.update(self._bars[name], total=self._totals[name])

    def _note(self, name: str, note: str) -> None:
        self._progress.update(self._bars[name], note=note)
