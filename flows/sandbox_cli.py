"""`spade sandbox try` and `spade doctor`: the sandbox from the command line."""

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from spade.errors import Abort

if TYPE_CHECKING:
    from spade.outcomes import Reply
    from spade.ports import Limits, Sandbox
    from spade.settings import SandboxSettings

sandbox_app = typer.Typer(name="sandbox", help="Run one program in the sandbox.", no_args_is_help=True)

Level = Literal["unsafe", "confined", "namespaced", "vm"]


@sandbox_app.callback()
def group() -> None:
    """Keep `try` a command of its own."""


@sandbox_app.command("try")
def try_program(
    file: Annotated[Path, typer.Argument(help="A program that defines one class whose name ends in Env.")],
    seed: Annotated[int, typer.Option(help="Seed given to reset.")] = 0,
    action: Annotated[list[str] | None, typer.Option(help="An action to step with; repeat for more.")] = None,
    required_level: Annotated[Level | None, typer.Option(help="Refuse to run below this isolation.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Open, reset and step one program; print how each call ended. Exit code 1 when one did not end well."""
    from flows.configuring import load_settings

    try:
        program = file.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise Abort(f"{file} cannot be read: {error.strerror}.", "Give the path of a program.") from error
    settings = load_settings().sandbox
    if required_level is not None:
        settings = settings.model_copy(update={"required_level": required_level})
    tried = asyncio.run(calls(program, seed, action or [], settings))
    print(json.dumps(tried, indent=2, ensure_ascii=True) if as_json else described(tried))
    if not all(call["outcome"] == "ok" for call in tried["calls"]):
        raise typer.Exit(1)


async def calls(program: str, seed: int, actions: list[str], settings: "SandboxSettings") -> dict[str, Any]:
    """Every call that was made, with the isolation it was made under."""
    from sandbox.opening import open_sandbox
    from spade.ports import Limits

    limits = Limits(settings.wall_seconds, settings.cpu_seconds, settings.memory_mb, settings.scratch_mb)
    with open_sandbox(settings) as sandbox:
        made = await play(sandbox, program, seed, actions, limits)
        return {"calls": made, "isolation": dict(sandbox.report())}


async def play(
    sandbox: "Sandbox", program: str, seed: int, actions: list[str], limits: "Limits"
) -> list[dict[str, Any]]:
    opened = await sandbox.open(program, limits)
    made = [recorded("open", opened.reply)]
    game = opened.game
    if game is None:
        return made
    try:
        reply = await game.reset(seed)
        made.append(recorded(f"reset({seed})", reply))
        for action in actions:
            if not reply.ok or (reply.steps and (reply.steps[-1].terminated or reply.steps[-1].truncated)):
                break
            reply = await game.step(action)
            made.append(recorded(f"step({action!r})", reply))
        return made
    finally:
        await game.close()


def recorded(call: str, reply: "Reply") -> dict[str, Any]:
    entry: dict[str, Any] = {
        "call": call,
        "outcome": reply.outcome.value,
        "detail": reply.detail,
        "milliseconds": round(reply.seconds * 1e3, 3),
    }
    if reply.observation:
        entry["observation"] = reply.observation
    for step in reply.steps:
        entry |= {
            "observation": step.observation,
            "reward": step.reward,
            "terminated": step.terminated,
            "truncated": step.truncated,
        }
    return entry


def described(tried: dict[str, Any]) -> str:
    isolation = tried["isolation"]
    lines = [f"isolation: {isolation['level']} ({isolation['backend']})", ""]
    for call in tried["calls"]:
        lines.append(f"{call['call']}: {call['outcome']} in {call['milliseconds']:.2f} ms")
        if call["detail"]:
            lines.append(f"  {call['detail']}")
        if "observation" in call:
            lines += [f"  | {line}" for line in call["observation"].splitlines()]
        if "reward" in call:
            lines.append(f"  reward {call['reward']:g}, terminated {call['terminated']}, truncated {call['truncated']}")
    return "\n".join(lines)


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False) -> None:
    """Print how well this machine keeps programs in, and what to do about each missing layer."""
    from flows.configuring import load_settings
    from sandbox.opening import no_e2b, open_sandbox
    from spade.ports import IsolationLevel

    with open_sandbox(load_settings().sandbox.model_copy(update={"required_level": "unsafe"})) as sandbox:
        report, level = dict(sandbox.report()), sandbox.level
    if level < IsolationLevel.VM and no_e2b():
        report["missing"] = {**report["missing"], "virtual machine": f"optional, rented from E2B. {no_e2b()}"}
    print(json.dumps(report, indent=2) if as_json else diagnosis(report))
    if level < IsolationLevel.CONFINED:
        print("Programs are not safe to run here; see what is missing.", file=sys.stderr)
        raise typer.Exit(1)


def diagnosis(report: dict[str, Any]) -> str:
    test = report["self_test"]
    where = f"{report['backend']}, Linux {report['kernel']}, Python {report['python']}"
    lines = [
        f"isolation level: {report['level']} ({where})",
        f"self-test: {test['tried']} attempts to break out, {len(test['broke_out'])} succeeded",
        "",
        "what holds, and by what:",
    ]
    for name, means in report["properties"].items():
        lines.append(f"  {'yes' if means else 'NO '}  {name}" + (f": {', '.join(means)}" if means else ""))
    lines += [f"  broke out: {how}" for how in test["broke_out"].values()]
    if report["missing"]:
        lines += ["", "what is missing, and what to do:"]
        lines += [f"  {layer}: {why}" for layer, why in report["missing"].items()]
    return "\n".join(lines)
