"""`spade env check`, `env play`, `env show` and `spade parse`: programs and replies from the command line."""

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from spade.errors import Abort

if TYPE_CHECKING:
    from spade.ports import Limits, Sandbox
    from spade.settings import FactorySettings, SandboxSettings

env_app = typer.Typer(name="env", help="Check, play and show environments.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
File = Annotated[Path, typer.Argument(help="A program that defines one class whose name ends in Env.")]
Profile = Annotated[str | None, typer.Option(help="Take the thresholds of this settings profile.")]
TOGETHER = 4
"""Programs that are judged at once."""


@dataclass(frozen=True, slots=True)
class _Check:
    """What to do with each program."""

    settings: "FactorySettings"
    full: bool
    hint: str | None
    reports: Path | None


@env_app.command()
def check(
    files: Annotated[list[Path], typer.Argument(help="Programs.")],
    hint: Annotated[Path | None, typer.Option(help="A hint to judge with the program.")] = None,
    profile: Profile = None,
    stop: Annotated[bool, typer.Option("--stop", help="Stop at the first failed gate.")] = False,
    report: Annotated[Path | None, typer.Option(help="Write OpenEnv's report of each program into a folder.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run every gate over programs: a table of verdicts with what to mend. Exit code 1 when one is rejected."""
    from flows.configuring import load_settings
    from flows.env_tables import print_checks

    programs = [(file, _text(file)) for file in files]
    how = _Check(load_settings(profile or "default"), not stop, _text(hint) if hint else None, report)
    found = asyncio.run(_check_all(programs, how))
    if as_json:
        print(json.dumps(found, indent=2, ensure_ascii=True))
    else:
        print_checks(found)
    if not all(entry["accepted"] for entry in found):
        raise typer.Exit(1)


async def _check_all(programs: Sequence[tuple[Path, str]], how: _Check) -> list[dict[str, Any]]:
    from sandbox.opening import open_sandbox

    room = asyncio.Semaphore(TOGETHER)
    async with open_sandbox(how.settings.sandbox) as sandbox:

        async def one(file: Path, code: str) -> dict[str, Any]:
            async with room:
                return {"file": str(file), **(await _check_one(code, sandbox, how))}

        return list(await asyncio.gather(*(one(file, code) for file, code in programs)))


async def _check_one(code: str, sandbox: "Sandbox", how: _Check) -> dict[str, Any]:
    from spade.gates import examine
    from spade.gates.openenv import report_v2
    from spade.gates.reporting import check_json
    from spade.gates.source import setting_of
    from spade.leaks import judge_hint

    setting = setting_of(code)
    gates = how.settings.gates
    judged = await examine(code, setting, sandbox, _limits(how.settings.sandbox), gates, full=how.full)
    verdicts = list(judged.verdicts)
    if how.hint is not None:
        words = how.settings.hint.max_words
        verdicts += judge_hint(how.hint, code, judged.solutions, judged.observations, max_words=words)
    if how.reports is not None:
        _write_report(how.reports, report_v2(code, verdicts, gates))
    return check_json(code, setting, verdicts, gates, sandbox.report())


def _write_report(folder: Path, report: dict[str, Any]) -> None:
    path = folder / f"{report['target']}.report.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(report, indent=2, ensure_ascii=True) + "\n")
    except OSError as error:
        raise Abort(f"{path} cannot be written: {error.strerror}.", "Give another folder to --report.") from error


@env_app.command()
def play(
    file: File,
    seed: Annotated[int, typer.Option(help="Which instance.")] = 0,
) -> None:
    """Play a program in the terminal: type an action a line, boxed or not; an empty input ends the game."""
    from flows.configuring import load_settings

    code = _text(file)
    if not asyncio.run(_play(code, seed, load_settings("default").sandbox)):
        raise typer.Exit(1)


async def _play(code: str, seed: int, settings: "SandboxSettings") -> bool:
    """Whether the program behaved."""
    from sandbox.opening import open_sandbox
    from spade.boxes import action_of

    async with open_sandbox(settings) as sandbox:
        opened = await sandbox.open(code, _limits(settings))
        reply, total = opened.reply, 0.0
        if opened.game is not None:
            reply = await opened.game.reset(seed)
            print(reply.observation)
        while opened.game is not None and reply.ok:
            line = await asyncio.to_thread(_line)
            if line is None:
                print(f"\nStopped with {total:g} of 1.")
                return True
            reply = await opened.game.step(action_of(line))
            for step in reply.steps:
                total += step.reward
                print(f"{step.observation}\n[reward {step.reward:g}, total {total:g}]")
                if step.terminated or step.truncated:
                    print("You win." if total >= 1 - 1e-6 else f"The game is over with {total:g} of 1.")
                    return True
        print(f"The program failed: {reply.outcome.value}: {reply.detail}", file=sys.stderr)
        return False


@env_app.command()
def show(
    id: Annotated[str, typer.Argument(metavar="ID", help="An environment's id, or the beginning of one.")],
    home: Annotated[Path | None, typer.Option(help="Folder of run artifacts.", show_default="var")] = None,
    code: Annotated[bool, typer.Option("--code", help="Print the program alone.")] = False,
) -> None:
    """Print an environment of the catalog: what it is, its program, and the verdicts of its gates."""
    from rich.console import Console
    from rich.syntax import Syntax

    from data.catalog import Catalog
    from data.lineage import show as shown
    from flows.configuring import flags_of, load_settings
    from flows.env_tables import verdict_table
    from spade.environments import Environment
    from spade.gates.reporting import verdict_json

    settings = load_settings(None, flags_of(home=str(home) if home else None))
    catalog = Catalog(settings.home, settings.store)
    _, record = shown(catalog, id)
    if not isinstance(record, Environment):
        raise Abort(f"{id} is no environment.", "`spade show` prints every kind of record.")
    if code:
        print(record.code, end="")
        return
    console = Console()
    console.print(f"[bold]{record.env_id}[/bold]  {record.setting} · {record.skill.words} · {record.title}")
    console.print(record.mechanic)
    console.print(Syntax(record.code, "python"))
    attempts = [attempt for attempt in catalog.attempts(env_id=[record.env_id]) if attempt.accepted]
    console.print(verdict_table([verdict_json(v) for attempt in attempts[:1] for v in attempt.verdicts], "Gates"))


def parse(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A raw reply; - reads standard input.")],
    kind: Annotated[Literal["program", "action", "tools"], typer.Option("--as", help="What to look for.")],
    as_json: AsJson = False,
) -> None:
    """Show what the parsers make of a raw reply."""
    found = _parsed(sys.stdin.read() if file == "-" else _text(Path(file)), kind)
    if as_json:
        print(json.dumps(found, indent=2, ensure_ascii=True))
        return
    for key, value in found.items():
        print(f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")


def _parsed(text: str, kind: str) -> dict[str, Any]:
    from spade.boxes import action_of, last_box
    from spade.parsing import describe, parse_program
    from spade.tool_calls import Answer, Call, action_of_reply, parse_tools

    if kind == "program":
        program = parse_program(text)
        title, mechanic = describe(program.code)
        named = {"title": title, "mechanic": mechanic}
        return {"code": program.code, "repairs": list(program.repairs), "reason": program.reason, **named}
    if kind == "action":
        return {"action": action_of(text), "boxed": last_box(text) is not None}
    reply = parse_tools(text)
    parts: list[dict[str, Any]] = []
    for part in reply.parts:
        if isinstance(part, Call):
            parts.append({"call": part.name, "arguments": dict(part.arguments)})
        elif isinstance(part, Answer):
            parts.append({"answer": part.text})
        else:
            parts.append({"malformed": part.text, "problem": part.problem})
    return {"parts": parts, "answer": reply.answer, "action": action_of_reply(reply, text)}


def _line() -> str | None:
    """The next line a person typed; None at the end of the input or on an empty line."""
    print("> ", end="", flush=True)
    line = sys.stdin.readline()
    return line.strip() or None


def _limits(settings: "SandboxSettings") -> "Limits":
    from spade.ports import Limits

    return Limits(settings.wall_seconds, settings.cpu_seconds, settings.memory_mb, settings.scratch_mb)


def _text(file: Path) -> str:
    """A file's text; bytes that are not UTF-8 stay, for the gates to refuse. Raises `Abort` when it cannot be read."""
    try:
        return file.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise Abort(f"{file} cannot be read: {error.strerror}.", "Give the path of a file.") from error
