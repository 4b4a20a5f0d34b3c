"""Each environment's page of relatives in the Prefect UI: made of, became, ancestors, descendants, all of it linked."""

import asyncio
from collections.abc import Sequence

from prefect.artifacts import acreate_markdown_artifact

from data.catalog import Catalog
from data.family import Family, Outcome, Relative, families, parents
from data.pages import markdown_text
from tasks.together import together

AT_ONCE = 8


async def show_relatives(catalog: Catalog, env_ids: Sequence[str]) -> None:
    """Write the page of these environments anew, and of those they descend from: they have a new descendant."""
    found = await asyncio.to_thread(lambda: families(catalog, [*env_ids, *parents(catalog, env_ids)]))
    for start in range(0, len(found), AT_ONCE):
        await together(*(_show(family) for family in found[start : start + AT_ONCE]))


async def _show(family: Family) -> None:
    await acreate_markdown_artifact(
        key=relatives_key(family.env_id), markdown=relatives_markdown(family), description=f"Lineage of {family.title}"
    )


def relatives_key(env_id: str) -> str:
    """The key of an environment's page of relatives."""
    return f"{env_id}-lineage"


def relatives_markdown(family: Family) -> str:
    """The page. Titles are a model's text and escaped."""
    env_id, made = family.env_id, family.made_of
    return "\n".join(
        [
            f"# Lineage of {markdown_text(family.title) or env_id}",
            f"Its program, hint, plays and verdicts: [{env_id}](/artifacts/key/{env_id}). All records of its chain: "
            f"`spade lineage {env_id}`.\n",
            "## Made of\n",
            *(_made_of(made) if made else ["Its design is not in this catalog."]),
            "\n## Descends from\n",
            "Environments that its designer was shown as examples, and theirs.\n",
            *_relatives(family.ancestors, "None: the memory had no example to show yet."),
            "\n## Led to\n",
            "Environments whose designers were shown this one, and theirs.\n",
            *_relatives(family.descendants, "None so far."),
            "\n## Became\n",
            *_outcomes("dataset", "rows", family.datasets),
            *_outcomes("checkpoint", "plays and designs learned from", family.checkpoints),
        ]
    )


def _made_of(made: dict[str, object]) -> list[str]:
    cycle = f"cycle-{made['cycle']:04d}" if isinstance(made["cycle"], int) else ""
    title = markdown_text(str(made["document"] or "")) or "untitled"
    return [
        f"- document {title}, `{made['document_id']}`",
        f"- slot `{made['slot_id']}` of "
        + (f"[{cycle}](/artifacts/key/{cycle})" if cycle else f"`{made['cycle_id']}`"),
        f"- prompt `{made['prompt_id']}`, attempt `{made['attempt_id']}`",
    ]


def _relatives(found: Sequence[Relative], nobody: str) -> list[str]:
    if not found:
        return [nobody]
    rows = [
        f"| {each.generations} | [{each.env_id}](/artifacts/key/{each.env_id}) | {markdown_text(each.title)} "
        f"| {'–' if each.win_rate is None else f'{each.win_rate:.2f}'} "
        f"| [lineage](/artifacts/key/{relatives_key(each.env_id)}) |"
        for each in found
    ]
    return ["| generations away | environment | title | won plain | |\n|---:|---|---|---:|---|", *rows]


def _outcomes(what: str, counted: str, found: Sequence[Outcome]) -> list[str]:
    if not found:
        return [f"- no {what} so far"]
    return [
        f"- {what} [{each.id}](/artifacts/key/{each.id}) {markdown_text(each.name)}: {each.count} {counted}"
        for each in found
    ]
