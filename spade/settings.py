"""Every setting, once: frozen, unknown keys refused, variants chosen by type. Read in `flows/configuring.py`."""

from pathlib import Path
from typing import Literal

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, SecretStr

from spade.corpus_settings import CorpusSettings
from spade.curation_settings import CurationSettings
from spade.evaluation_settings import EvaluationSettings
from spade.identity import fingerprint
from spade.messages import Sampling as SamplingRecord
from spade.operating_settings import (
    AlarmSettings,
    BudgetSettings,
    ExecutionSettings,
    MetricsSettings,
    NotifySettings,
    RetentionSettings,
    StoreSettings,
)
from spade.settings_base import Settings
from spade.skills import Setting
from spade.stopping import Stopping
from spade.training_settings import TrainingSettings

RUNNING = ("store", "execution", "budget", "alarms", "notify", "metrics", "retention")
"""Groups that change how a factory is kept going, and nothing of what it makes."""


class SamplingSettings(Settings):
    """How tokens are drawn."""

    temperature: float = Field(0.6, ge=0.0, le=2.0)
    top_p: float = Field(0.95, gt=0.0, le=1.0)
    top_k: NonNegativeInt = 20
    """0 switches it off."""
    max_tokens: PositiveInt = 8192
    """New tokens per call."""

    def record(self, seed: int | None = None) -> SamplingRecord:
        return SamplingRecord(self.temperature, self.top_p, self.top_k, self.max_tokens, seed)


class StoppingSettings(Settings):
    """An arm ends early once its win rate is known well enough; what was not played was not asked."""

    floor: PositiveInt = 8
    """Measured plays that an arm has at least."""
    step: PositiveInt = 4
    """Plays between two looks."""
    half_width: float = Field(0.2, gt=0.0, lt=0.5)
    """Of the 95 % interval of the win rate, at which it is known well enough."""

    def record(self) -> Stopping:
        return Stopping(self.floor, self.step, self.half_width)


class CycleSettings(Settings):
    """How much one cycle makes."""

    setting: Setting = Setting.GAMES
    slots: PositiveInt = 24
    plays: PositiveInt = 16
    """Plays per arm and round."""
    rounds: PositiveInt = 1
    """Generation-only runs use 1; training runs 4 (games) or 8 (tools)."""
    skills: int = Field(3, ge=1, le=6)
    """Active skills per cycle."""
    max_turns: int = Field(25, ge=1, le=25)
    """The run's cap on turns; an environment's own cap may be lower."""
    stopping: StoppingSettings | None = None
    """Absent: all plays are played."""


class ModelSettings(Settings):
    """Which model answers: the endpoint at `base_url` as it is, or else the source, served on this machine."""

    source: str = "package:smollm2-135m"
    """`package:NAME`, `path:FILE` or `hub:REPO/FILE`: weights for the embedded server."""
    base_url: str | None = None
    """An OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1."""
    name: str | None = None
    """The model's name at the endpoint; the endpoint's first model when absent."""
    api_key: SecretStr | None = None
    """Sent as a bearer token; SPADE_API_KEY or OPENAI_API_KEY in the environment is used when absent."""
    concurrency: PositiveInt = 16
    """Calls under way at once."""
    timeout_seconds: PositiveFloat = 300.0
    """Deadline of one call, its retries excluded."""
    retries: NonNegativeInt = 4
    """Retries of a call on 429, 5xx, time-outs and dropped connections."""
    context: PositiveInt = 2048
    """Context of one sequence on the embedded server, in tokens."""
    price_per_million: tuple[float, float] | None = None
    """Price of a million prompt and completion tokens; cost is unknown when absent."""


class WindowSettings(Settings):
    """How the difficulty of each dealt dataset climbs (mode `reasoning-gym`)."""

    last: PositiveInt = 32
    """Plays at the highest level that are looked at."""
    promote: float = Field(0.9, gt=0.0, le=1.0)
    """Share of them that must be won for the next level to open."""
    width: PositiveInt = 4
    """Most levels in the window."""


class DesignerSettings(Settings):
    """How environments are written."""

    mode: Literal["code", "blueprint", "pool", "reasoning-gym"] = "code"
    """`code`: the model writes a program. `blueprint`: it fills a guided form that compiles to one. `pool`: programs of
    a folder are dealt out, cycle after cycle, and gates against repetition do not look. `reasoning-gym`: so are
    questions of that package, within a window of difficulty."""
    pool: str = ""
    """The folder of the pool: a Python file a program, or a pool as it is exported."""
    window: WindowSettings = WindowSettings()
    reach: Literal["easy", "all"] = "all"
    """Which mechanics and values of blueprints are offered: `easy` ones a model of 100 M parameters can win."""
    plan: bool = True
    """Ask for thoughts before the program. Models of one or two billion parameters lose themselves in them: false."""
    document_words: PositiveInt | None = None
    """Show the designer so much of a document, to the end of a paragraph; all when absent. Small models copy it."""
    retries: int = Field(5, ge=0, le=5)
    """How often a rejected slot is tried again."""
    retry: Literal["repair", "resample"] = "repair"
    """Show the rejected program and the gate's message, or start afresh."""
    sampling: SamplingSettings = SamplingSettings(max_tokens=16384)
    model: ModelSettings | None = None
    """Another model that designs and hints; the one that plays does when absent."""


class HintSettings(Settings):
    """How hints are written."""

    tries: int = Field(3, ge=1, le=10)
    max_words: PositiveInt = 100
    sampling: SamplingSettings = SamplingSettings(temperature=0.3, max_tokens=512)


class AgentSettings(Settings):
    """How environments are played."""

    guided: bool = False
    """Decode actions under the environment's guide (blueprints only); recorded with every turn."""
    sampling: SamplingSettings = SamplingSettings()


class SandboxSettings(Settings):
    """Where untrusted programs run."""

    kind: Literal["auto", "local", "e2b"] = "auto"
    """This machine, machines rented from E2B, or this one where it is safe enough and rented ones where not."""
    required_level: Literal["unsafe", "confined", "namespaced", "vm"] = "confined"
    """A run refuses to start below it."""
    wall_seconds: PositiveFloat = 5.0
    """Per call."""
    cpu_seconds: PositiveFloat = 30.0
    """Per game."""
    memory_mb: PositiveInt = 256
    scratch_mb: PositiveInt = 8
    template: str = "base"
    """E2B's template for rented machines; Python 3.11 or later must be in it."""
    machines: PositiveInt = 4
    """Rented machines at once."""
    games_per_machine: PositiveInt = 16
    """Games after which another machine is rented, up to `machines`; after that they share what there is."""


class GateSettings(Settings):
    """Thresholds of the gates (docs/gates.md); recorded with each verdict."""

    random_win_max: float = 0.15
    """Highest win rate of a random-legal player."""
    floor_gap: float = 0.1
    """Do-nothing and random players must stay this far below the oracle's return."""
    min_turns: PositiveInt = 3
    """Fewest turns of the oracle, unless acting reveals hidden state."""
    seeds: int = Field(5, ge=2)
    """Instances looked at."""
    random_plays: PositiveInt = 32
    max_observation_bytes: PositiveInt = 16384
    max_program_bytes: PositiveInt = 65536


class JudgeSettings(Settings):
    """A review by the model of what code cannot see, after all other gates; without a clear verdict nothing passes."""

    enabled: bool = False
    sampling: SamplingSettings = SamplingSettings(temperature=0.0, top_p=1.0, top_k=0, max_tokens=2048)


class ScoreSettings(Settings):
    """How designers are rewarded."""

    variant: Literal["blend", "solve_rate", "regret", "signed_regret"] = "blend"


class MemorySettings(Settings):
    """How environments are remembered."""

    embedder: Literal["auto", "minilm", "hashed"] = "auto"
    """`auto`: MiniLM where the `embed` extra is installed, else hashed n-grams."""
    duplicate_cosine: float = 0.92
    """As near as this to a remembered environment is a duplicate."""
    warning_cosine: float = 0.85
    """As near as this is accepted with a warning."""
    duplicate_code: float = Field(0.8, gt=0.0, le=1.0)
    """A program that shares this part of its token runs (Jaccard) with another is a duplicate; compiled blueprints,
    alike on purpose, only get a warning."""
    cluster_share: float = Field(0.5, gt=0.0, le=1.0)
    """Most of a cycle's slots that one cluster of environments alike in meaning may fill."""
    examples: NonNegativeInt = 2
    """Whole environments of the same skill shown to the designer."""
    lessons: bool = True
    """Show the designer what earlier cycles taught: examples, what is mastered, what is out of reach."""


class FactorySettings(Settings):
    """All settings of a run."""

    profile: str = "default"
    seed: int = 0
    home: Path = Path("var")
    """Where run artifacts go."""
    corpus: CorpusSettings = CorpusSettings()
    cycle: CycleSettings = CycleSettings()
    designer: DesignerSettings = DesignerSettings()
    hint: HintSettings = HintSettings()
    agent: AgentSettings = AgentSettings()
    model: ModelSettings = ModelSettings()
    sandbox: SandboxSettings = SandboxSettings()
    gates: GateSettings = GateSettings()
    judge: JudgeSettings = JudgeSettings()
    score: ScoreSettings = ScoreSettings()
    memory: MemorySettings = MemorySettings()
    curation: CurationSettings = CurationSettings()
    training: TrainingSettings = TrainingSettings()
    store: StoreSettings = StoreSettings()
    execution: ExecutionSettings = ExecutionSettings()
    budget: BudgetSettings = BudgetSettings()
    alarms: AlarmSettings = AlarmSettings()
    notify: NotifySettings = NotifySettings()
    metrics: MetricsSettings = MetricsSettings()
    retention: RetentionSettings = RetentionSettings()
    evaluation: EvaluationSettings = EvaluationSettings()

    @property
    def settings_hash(self) -> str:
        """Names what is made: every setting but where it is put, the seed, secrets, how fast and how long it goes,
        evaluation, and training, which shows in the weights' version of each episode."""
        left_out = {"home", "seed", "profile", "training", "evaluation", *RUNNING}
        values = self.model_dump(mode="json", exclude=left_out)
        for model in filter(None, (values["model"], values["designer"]["model"])):
            for key in ("api_key", "base_url", "concurrency", "timeout_seconds", "retries"):
                model.pop(key)
        return fingerprint(values)
