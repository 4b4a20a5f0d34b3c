"""Runs the suites of `data.suites` with Great Expectations: ephemeral context, telemetry and progress bars off.

The library is imported when a suite is run; that takes about three seconds, once a process.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from data.suites import SUITES, Expectation
from data.wording import expected

if TYPE_CHECKING:
    from great_expectations.data_context.data_context.ephemeral_data_context import EphemeralDataContext

SHOWN_ROWS = 20
"""Failing rows named per expectation."""
_WITH_ROWS = {"result_format": "COMPLETE", "unexpected_index_column_names": ["row_id"]}
"""Names the rows that fail, which takes twice the time and more: asked for only when some do."""


@dataclass(frozen=True, slots=True)
class Check:
    """One expectation, checked. `rows` are ids of rows that break it, at most `SHOWN_ROWS`; `failures` counts all."""

    expects: str
    passed: bool
    failures: int = 0
    rows: tuple[str, ...] = ()
    observed: str = ""


@dataclass(frozen=True, slots=True)
class Validation:
    """The result of a suite over `rows` rows."""

    suite: str
    rows: int
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    @property
    def failed(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.passed)

    @property
    def held(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if check.passed)


def validate(kind: str, facts: Mapping[str, Sequence[Any]]) -> Validation:
    """Run the suite of `kind` over the facts of all rows: one list a column, `row_id` among them."""
    context = _context()
    import great_expectations as gx
    import pandas as pd
    from great_expectations.expectations.expectation_configuration import ExpectationConfiguration

    frame = pd.DataFrame(dict(facts))
    expectations = [ExpectationConfiguration(type=e.type, kwargs=_arguments(e)).to_domain_obj() for e in SUITES[kind]]
    suite = gx.ExpectationSuite(name=kind, expectations=list(expectations))
    asset = context.data_sources.add_pandas("rows").add_dataframe_asset("rows")
    batch = asset.add_batch_definition_whole_dataframe("all").get_batch({"dataframe": frame})
    result = batch.validate(suite, result_format="BASIC")
    if not result.success:
        result = batch.validate(suite, result_format=_WITH_ROWS)
    return Validation(kind, len(frame), tuple(_check(r.to_json_dict()) for r in result.results))


def _arguments(expectation: Expectation) -> dict[str, Any]:
    from great_expectations.expectations.row_conditions import Column

    if expectation.where is None:
        return expectation.arguments
    column, value = expectation.where
    return {**expectation.arguments, "row_condition": Column(column) == value}


def _context() -> "EphemeralDataContext":
    os.environ.setdefault("GX_ANALYTICS_ENABLED", "false")
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False, metric_calculations=False)
    return context


def _check(result: Mapping[str, Any]) -> Check:
    config, found = result["expectation_config"], result.get("result") or {}
    rows = [str(index["row_id"]) for index in found.get("unexpected_index_list") or ()]
    return Check(
        expects=expected(config["type"], config["kwargs"]),
        passed=bool(result["success"]),
        failures=int(found.get("unexpected_count") or 0),
        rows=tuple(rows[:SHOWN_ROWS]),
        observed=str(_exception(result) or found.get("observed_value", "")),
    )


def _exception(result: Mapping[str, Any]) -> str:
    """What broke while the expectation was checked, if anything."""
    info = result.get("exception_info") or {}
    infos = [info] if "exception_message" in info else [i for i in info.values() if isinstance(i, dict)]
    return next((str(i["exception_message"]) for i in infos if i.get("exception_message")), "")
