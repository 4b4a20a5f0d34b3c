import pytest

from spade.gates.form import FORM_GATES
from spade.gates.source import read_source
from spade.prompting import render
from spade.settings import GateSettings
from spade.skills import Setting
from spade.verdicts import Status, Verdict

GOOD = render("skeleton_games.txt")


def judged(code: str, settings: GateSettings | None = None) -> Verdict:
    """The first form gate that does not pass, or the last one."""
    source = read_source(code)
    verdict = Verdict("none", Status.ERROR)
    for gate in FORM_GATES:
        verdict = gate(source, Setting.GAMES, settings or GateSettings())
        if not verdict.passed:
            break
    return verdict


def test_the_skeleton_of_the_prompt_passes() -> None:
    assert judged(GOOD).status is Status.PASS


@pytest.mark.parametrize(
    ("old", "new", "gate"),
    [
        ("return [int(part)", "return [int(part", "form.parse"),
        ("class DialLockEnv", "class DialLock", "form.contract"),
        ("import random\n", "import random\n\n\nclass OtherEnv:\n    pass\n", "form.contract"),
        ("def solution(self)", "def solve(self)", "form.contract"),
        ("def step(self, action)", "def step(self, action, extra)", "form.contract"),
        ("def step(self, action)", "async def step(self, action)", "form.contract"),
        ("def reset(self, seed=None)", "def reset(self)", "form.contract"),
        ("max_turns=10", "max_turns=40", "form.contract"),
        ("max_turns=10", "max_turns=2", "form.contract"),
        ("max_turns=10", "turns=10", "form.contract"),
        ("import random\n", "import random\nimport os\n", "form.imports"),
        ("import random\n", "import random\nfrom socket import socket\n", "form.imports"),
        ("import random\n", "import random\nfrom random import _os\n", "form.imports"),
        ("        self.turn = 0\n", "        self.turn = len(open('/etc/passwd').read()) * 0\n", "form.imports"),
        ("        self.turn = 0\n", "        self.turn = eval('0')\n", "form.imports"),
        ("        self.turn = 0\n", "        self.turn = 0 * len(().__class__.__bases__)\n", "form.imports"),
        ("        self.turn = 0\n", "        self.turn = 0\n        random.random = lambda: 0.5\n", "form.imports"),
        ("        self.turn = 0\n", "        global COUNT\n        COUNT = self.turn = 0\n", "form.imports"),
        ("import random\n", "import random\n\nSEEN = []\n", "passes"),
        ("        self.paid = 0.0\n", "        self.paid = zero\n", "form.names"),
        ("        if right == 3:", "        if right == 3 or True:", "form.vacuous"),
        ("        if right == 3:", "        if all([]):", "form.vacuous"),
        ("        if right == 3:", '        if "" == "":', "form.vacuous"),
        ("        if right == 3:", "        if all(g == c for g, c in []):", "form.vacuous"),
        ("        if right == 3:", "        if guess == guess:", "form.vacuous"),
    ],
)
def test_one_change_to_a_good_program_is_met_by_the_gate_meant_for_it(old: str, new: str, gate: str) -> None:
    assert old in GOOD
    verdict = judged(GOOD.replace(old, new, 1))

    assert (verdict.gate if not verdict.passed else "passes") == gate
    assert verdict.passed or verdict.message


@pytest.mark.parametrize("mutation", ["SEEN.append(seed)", "SEEN[:] = [seed]", "del SEEN[:]"])
def test_writing_to_the_module_is_refused(mutation: str) -> None:
    code = GOOD.replace("import random\n", "import random\n\nSEEN = []\n", 1)
    code = code.replace("        self.turn = 0\n", f"        self.turn = 0\n        {mutation}\n", 1)

    verdict = judged(code)

    assert (verdict.gate, verdict.passed) == ("form.imports", False)


def test_a_module_constant_that_is_only_read_passes() -> None:
    code = GOOD.replace("import random\n", 'import random\n\nNAMES = ["A", "B", "C"]\n', 1)

    assert judged(code.replace('zip("ABC"', "zip(NAMES")).passed


def test_the_shared_generator_is_only_a_warning() -> None:
    """Seeded at reset it can be deterministic; the runs decide."""
    code = GOOD.replace("rng = random.Random(seed)", "random.seed(seed)").replace("rng.", "random.")

    verdict = next(v for v in (g(read_source(code), Setting.GAMES, GateSettings()) for g in FORM_GATES[2:3]))

    assert verdict.status is Status.WARN


def test_a_program_over_the_size_limit_is_refused() -> None:
    assert judged(GOOD, GateSettings(max_program_bytes=100)).gate == "form.contract"


def test_nested_functions_and_comprehensions_see_their_names() -> None:
    code = GOOD.replace(
        "        return [int(part) for part in parts]",
        "        def number(text, offset=0):\n            return [int(c) + offset for c in text][0]\n"
        "        return [number(part) for part in parts]",
    )

    assert judged(code).passed


@pytest.mark.parametrize("text", ["", "\0", "(" * 5000, "-" * 100_000 + "1", "x = " + "9" * 10_000, "\ud800", "class"])
def test_no_text_breaks_the_gates(text: str) -> None:
    verdict = judged(text)

    assert not verdict.passed
    assert verdict.message
