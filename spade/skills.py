"""The two settings and their skills (docs/method.md)."""

from enum import StrEnum


class Setting(StrEnum):
    """What kind of environment a slot asks for."""

    GAMES = "games"
    TOOLS = "tools"


class Skill(StrEnum):
    """What an environment trains. Six skills a setting."""

    MATHEMATICAL_REASONING = "mathematical_reasoning"
    LOGICAL_DEDUCTION = "logical_deduction"
    SPATIAL_REASONING = "spatial_reasoning"
    PATTERN_RECOGNITION = "pattern_recognition"
    OPTIMIZATION = "optimization"
    CAUSAL_INFERENCE = "causal_inference"
    API_ORCHESTRATION = "api_orchestration"
    DATA_RETRIEVAL = "data_retrieval"
    STATE_MODIFICATION = "state_modification"
    ERROR_RECOVERY = "error_recovery"
    TOOL_SELECTION = "tool_selection"
    MULTI_STEP_WORKFLOWS = "multi_step_workflows"

    @property
    def words(self) -> str:
        """The skill as a person writes it."""
        return self.value.replace("_", " ")


GAME_SKILLS = tuple(Skill)[:6]
TOOL_SKILLS = tuple(Skill)[6:]
SKILLS = {Setting.GAMES: GAME_SKILLS, Setting.TOOLS: TOOL_SKILLS}
