"""A batch on disk: one Parquet file and a manifest that says what it is made of. What was trained is lineage."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from hashlib import file_digest
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from spade.errors import Abort
from spade.messages import Role
from training.batches import Batch, RoleReport
from training.samples import Fault, Limits, Sample
from training.writing import folder_appearing

FORMAT = 1
_IDS: Any = pa.list_(pa.int32())
_FIELDS: list[Any] = [
    pa.field("role", pa.string()),
    pa.field("group", pa.string()),
    pa.field("subject_id", pa.string()),
    pa.field("part", pa.int32()),
    pa.field("ids", _IDS),
    pa.field("at", _IDS),
    pa.field("logprobs", pa.list_(pa.float64())),
    pa.field("allowed", pa.list_(_IDS)),
    pa.field("advantage", pa.float64()),
    pa.field("temperature", pa.float64()),
    pa.field("weights", pa.string()),
    pa.field("env_id", pa.string()),
    pa.field("late", pa.bool_()),
]
SCHEMA = pa.schema(_FIELDS)


def write_batch(batch: Batch, folder: Path) -> Path:
    """Store a batch under `folder`/<batch id>; the same batch twice leaves one. Returns its folder."""
    target = folder / batch.batch_id
    if target.exists():
        return target
    with folder_appearing(target) as part:
        rows = [{f.name: getattr(s, f.name) for f in fields(Sample)} | {"role": s.role.value} for s in batch.samples]
        pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), part / "samples.parquet", compression="zstd")
        with (part / "samples.parquet").open("rb") as file:
            checksum = file_digest(file, "sha256").hexdigest()
        (part / "manifest.json").write_text(json.dumps(manifest(batch, checksum), indent=1), "utf-8")
    return target


def manifest(batch: Batch, checksum: str) -> dict[str, Any]:
    """What stands beside the samples: where they come from, and what was left out and why."""
    return {
        "format": FORMAT,
        "batch_id": batch.batch_id,
        "sha256": checksum,
        "samples": len(batch.samples),
        "cycles": list(batch.cycles),
        "round": batch.round,
        "weights": sorted({s.weights for s in batch.samples}),
        "environments": list(batch.env_ids),
        "roles": {role.value: asdict(report) for role, report in batch.reports.items()},
    }


def read_batch(folder: Path, limits: Limits | None = None) -> Batch:
    """A stored batch. Raises `Abort`, naming batch, sample and fault, for anything that must not be trained on."""
    try:
        told = json.loads((folder / "manifest.json").read_text("utf-8"))
        with (folder / "samples.parquet").open("rb") as file:
            checksum = file_digest(file, "sha256").hexdigest()
        table = pq.read_table(folder / "samples.parquet")
    except (OSError, ValueError, pa.ArrowInvalid) as error:
        raise Abort(f"{folder} holds no readable batch: {error}.", "Make the batch again from the catalog.") from error
    if checksum != told.get("sha256"):
        raise Abort(f"the samples of {folder.name} are not those of its manifest.", "Make the batch again.")
    if not set(SCHEMA.names) <= set(table.column_names):
        missing = ", ".join(sorted(set(SCHEMA.names) - set(table.column_names)))
        raise Abort(f"{folder.name} has no {missing}: {Fault.MISSING_TOKENS}.", "Make the batch again.")
    samples = tuple(_sample(row, f"{folder.name}, sample {n}") for n, row in enumerate(table.to_pylist()))
    for number, sample in enumerate(samples):
        check_sample(sample, limits, f"{folder.name}, sample {number}")
    reports = {Role(role): _role_report(report) for role, report in told["roles"].items()}
    return Batch(samples, reports, tuple(told["cycles"]), told["round"])


def check_sample(sample: Sample, limits: Limits | None, where: str) -> None:
    """Raises `Abort` naming the fault of a sample that must not be trained on."""
    fault = _fault(sample, limits)
    if fault is not None:
        raise Abort(f"{where}: {fault}.", "Make the batch again from the catalog, for the model that played.")


def _fault(sample: Sample, limits: Limits | None) -> Fault | None:
    if not sample.ids or not sample.at:
        return Fault.MISSING_TOKENS
    if not len(sample.at) == len(sample.logprobs) == len(sample.allowed) or max(sample.at) >= len(sample.ids):
        return Fault.LENGTHS_DIFFER
    if not all(-float("inf") < value < float("inf") for value in sample.logprobs):
        return Fault.NAN_LOGPROB
    if max(sample.logprobs) > 0.0:
        return Fault.POSITIVE_LOGPROB
    if any(choice and sample.ids[place] not in choice for place, choice in zip(sample.at, sample.allowed, strict=True)):
        return Fault.NOT_ALLOWED
    if limits is not None and (max(sample.ids) >= limits.vocabulary or min(sample.ids) < 0):
        return Fault.VOCABULARY
    return Fault.TOO_LONG if limits is not None and len(sample.ids) > limits.tokens else None


def _sample(row: Mapping[str, Any], where: str) -> Sample:
    if any(row[name] is None for name in ("ids", "at", "logprobs", "allowed")):
        raise Abort(f"{where}: {Fault.MISSING_TOKENS}.", "Make the batch again from the catalog.")
    values: dict[str, Any] = dict(row) | {"role": Role(row["role"])}
    values |= {name: tuple(row[name]) for name in ("ids", "at", "logprobs")}
    values["allowed"] = tuple(tuple(choice) for choice in row["allowed"])
    return Sample(**{f.name: values[f.name] for f in fields(Sample)})


def _role_report(values: Mapping[str, Any]) -> RoleReport:
    skipped: Sequence[Sequence[Any]] = values["skipped"]
    return RoleReport(**{**values, "skipped": tuple((str(n), int(c)) for n, c in skipped)})
