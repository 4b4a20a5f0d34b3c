"""What the text alone tells."""

from tests.defects.making import make

TURN = "        self.turn = 0\n"
STEPPED = "        self.turn += 1\n"

OF_FORM = [
    *make(
        "syntax error",
        "form.parse",
        dial_lock=("if right == 3:", "if right == 3"),
        spice_rack=("if placed == 4:", "if placed = 4:"),
    ),
    *make(
        "no environment class",
        "form.contract",
        dial_lock=("DialLockEnv", "DialLock"),
        ferry_load=("FerryLoadEnv", "Game"),
    ),
    *make(
        "two environment classes",
        "form.contract",
        dial_lock=("class DialLockEnv", "class HelperEnv:\n    pass\n\n\nclass DialLockEnv"),
        spice_rack=("class SpiceRackEnv", "class RackEnv:\n    size = 4\n\n\nclass SpiceRackEnv"),
    ),
    *make(
        "no solution",
        "form.contract",
        dial_lock=("def solution", "def _solution"),
        greenhouse=("def solution", "def answer"),
    ),
    *make(
        "wrong signature",
        "form.contract",
        dial_lock=("def step(self, action)", "def step(self, state, action)"),
        rover_walk=("def reset(self, seed=None)", "def reset(self)"),
        number_mill=("def __init__(self, max_turns=8)", "def __init__(self, max_turns)"),
    ),
    *make(
        "asynchronous method",
        "form.contract",
        dial_lock=("def step(", "async def step("),
        spice_rack=("def reset(", "async def reset("),
    ),
    *make(
        "turn cap out of range", "form.contract", dial_lock=("max_turns=10", "max_turns=60"), bell_tower=("=14", "=1")
    ),
    *make(
        "oversized program",
        "form.contract",
        dial_lock=("import random\n", 'import random\n\nPADDING = "' + "x" * 66_000 + '"\n'),
        spice_rack=("import random\n", "import random\n" + "# " + "y" * 66_000 + "\n"),
    ),
    *make(
        "forbidden module",
        "form.imports",
        dial_lock=("import random\n", "import random\nimport os\n"),
        spice_rack=("import random\n", "import random\nfrom subprocess import run\n"),
        greenhouse=("import random\n", "import random\nimport socket as links\n"),
        bell_tower=(TURN, TURN + "        import time\n"),
    ),
    *make(
        "reads a host file",
        "form.imports",
        dial_lock=(TURN, "        self.turn = 0 * len(open('/etc/passwd').read())\n"),
        ferry_load=(TURN, TURN + "        with open('/etc/hostname') as file:\n            self.host = file.read()\n"),
    ),
    *make(
        "evaluates the action",
        "form.imports",
        dial_lock=("return [int(part) for part in parts]", "return [eval(part) for part in parts]"),
        number_mill=("number = int(words[1])", "number = eval(words[1])"),
    ),
    *make(
        "climbs out through dunders",
        "form.imports",
        dial_lock=(TURN, TURN + "        self.all = ().__class__.__base__.__subclasses__()\n"),
        spice_rack=(TURN, TURN + "        self.out = self.reset.__globals__\n"),
        greenhouse=(TURN, TURN + "        self.out = getattr(self, '__dict__')\n"),
    ),
    *make(
        "patches the random module",
        "form.imports",
        dial_lock=(TURN, TURN + "        random.random = lambda: 0.5\n"),
        ferry_load=(TURN, TURN + "        random.Random.randint = lambda *a: 4\n"),
    ),
    *make(
        "writes to the module",
        "form.imports",
        dial_lock=(
            ("import random\n", "import random\n\nPLAYED = []\n"),
            (TURN, TURN + "        PLAYED.append(seed)\n"),
        ),
        spice_rack=(
            ("import random\n", "import random\n\nCOUNT = 0\n"),
            (TURN, TURN + "        global COUNT\n        COUNT += 1\n"),
        ),
        greenhouse=(
            ("import random\n", "import random\n\nSEEN = {}\n"),
            (TURN, TURN + "        SEEN[seed] = self.causes\n"),
        ),
    ),
    *make(
        "reads the wall clock",
        "form.imports",
        dial_lock=(
            ("import random\n", "import datetime\nimport random\n"),
            ("random.Random(seed)", "random.Random(datetime.datetime.now().second)"),
        ),
        spice_rack=(
            ("import random\n", "import random\nfrom datetime import date as day\n"),
            (TURN, TURN + "        self.turn += day.today().day % 2\n"),
        ),
    ),
    *make(
        "undefined name",
        "form.names",
        dial_lock=("        self.paid = 0.0\n", "        self.paid = nothing\n"),
        rover_walk=("from collections import deque\n", ""),
        spice_rack=("shared - placed}", "shared - place}"),
    ),
    *make(
        "success over nothing",
        "form.vacuous",
        dial_lock=("if right == 3:", "if all([]):"),
        spice_rack=("if placed == 4:", "if all(name == spice for name, spice in []):"),
        greenhouse=(
            (TURN, TURN + "        self.open = []\n"),
            ("right = sorted(given[:2]) == self.causes", "right = all(word in given for word in self.open)"),
        ),
    ),
    *make(
        "comparison that is always true",
        "form.vacuous",
        dial_lock=("if right == 3:", 'if "" == "":'),
        spice_rack=("if placed == 4:", "if placed == placed:"),
    ),
    *make(
        "condition that is always true",
        "form.vacuous",
        dial_lock=("if right == 3:", "if right == 3 or True:"),
        spice_rack=("if placed == 4:", "if 4:"),
    ),
    *make(
        "nothing pays",
        "form.vacuous",
        dial_lock=("reward = max(0.0, value - self.paid)", "reward = 0.0"),
        spice_rack=('"All four stand right.", 1.0', '"All four stand right.", 0.0'),
    ),
]
