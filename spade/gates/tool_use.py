"""Gates for tool-use environments: criteria that can be met and are not met already, schemas that fit, honest tools."""

from spade.gates.facts import Facts, Player
from spade.gates.tool_facts import (
    completed,
    declared_tools,
    errors_of,
    given_away,
    oracle_plays,
    requests_of,
    used_tools,
)
from spade.gates.verdicting import errored, failed, passed, warned
from spade.settings import GateSettings
from spade.verdicts import Verdict

CONTRACT = "ContractError"
"""How `ToolEnv` says that a program is not what it asks for."""
AT_RESET = "holds before anything was done"
MIN_TOOLS, MAX_TOOLS = 3, 8
MAX_DISTRACTORS = 2


def schema_matches(facts: Facts, _: GateSettings) -> Verdict:
    """Declared tools are the methods, declared parameters are their parameters, 3 to 8 tools."""
    gate = "semantic.schema_matches"
    for reply in facts.opened:
        if CONTRACT in reply.detail:
            return failed(gate, f"Declarations and methods differ: {reply.detail}", reply.detail)
    tools = declared_tools(facts)
    if not tools:
        return errored(gate, "The first observation lists no tools.")
    if not MIN_TOOLS <= len(tools) <= MAX_TOOLS:
        message = f"{len(tools)} tools are declared; declare {MIN_TOOLS} to {MAX_TOOLS}."
        return failed(gate, message, len(tools), [MIN_TOOLS, MAX_TOOLS])
    return passed(gate, sorted(tools), [MIN_TOOLS, MAX_TOOLS])


def criteria_false_at_reset(facts: Facts, _: GateSettings) -> Verdict:
    gate = "semantic.criteria_false_at_reset"
    for seed, reply in facts.greetings.items():
        if AT_RESET in reply.detail:
            message = f"With seed {seed} {reply.detail.partition(': ')[2]}. Ask for something that is still to be done."
            return failed(gate, message, reply.detail)
    if not any(reply.ok for reply in facts.greetings.values()):
        return errored(gate, "No instance could be reset.")
    return passed(gate, 0, 0)


def criteria_reachable(facts: Facts, _: GateSettings) -> Verdict:
    """The solution's calls fulfil each request in turn, with values that something has shown before."""
    gate = "semantic.criteria_reachable"
    plays = oracle_plays(facts)
    if not plays:
        return errored(gate, "The solution could not be played.")
    for play in plays:
        if len(play.sent) > facts.cap:
            return errored(gate, "The solution is longer than the episode; see the gate on the solution.")
        asked, done = requests_of(play), completed(play)
        if asked and done < asked:
            why = next(iter(errors_of(play)), "")
            message = f"With seed {play.seed} the solution fulfils {done} of {asked} requests. "
            message += (
                f"The first call that failed: {why} " if why else "No call failed, so the criterion does not see it. "
            )
            message += "Let a tool reach each criterion, and compare values of the same type."
            return failed(gate, message, done, asked)
    needed = sorted({p.note for p in facts.by(Player.UNREVEALED) if not p.won})
    if needed:
        message = f"{needed[0]} uses a value that neither a request nor a tool's result shows. Let some tool reveal it."
        return failed(gate, message, needed[:5], [])
    return passed(gate, [requests_of(p) for p in plays][:1], None)


def distractors_do_not_pay(facts: Facts, _: GateSettings) -> Verdict:
    """Tools that the solution never calls fulfil no request; there are one or two of them."""
    gate = "semantic.distractors_do_not_pay"
    if not facts.solved:
        return errored(gate, "Without a solution nobody knows which tools are distractors.")
    paid = [p for p in facts.by(Player.DISTRACTED) if completed(p) or p.won]
    if paid:
        message = f"Calling only tools that the solution does not need fulfils a request (seed {paid[0].seed})."
        return failed(gate, message, completed(paid[0]), 0)
    distractors = sorted(set(declared_tools(facts)) - used_tools(facts))
    if not 1 <= len(distractors) <= MAX_DISTRACTORS:
        message = f"{len(distractors)} tools are never needed; have one or two distractors among the tools."
        return warned(gate, message, distractors, [1, MAX_DISTRACTORS])
    return passed(gate, distractors, [1, MAX_DISTRACTORS])


def lookups_given_away(facts: Facts) -> list[str]:
    """For the leakage gate: values that should be looked up and stand in the introduction, on most instances."""
    plays = oracle_plays(facts)
    found = {p.seed: given_away(p) for p in plays}
    telling = [values[0] for values in found.values() if values]
    if len(telling) * 2 <= len(plays):
        return []
    value = telling[0]
    return [f"The introduction prints {value.value!r}, which the agent has to look up for {value.tool}({value.key})."]
