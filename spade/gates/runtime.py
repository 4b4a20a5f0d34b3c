"""Level 2: whether the program runs, keeps the contract, and depends on its seed and the actions alone."""

import re
from collections.abc import Iterable
from statistics import median

from spade.boxes import CHAT_MARKUP
from spade.gates.blaming import LIMITS, blamed, markup, mute, named
from spade.gates.facts import FRESH_PROCESSES, TOLERANCE, Facts, Play, Player, differing
from spade.gates.verdicting import errored, failed, passed, warned
from spade.outcomes import CallOutcome
from spade.settings import GateSettings
from spade.verdicts import Verdict

SLOW_STEP = 0.05
"""Seconds of one step, on the mean of all plays, beyond which thousands of plays cannot be afforded."""
SLOW_RESET = 1.0
UNLIKELY_SEED = 1000
"""A text that holds a number this large, equal to the seed, prints the seed."""


def startup(facts: Facts, _: GateSettings) -> Verdict:
    """Constructs and resets within its budget."""
    problem = next((r for r in facts.opened if not r.ok), None)
    if any(_has_own_gate(r.detail) for r in (*facts.opened, *facts.greetings.values())):
        return errored("runtime.startup", "`ToolEnv` refuses the program; see the gates on schemas and criteria.")
    if problem is not None:
        return failed("runtime.startup", f"The program does not load: {problem.detail}", problem.outcome.value, "ok")
    bad = [r for r in facts.greetings.values() if not r.ok and blamed(r) in ("", "resources")]
    if bad:
        return failed("runtime.startup", f"`reset` fails: {bad[0].detail}", bad[0].outcome.value, "ok")
    if not facts.greetings:
        return errored("runtime.startup", "The program could not be started.")
    return passed("runtime.startup", "ok", "ok")


def _has_own_gate(detail: str) -> bool:
    """Whether `ToolEnv` refused the program for what another gate is about."""
    about = ("declar", "schema", "tool_", "two tools", "before anything was done")
    return "ContractError" in detail and any(word in detail for word in about)


def observation_schema(facts: Facts, settings: GateSettings) -> Verdict:
    """Non-empty text of bounded size."""
    gate, most = "runtime.observation_schema", settings.max_observation_bytes
    for where, reply in facts.replies:
        if blamed(reply) == "observation":
            return failed(gate, f"{where}: {reply.detail}", reply.detail, most)
    greetings = [r.observation for r in facts.greetings.values() if r.ok]
    if not all(text.strip() for text in greetings):
        return failed(
            gate, "`reset` returns an empty observation; say the rules, the goal and the action format.", 0, 1
        )
    texts = {*greetings, *(text for play in facts.plays for text in play.observations)}
    largest = max((len(text.encode("utf-8", "surrogatepass")) for text in texts), default=0)
    if largest > most:
        return failed(gate, f"An observation has {largest} bytes, more than {most}. Say less at once.", largest, most)
    suspicious = {text for text in texts if CHAT_MARKUP.search(text)}
    marked = next((found for p in facts.plays if suspicious and (found := markup(p, suspicious))), "")
    if marked:
        message = (
            f"An observation prints {marked!r}, which a model's engine takes for the border of a message. Leave it out."
        )
        return failed(gate, message, marked, "")
    blank = _first(p for p in facts.plays if any(mute(step) for step in p.steps))
    if blank is not None:
        return failed(gate, f"`step` returns an empty observation ({named(blank)}); always say what happened.", 0, 1)
    return passed(gate, largest, most)


def reward_well_formed(facts: Facts, _: GateSettings) -> Verdict:
    """Rewards are finite increments whose every prefix sum lies in [0, 1]."""
    gate = "runtime.reward_well_formed"
    for where, reply in facts.replies:
        if blamed(reply) == "reward":
            return failed(gate, f"{where}: {reply.detail}", reply.detail, [0, 1])
    for play in facts.plays:
        total = 0.0
        for at, step in enumerate(play.steps, 1):
            total += step.reward
            if not -TOLERANCE <= total <= 1 + TOLERANCE:
                message = (
                    f"After step {at} the rewards of an episode sum to {total:g} ({named(play)}); every partial sum "
                )
                return failed(
                    gate, message + "must lie in 0..1. Pay increments, and 1.0 in all.", round(total, 6), [0, 1]
                )
    return passed(gate, None, [0, 1])


def state_contract(facts: Facts, _: GateSettings) -> Verdict:
    """Real bools, an end by `max_turns`, and nothing paid or reopened after it."""
    gate, turns = "runtime.state_contract", facts.cap
    for where, reply in facts.replies:
        if blamed(reply) == "flags":
            return failed(gate, f"{where}: {reply.detail}", reply.detail)
    endless = _first(p for p in facts.plays if p.failure is None and len(p.steps) >= turns and not _ended_by(p, turns))
    if endless is not None:
        message = f"The episode still runs after {turns} turns ({named(endless)}); count every action, malformed ones "
        return failed(gate, message + "too, and return truncated=True at `max_turns`.", len(endless.steps), turns)
    paid = _first(p for p in facts.plays if any(abs(s.reward) > TOLERANCE for s in p.after))
    if paid is not None:
        return failed(gate, f"A step after the end pays ({named(paid)}); remember the end and return 0.0 from then on.")
    reopened = _first(p for p in facts.plays if any(not (s.terminated or s.truncated) for s in p.after))
    if reopened is not None:
        return warned(
            gate, f"A step after the end reopens the episode ({named(reopened)}); keep it ended until `reset`."
        )
    return passed(gate, turns, turns)


def robust(facts: Facts, _: GateSettings) -> Verdict:
    """`step` answers any text; it never raises."""
    gate = "runtime.robust"
    faults = [(w, r) for w, r in facts.failures(CallOutcome.ENV_ERROR, CallOutcome.ENV_PROTOCOL) if not blamed(r)]
    raised = [(w, r) for w, r in faults if w != "open" and not w.startswith(("reset", "solution"))]
    if raised:
        where, reply = raised[0]
        message = (
            f"{where}: {reply.detail} `step` must answer any text politely, with reward 0 where it is not an action."
        )
        return failed(gate, message, len(raised), 0)
    if not facts.by(Player.FUZZ):
        return errored(gate, "No malformed action was tried, because the program could not be started.")
    return passed(gate, 0, 0)


def seed_control(facts: Facts, _: GateSettings) -> Verdict:
    """The seed chooses the instance: at least two differ, by solution or by replies to equal actions."""
    gate = "runtime.seed_control"
    plays = facts.by(Player.NOTHING, process=0)
    if not plays:
        return errored(gate, "No instance could be played.")
    distinct = len({(facts.solved.get(p.seed), p.observations) for p in plays})
    named = [p for p in plays if p.seed >= UNLIKELY_SEED]
    if len(named) > 1:
        distinct = min(distinct, len({(facts.solved.get(p.seed), _nameless(p)) for p in named}))
    if distinct < 2 and not len(facts.solved) == len(plays) == len(facts.seeds):
        return errored(gate, "Instances cannot be told apart: not all of them could be solved and played.")
    if distinct < 2:
        message = f"All {len(plays)} seeds give the same instance. Draw it from `random.Random(seed)` in `reset`."
        return failed(gate, message, distinct, 2)
    return passed(gate, distinct, 2)


def _nameless(play: Play) -> tuple[str, ...]:
    """What was seen, less the seed's own number."""
    return tuple(re.sub(rf"(?<!\d){play.seed}(?!\d)", "", text) for text in play.observations)


def episode_determinism(facts: Facts, _: GateSettings) -> Verdict:
    """Same seed and actions in two fresh processes under different hash seeds: the same transcript."""
    gate = "runtime.episode_determinism"
    fresh = _fresh_answers(facts)
    if fresh > 1 or (differing(facts) and not fresh):
        message = (
            "The same seed and actions give different episodes in different processes. Depend on the seed alone: draw "
        )
        message += "from `random.Random(seed)`, sort sets before use, and leave out `hash`, `id` and the clock."
        return failed(gate, message, fresh, 1)
    if not facts.by(Player.ORACLE, Player.NOTHING, process=1):
        return errored(gate, "The program could not be played in a second process.")
    return passed(gate, 1, 1)


def episode_isolation(facts: Facts, _: GateSettings) -> Verdict:
    """An episode played later in a process equals the same one played first."""
    gate = "runtime.episode_isolation"
    changed = differing(facts)
    if not changed:
        return passed(gate, 0, 0)
    if _fresh_answers(facts) != 1:
        return errored(gate, "Cannot be judged while equal plays differ between fresh processes.", len(changed))
    seeds = sorted({seed for seed, _ in changed})[:3]
    message = f"An episode depends on what was played before it (seeds {seeds}). Set all state in `reset`, on `self`; "
    return failed(gate, message + "keep nothing on the class, the module or in default arguments.", len(changed), 0)


def _fresh_answers(facts: Facts) -> int:
    """How many different answers fresh processes gave to the same questions; 0 when none was started."""
    plays = {p.transcript for p in facts.by(Player.FRESH)}
    return max(len(plays), len({r.actions for r in facts.resolved if r.process in FRESH_PROCESSES}))


def resource_bounds(facts: Facts, _: GateSettings) -> Verdict:
    """No time-out, no memory limit, no slow step."""
    gate = "runtime.resource_bounds"
    over = facts.failures(*LIMITS)
    if over:
        where, reply = over[0]
        return failed(
            gate, f"{where}: {reply.detail or reply.outcome.value}. Do less work per call.", reply.outcome.value
        )
    pace = sum(p.seconds for p in facts.plays) / max(1, sum(len(p.steps) for p in facts.plays))
    if pace > SLOW_STEP:
        message = (
            f"A step takes {pace:.2f} s on the mean; at most {SLOW_STEP} s can be afforded. Do less work per step."
        )
        return failed(gate, message, round(pace, 3), SLOW_STEP)
    greetings = [r.seconds for r in facts.greetings.values()]
    reset = median(greetings) if greetings else 0.0
    if reset > SLOW_RESET:
        return failed(
            gate, f"`reset` takes {reset:.2f} s; at most {SLOW_RESET} s can be afforded.", round(reset, 3), SLOW_RESET
        )
    return passed(gate, None, SLOW_STEP)


def host_containment(facts: Facts, _: GateSettings) -> Verdict:
    return _isolated(
        facts, "runtime.host_containment", "files_hidden", "The sandbox did not keep the host's files away."
    )


def network_policy(facts: Facts, _: GateSettings) -> Verdict:
    return _isolated(facts, "runtime.network_policy", "no_network", "The sandbox did not keep the network away.")


def _isolated(facts: Facts, gate: str, prop: str, message: str) -> Verdict:
    """From the sandbox's own report; a sandbox that reports no properties vouches by its level alone."""
    properties = facts.isolation.get("properties")
    if isinstance(properties, dict) and prop in properties and not properties[prop]:
        return failed(gate, message, facts.isolation.get("level"))
    if not facts.isolation:
        return errored(gate, "The sandbox gave no isolation report.")
    return passed(gate, facts.isolation.get("level"))


def _ended_by(play: Play, turns: int) -> bool:
    return any(step.terminated or step.truncated for step in play.steps[:turns])


def _first(plays: Iterable[Play]) -> Play | None:
    return next(iter(plays), None)
