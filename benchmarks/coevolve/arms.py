"""The arms: what designs, how it is paid, and how both roles learn. The agent learns alike in all of them."""

from dataclasses import dataclass, replace
from typing import Literal

from spade.training_settings import FrontierSettings, RoleTraining, TrainingSettings

ENVIRONMENTS = 30
PLAYS = 8
SCORE = FrontierSettings()


@dataclass(frozen=True, slots=True)
class Setup:
    """One arm. `rounds`: how often environments are played in a cycle; `hinted`: hinted plays in the first round."""

    name: str
    says: str
    designer: Literal["model", "pool", "oracle"] = "model"
    score: Literal["blend", "solve_rate", "regret"] = "blend"
    frontier: FrontierSettings = SCORE
    rounds: int = 2
    hinted: int = PLAYS
    separate: bool = False
    frozen: bool = False
    memory: bool = True
    apart: int = 0
    """A cell that was designed is not offered to the designer again for about so many later cycles."""
    in_band: float = 0.0
    mastered: float = 0.0
    entropy_target: float | None = 0.65
    """Nats a design token; an even designer has about 1.0."""
    agent_rate: float = 1e-3
    minibatches: int = 4
    step_samples: int = 0
    agent_entropy: float = 0.0
    """Weight of the agent's entropy bonus."""
    designer_rate: float = 1e-3
    designer_steps: int = 4
    pool: int = 450

    def training(self, cycles: int) -> TrainingSettings:
        agent = RoleTraining(
            learning_rate=self.agent_rate,
            entropy=self.agent_entropy,
            minibatches=self.minibatches,
            step_samples=self.step_samples,
        )
        designer = replace_role(agent, self)
        return TrainingSettings(
            agent=agent,
            designer=designer,
            separate_designer=self.separate,
            frozen_designer=self.frozen,
            weight_decay=0.01,
            micro_tokens=6000,
            decay_updates=cycles * self.rounds,
            keep=2,
            frontier=self.frontier,
        )


def replace_role(agent: RoleTraining, setup: Setup) -> RoleTraining:
    """The designer's own learning; with shared weights only its entropy target counts."""
    return agent.model_copy(
        update={
            "learning_rate": setup.designer_rate,
            "minibatches": 1,
            "step_samples": 0,
            "entropy": 0.0,
            "epochs": setup.designer_steps,
            "entropy_target": setup.entropy_target,
        }
    )


PAPER = Setup("paper", "shared weights, blend of plateau and hinted regret, two rounds a cycle")
OURS = Setup(
    "ours",
    "own designer weights, tent on shrunken win rates, one round, replay 20 % in band and 20 % mastered, no hints",
    frontier=FrontierSettings(reward="tent", shrinkage=2),
    entropy_target=0.8,
    rounds=1,
    hinted=0,
    separate=True,
    in_band=0.2,
    mastered=0.2,
)
FIXED = Setup("fixed", "a pool of 450 even designs, agent only", designer="pool", rounds=1, hinted=0)

SETUPS = {
    setup.name: setup
    for setup in (
        PAPER,
        OURS,
        FIXED,
        replace(OURS, name="frozen", says="as ours, designer not trained", frozen=True),
        replace(PAPER, name="solve-rate", says="as paper, plateau only, no hints", score="solve_rate", hinted=0),
        replace(
            PAPER,
            name="potential",
            says="as paper, learning potential, no hints",
            frontier=FrontierSettings(reward="learning_potential"),
            hinted=0,
        ),
        replace(OURS, name="no-memory", says="as ours, prompts tell of no earlier environment", memory=False),
        Setup("oracle", "a curriculum that reads win rates: the ceiling", designer="oracle", rounds=1, hinted=0),
    )
}
