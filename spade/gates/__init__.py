"""When is an environment good enough to learn from: small pure gates over what the sandbox recorded.

Levels 0 (form), 2 (run) and 3 (meaning). Every program passes them in this order; a gate that errs does not pass.
"""

from spade.gates.judging import RULES_VERSION, Judgement, examine, gate_names, judge

__all__ = ["RULES_VERSION", "Judgement", "examine", "gate_names", "judge"]
