"""What a person finds in the Prefect UI: a table per cycle and a Markdown page per accepted environment."""

import re
from collections.abc import Sequence

from prefect.artifacts import acreate_markdown_artifact, acreate_table_artifact

from data.expectations import Validation
from data.export import Export
from data.pages import markdown_text, validation_markdown
from data.progress import CycleProgress
from spade.attempts import Attempt
from spade.episodes import Arm, Episode
from spade.scores import Score
from spade.summary import CycleSummary


async def show_cycle(progress: CycleProgress, summary: CycleSummary) -> None:
    """The cycle twice: a page with its numbers, and a table with one row an environment."""
    key = f"cycle-{summary.number:04d}"
    await acreate_markdown_artifact(
        key=key, markdown=cycle_page(progress, summary), description=f"Cycle {summary.number}"
    )
    await acreate_table_artifact(
        key=f"{key}-environments",
        table=[_row(progress, score) for score in progress.scores()] or [{"environment": "none was accepted"}],
        description=f"Environments of cycle {summary.number}; each has a page under its id",
    )


async def show_environment(progress: CycleProgress, env_id: str) -> None:
    """The environment with its chain: document, attempts, verdicts, hint, both arms."""
    await acreate_markdown_artifact(
        key=env_id, markdown=environment_markdown(progress, env_id), description=progress.environment(env_id).title
    )


async def show_dataset(exported: Export) -> None:
    """The dataset's card, its expectations, and where it lies."""
    card = (exported.folder / "README.md").read_text("utf-8").rpartition("---\n")[2]
    await acreate_markdown_artifact(
        key=exported.dataset.dataset_id,
        markdown=f"Folder `{exported.folder}`\n\n{card}",
        description=f"Dataset {exported.dataset.name}: card and where it lies",
    )
    await show_validation(exported.dataset.name, exported.validation)


async def show_validation(name: str, validation: Validation) -> None:
    """Which expectations hold, and which rows break the others."""
    await acreate_markdown_artifact(
        key=key_of(f"{name}-expectations"),
        markdown=validation_markdown(name, validation),
        description=f"Expectations of {name}",
    )


def cycle_page(progress: CycleProgress, summary: CycleSummary) -> str:
    """The cycle's figures for people, what stopped attempts, and its environments, linked."""
    stood = summary.curriculum
    figures = [
        ("slots", f"{summary.slots}, of them {summary.dropped} without an environment"),
        ("attempts", f"{summary.attempts}; {summary.accepted} accepted, {summary.first_try} at the first try"),
        ("win rate", f"{number(summary.win_rate_plain)} plain, {number(summary.win_rate_hinted)} hinted"),
        ("mean regret", number(summary.regret, signed=True)),
        (
            "in the learnable band",
            f"{summary.in_band} of {summary.accepted} environments have a win rate of 0.2 to 0.8",
        ),
        ("Vendi score", f"{number(stood.vendi)} of {stood.vendi_of}: how many of the latest really differ"),
        ("win rate by tier", ", ".join(f"{t.tier} {number(t.win_rate)} of {t.plays}" for t in stood.tiers)),
        ("ratings", f"agent {number(stood.agent_rating)}, environments {number(stood.difficulty)} on the mean"),
        ("plays", f"{summary.measured} measured of {summary.episodes}"),
        ("tokens", f"{summary.prompt_tokens:,} in, {summary.completion_tokens:,} out"),
        ("cost", number(summary.cost)),
        ("time", f"{summary.seconds:,.0f} s"),
        (
            "dataset",
            f"{summary.rows} rows, {_link(summary.dataset_id)}" if summary.rows else "none was fit to train on",
        ),
    ]
    gates = [f"| `{gate}` | {count} | {count / summary.attempts:.0%} |" for gate, count in summary.rejections]
    made = [
        f"| {_link(s.env_id)} | {markdown_text(progress.environment(s.env_id).title)} "
        f"| {number(s.plain.win_rate)} | {number(s.hinted.win_rate)} | {number(s.regret, signed=True)} |"
        for s in progress.scores()
    ]
    return "\n".join(
        [
            f"# Cycle {summary.number}",
            f"`{summary.cycle_id}`\n",
            "| | |\n|---|---|",
            *(f"| {name} | {value} |" for name, value in figures),
            "\n## Environments\n",
            "| environment | title | won plain | won hinted | regret |\n|---|---|---:|---:|---:|",
            *(made or ["| none was accepted | | | | |"]),
            "\n## What stopped attempts\n",
            "| gate | attempts | share |\n|---|---:|---:|",
            *(gates or ["| nothing | 0 | |"]),
        ]
    )


def key_of(name: str) -> str:
    """The name as the UI takes it for an artifact's key: lower case, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _link(key: str) -> str:
    """A link to the page of that name in the UI."""
    return f"[{key}](/artifacts/key/{key})"


def environment_markdown(progress: CycleProgress, env_id: str) -> str:
    """One environment's page. All model-written text stands in fenced blocks or is escaped."""
    environment, score = progress.environment(env_id), progress.score(env_id)
    slot = next(s for s in progress.slots if any(a.env_id == env_id for a in progress.attempts(s.slot_id)))
    hint = next((h for h in progress.hints(env_id) if h.accepted), None)
    attempts = [_attempt(a) for a in progress.attempts(slot.slot_id)]
    return "\n\n".join(
        [
            f"# {markdown_text(environment.title) or env_id}",
            f"{environment.skill.words} · `{env_id}` · "
            f"[cycle {progress.cycle.number}](/artifacts/key/cycle-{progress.cycle.number:04d})",
            f"**Chain** document `{slot.document_id}` → slot `{slot.slot_id}` → attempts → `{env_id}`"
            + (f" → hint `{hint.hint_id}`" if hint else "")
            + f" → {len(progress.episodes(env_id))} episodes. "
            f"[Ancestors, descendants, datasets and checkpoints](/artifacts/key/{env_id}-lineage).",
            "| try | attempt | ended | why |\n|---|---|---|---|\n" + "\n".join(attempts),
            "## Score\n\n" + _score(score),
            "## Hint\n\n" + (fenced(hint.text, "text") if hint else "No hint passed its gates, so there is no regret."),
            "## Plays\n\n" + _plays(progress.episodes(env_id)),
            "## Program\n\n" + fenced(environment.code, "python"),
        ]
    )


def number(value: float | None, *, signed: bool = False) -> str:
    """A figure for people; what was not measured is a dash, never 0."""
    if value is None:
        return "–"
    return f"{value:+.2f}" if signed else f"{value:.2f}"


def fenced(text: str, language: str) -> str:
    """A code block that its content cannot close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _attempt(attempt: Attempt) -> str:
    why = next((v.message for v in attempt.verdicts if v.gate == attempt.rejected_by), "")
    ended = attempt.rejected_by or "accepted"
    return f"| {attempt.number + 1} | `{attempt.attempt_id}` | {ended} | {markdown_text(why)} |"


def _row(progress: CycleProgress, score: Score) -> dict[str, str]:
    environment = progress.environment(score.env_id)
    return {
        "environment": score.env_id,
        "title": environment.title,
        "skill": environment.skill.words,
        "plain": f"{score.plain.wins}/{score.plain.measured}",
        "hinted": f"{score.hinted.wins}/{score.hinted.measured}",
        "regret": number(score.regret, signed=True),
        "designer reward": number(score.designer_reward),
        "note": score.reason,
    }


def _score(score: Score | None) -> str:
    if score is None:
        return "Not scored yet."
    interval = score.regret_interval
    between = f" (95 % between {interval.low:+.2f} and {interval.high:+.2f})" if interval else ""
    lines = [
        f"- plain: {score.plain.wins} of {score.plain.measured} measured plays won ({score.plain.asked} asked)",
        f"- hinted: {score.hinted.wins} of {score.hinted.measured} measured plays won ({score.hinted.asked} asked)",
        f"- regret {number(score.regret, signed=True)}{between} over {score.regret_pairs} seed pairs",
        f"- designer reward ({score.variant}) {number(score.designer_reward)}",
    ]
    return "\n".join([*lines, f"- {score.reason}"] if score.reason else lines)


def _plays(episodes: Sequence[Episode]) -> str:
    by_seed: dict[tuple[int, int, int], dict[Arm, Episode]] = {}
    for episode in episodes:
        asked = episode.asked
        by_seed.setdefault((asked.round, asked.play, asked.seed), {})[asked.arm] = episode
    rows = [
        f"| {seed} | {_ended(arms.get(Arm.PLAIN))} | {_ended(arms.get(Arm.HINTED))} |"
        for (_, _, seed), arms in sorted(by_seed.items())
    ]
    return "| seed | plain | hinted |\n|---|---|---|\n" + "\n".join(rows)


def _ended(episode: Episode | None) -> str:
    if episode is None:
        return "not played"
    if episode.return_ is None:
        return episode.outcome.value
    return f"{'won' if episode.won else 'lost'} {episode.return_:.2f} in {len(episode.turns)} turns"
