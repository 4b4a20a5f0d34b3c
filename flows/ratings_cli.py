"""`spade ratings`: how strong the agents are, how hard the environments, and where plays teach most."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.data_cli import catalog_of, print_json, print_rows
from spade.errors import Abort

if TYPE_CHECKING:
    from data.catalog import Catalog
    from spade.ratings import Ratings

MATCHES = """
    select e.weights as agent, e.env_id, e.won
    from episodes e join cycles c using (cycle_id)
    where e.arm = 'plain' and e.won is not null
    order by c.number, e.cycle_id, e.round, e.play, e.env_id
"""
ENVIRONMENTS = "select env_id, title, skill from environments order by env_id"


def ratings(
    agent: Annotated[
        str | None, typer.Option(help="Predict for this version of the weights.", show_default="the last that played")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    home: Annotated[Path | None, typer.Option(help="Folder of run artifacts.", show_default="var")] = None,
) -> None:
    """Rate agent versions and environments on one scale, and predict how often an agent wins each environment."""
    from spade.ratings import Match, rated

    catalog = catalog_of(home)
    matches = [Match(row["agent"], row["env_id"], row["won"]) for row in catalog.query(MATCHES)]
    if not matches:
        raise Abort("No play of the plain arm was measured yet.", "Start with `spade run`.")
    found = rated(matches)
    player = agent or matches[-1].agent
    if player not in found.agents:
        raise Abort(f"{player!r} has played nothing.", f"Played have: {', '.join(sorted(found.agents)[:10])}.")
    agents, environments = _agents(found), _environments(catalog, found, player)
    if as_json:
        print_json({"agent": player, "agents": agents, "environments": environments})
        return
    print_rows(agents)
    print_rows(environments)


def _agents(found: "Ratings") -> list[dict[str, Any]]:
    best = sorted(found.agents.items(), key=lambda item: -item[1].mean)
    return [
        {"agent": name, "rating": round(r.mean, 1), "spread": round(r.spread, 1), "plays": r.plays} for name, r in best
    ]


def _environments(catalog: "Catalog", found: "Ratings", player: str) -> list[dict[str, Any]]:
    """The easiest first. `zone`: whether plays of it are expected to teach."""
    from spade.ratings import ZONE

    rows = []
    for row in catalog.query(ENVIRONMENTS):
        if (rating := found.environments.get(row["env_id"])) is None:
            continue
        chance = found.predicted(player, row["env_id"])
        rows.append(
            {
                **row,
                "rating": round(rating.mean, 1),
                "spread": round(rating.spread, 1),
                "plays": rating.plays,
                "predicted": round(chance, 2),
                "zone": "yes" if ZONE[0] <= chance <= ZONE[1] else "easy" if chance > ZONE[1] else "hard",
            }
        )
    return sorted(rows, key=lambda row: -row["predicted"])
