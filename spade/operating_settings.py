"""Settings of running for weeks: budgets, alarms, retention. None of them changes what is made."""

from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt

from spade.budgets import Allowance, Allowed
from spade.settings_base import Settings


class LimitSettings(Settings):
    """The most that may be used; what is absent is without limit."""

    episodes: PositiveInt | None = None
    tokens: PositiveInt | None = None
    """Prompt and completion tokens of all roles."""
    cost: PositiveFloat | None = None
    """Money, in the unit of `model.price_per_million`."""
    minutes: PositiveFloat | None = None
    """Wall clock."""

    def record(self) -> Allowed:
        return Allowed(self.episodes, self.tokens, self.cost, self.minutes and self.minutes * 60)


class BudgetSettings(Settings):
    """When generation stops: at the first slot border after a limit is reached. Slots under way are finished."""

    slice: LimitSettings = LimitSettings()
    """Of one run: the next one starts afresh."""
    total: LimitSettings = LimitSettings()
    """Of everything that is stored in the home."""
    disk_mb: PositiveInt | None = None
    """All run artifacts together."""
    slots_at_once: PositiveInt | None = None
    """Slots under way at once where a limit is set; `model.concurrency` when absent."""

    def record(self) -> Allowance:
        return Allowance(self.slice.record(), self.total.record(), self.disk_mb and self.disk_mb * 2**20)


class AlarmSettings(Settings):
    """What pauses generation after a cycle until a person looks: the slice ends and the schedule is paused."""

    min_vendi: float = Field(0.3, ge=0.0)
    """Least Vendi score of the latest 200 accepted environments, as a share of their number (judged from 20 on); 0
    switches it off."""
    max_dropped: float = Field(1.0, ge=0.0, le=1.0)
    """Largest share of slots without an environment; 1 switches it off."""
    max_unmeasured: float = Field(1.0, ge=0.0, le=1.0)
    """Largest share of plays that ended in a fault; 1 switches it off."""


class NotifySettings(Settings):
    """Who is told when a run fails."""

    url: str | None = None
    """An address that takes JSON by POST; told by the server of `spade up`."""


class ExecutionSettings(Settings):
    """Where the slots of a cycle run. A cluster's machines share the home under one path and have the endpoint's key in
    their environment."""

    kind: Literal["here", "dask", "ray"] = "here"
    """In the flow's process, or on a cluster (the extra `dask` or `ray`)."""
    address: str | None = None
    """The cluster's, such as tcp://10.0.0.1:8786; when absent, one of `workers` processes is started here."""
    workers: PositiveInt = 2
    endpoints: tuple[str, ...] = ()
    """Endpoints of one model that slots are dealt to in turn; `model.base_url` serves all when empty."""


class StoreSettings(Settings):
    """Catalog and memory on object storage; everything else stays in the home, where the catalog's files are cached."""

    url: str | None = None
    """Such as s3://bucket/prefix, gs://bucket/prefix, or file:///folder; the home when absent. Keys are taken from the
    environment, as the store's own tools take them."""
    endpoint: str | None = None
    """Of an S3 store that is not Amazon's, such as http://minio:9000."""
    region: str | None = None
    """Of an S3 store."""


class MetricsSettings(Settings):
    """Figures of running flows for Prometheus, on loopback alone."""

    port: int | None = Field(None, ge=0, le=65535)
    """Where http://127.0.0.1:PORT/metrics is answered while a flow runs; off when absent, 0 takes a free port."""


class RetentionSettings(Settings):
    """What `maintain` keeps. Ids, verdicts, scores, usage and everything a dataset names stay for ever."""

    transcripts_cycles: PositiveInt | None = 500
    """Newest finished cycles whose transcripts stay whole; older plays that no dataset names lose theirs."""
    attempts_cycles: PositiveInt | None = 500
    """Newest finished cycles whose refused attempts keep their replies."""
    reports_cycles: PositiveInt | None = 200
    """Newest cycles with HTML pages of their own."""
    logs_mb: PositiveInt = 64
    """All log files together."""
    prefect_days: NonNegativeInt = 14
    """Days that finished flow runs stay in Prefect's database; 0 keeps them."""
    cache_days: NonNegativeInt = 14
    """Days that cached verdicts stay; 0 keeps them."""
