"""`math_verify` inside: there for programs that name it, and free for those that do not."""

from sandbox.local import LocalSandbox
from spade.outcomes import CallOutcome
from spade.ports import Limits, Sandbox
from tests.sandbox.programs import COUNTING

LIMITS = Limits(wall_seconds=20.0)
FRACTIONS = r"""
from math_verify import parse, verify

class FractionEnv:
    def reset(self, seed=None):
        return "What is one half and a quarter?", {}

    def step(self, action):
        right = verify(parse("$\\frac{3}{4}$"), parse(action))
        return "", float(right), right, False, {}
"""


async def test_answers_are_compared_as_mathematics(sandbox: Sandbox) -> None:
    opened = await sandbox.open(FRACTIONS, LIMITS)
    assert opened.game is not None, opened.reply
    await opened.game.reset(0)
    reply = await opened.game.steps(["$0.7$", "none", "\\boxed{\\frac{6}{8}}"])
    await opened.game.close()

    assert [step.reward for step in reply.steps] == [0.0, 0.0, 1.0]


async def test_what_it_needs_itself_stays_out_of_reach(sandbox: Sandbox) -> None:
    opened = await sandbox.open("import math_verify\nimport sympy", LIMITS)

    assert opened.reply.outcome is CallOutcome.ENV_ERROR
    assert "may not import 'sympy'" in opened.reply.detail


def test_other_programs_do_not_pay_for_it(local: LocalSandbox) -> None:
    core = LocalSandbox(local.tier)
    _, game = core.open(COUNTING, LIMITS)
    kinds = set(core.zygotes)
    core.close()

    assert game is not None
    assert [kind.mathematics for kind in kinds] == [False]
