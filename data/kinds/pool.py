"""A pool of environments in the layout of the reference implementation's fixed-pool runs: `games/` and manifests.

Written here, and read back: `read_pool` takes such a folder in, whoever made it.
"""

import ast
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa

from data.catalog import Catalog
from data.folders import placed
from data.kinds.base import ORIGIN, TEXT, Item, origin_of_task
from data.kinds.tasks import ZONE
from data.selection import Selection, chains_of, grouped, within
from spade.environments import Environment
from spade.errors import Abort
from spade.identity import digest
from spade.skills import GAME_SKILLS, Setting, Skill
from spade.verdicts import Judged, Status, Verdict

MAX_BYTES = 65_536
ENVIRONMENT: list[Any] = [
    *(f for f in ORIGIN if f.name != "episode_id"),
    pa.field("win_rate", pa.float64()),
    pa.field("regret", pa.float64()),
]


@dataclass(frozen=True)
class Pool:
    """One program a row, and the same as `games/game_<cycle>_<number>_<skill>.py` with manifests."""

    name: str = "pool"
    about: str = "A row is a program; games/ and the manifests have the layout of fixed-pool training runs."
    tags: tuple[str, ...] = ("rl", "environments")

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([*(pa.field(n, TEXT) for n in ("file", "title", "code")), *ENVIRONMENT])

    def select(self, catalog: Catalog, cycle_ids: Sequence[str] | None) -> Selection:
        """Keys are environment ids, by the cycle that first scored them in the zone."""
        where, parameters = within(cycle_ids)
        rows = catalog.query(
            f"""select min(e.cycle_id) as cycle_id, e.env_id as key from scoreboard as e
            where e.win_rate between ? and ?{where} group by e.env_id order by 1, 2""",
            [*ZONE, *parameters],
        )
        return grouped(self.name, rows)

    def items(self, catalog: Catalog, selection: Selection) -> Iterator[Item]:
        for place, (cycle_id, ids) in enumerate(selection.by_cycle):
            chains = chains_of(catalog, cycle_id)
            scores = {s.env_id: s for s in reversed(catalog.scores(cycle_id=cycle_id, env_id=ids))}
            environments = {e.env_id: e for e in catalog.environments(env_id=ids)}
            for number, env_id in enumerate(ids):
                environment, score = environments[env_id], scores[env_id]
                file = f"game_{place:05d}_{number:03d}_{environment.skill}.py"
                lineage = {
                    **origin_of_task(chains.get(env_id), env_id, cycle_id),
                    "win_rate": score.plain.win_rate,
                    "regret": score.regret,
                }
                facts = {"blemishes": 0, "content": digest(environment.code)}
                content = {"file": file, "title": environment.title, "code": environment.code}
                yield Item(content, lineage, facts, environment.code)

    def accompany(self, folder: Path, catalog: Catalog, selection: Selection) -> None:
        items = list(self.items(catalog, selection))
        for item in items:
            placed(folder / "games" / item.content["file"], item.content["code"])
        placed(folder / "manifest.jsonl", "".join(_manifest_line(item) for item in items))
        placed(folder / "validation_manifest.jsonl", "".join(_validation_line(catalog, item) for item in items))
        skills = Counter(item.lineage["skill"] for item in items)
        summary = {"games": len(items), "valid": len(items), "invalid": 0, "skills": dict(sorted(skills.items()))}
        for name in ("validation_summary.json", "snapshot_summary.json"):
            placed(folder / name, json.dumps(summary, sort_keys=True, indent=2) + "\n")


def _manifest_line(item: Item) -> str:
    names = ("env_id", "skill", "document_id", "designer", "win_rate", "regret")
    facts = {name: item.lineage[name] for name in names}
    code = item.content["code"].encode("utf-8")
    return _line({"file": f"games/{item.content['file']}", "sha256": sha256(code).hexdigest(), **facts})


def _validation_line(catalog: Catalog, item: Item) -> str:
    verdicts = catalog.query(
        "select gate, status from verdicts where subject_id = ? order by gate", [item.lineage["attempt_id"]]
    )
    return _line(
        {"file": f"games/{item.content['file']}", "valid": True, "gates": {v["gate"]: v["status"] for v in verdicts}}
    )


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True) + "\n"


@dataclass(frozen=True, slots=True)
class ReadPool:
    """What a folder held: environments with the file of each, and why other files were left out."""

    environments: tuple[tuple[str, Environment], ...]
    broken: tuple[tuple[str, str], ...]


def read_pool(folder: Path) -> ReadPool:
    """The programs of `games/game_*.py`. Raises `Abort` when there is no such folder or no file in it.

    A file is left out, with the reason, when its checksum differs, when it is too large, no UTF-8, no Python, or names
    no skill that we know. Programs are parsed, never run: gates judge them like any other.
    """
    paths = sorted((folder / "games").glob("game_*.py"))
    if not paths:
        raise Abort(f"{folder} holds no games/game_*.py.", "Give the folder of a pool.")
    sums, skills = _checksums(folder), _skills(folder)
    found: list[tuple[str, Environment]] = []
    broken: list[tuple[str, str]] = []
    for path in paths:
        name = f"games/{path.name}"
        read = _read(path, sums.get(name, ""), skills.get(name, ""))
        if isinstance(read, str):
            broken.append((name, read))
        else:
            found.append((name, read))
    return ReadPool(tuple(found), tuple(broken))


def import_pool(catalog: Catalog, folder: Path) -> ReadPool:
    """Store the programs of a pool as environments, each with a verdict that says where it came from."""
    pool = read_pool(folder)
    catalog.append("environments", [environment for _, environment in pool.environments])
    came = [
        Judged(environment.env_id, Verdict("pool.source", Status.PASS, f"imported from {folder.name}/{name}"))
        for name, environment in pool.environments
    ]
    catalog.append("verdicts", came)
    return pool


def _read(path: Path, checksum: str, skill: str) -> Environment | str:
    """The environment in a file, or why there is none."""
    raw = path.read_bytes()
    if checksum and sha256(raw).hexdigest() != checksum:
        return "its checksum differs from checksums.sha256"
    if len(raw) > MAX_BYTES:
        return f"it is larger than {MAX_BYTES} bytes"
    try:
        code = raw.decode("utf-8")
        ast.parse(code)
    except UnicodeDecodeError:
        return "it is not UTF-8"
    except (SyntaxError, ValueError, RecursionError) as error:
        return f"it is not Python: {error}"
    named = skill or next((s.value for s in GAME_SKILLS if path.stem.endswith(f"_{s.value}")), "")
    if named not in GAME_SKILLS:
        return f"it names no skill that is known: {named or path.stem}"
    return Environment(code, Setting.GAMES, Skill(named))


def _checksums(folder: Path) -> dict[str, str]:
    path = folder / "checksums.sha256"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return {name.lstrip("*"): value for value, _, name in (line.partition("  ") for line in lines)}


def _skills(folder: Path) -> dict[str, str]:
    """Skills by file, where the manifest names them."""
    path = folder / "manifest.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()] if path.exists() else []
    named = ((row.get("file"), row.get("skill")) for row in rows if isinstance(row, dict))
    return {
        file: skill.lower().replace(" ", "_")
        for file, skill in named
        if isinstance(file, str) and isinstance(skill, str)
    }
