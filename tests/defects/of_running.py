"""What shows when the program runs."""

from tests.defects.making import make

TURN = "        self.turn = 0\n"
STEPPED = "        self.turn += 1\n"

OF_RUNNING = [
    *make(
        "fails when loaded",
        "runtime.startup",
        dial_lock=("import random\n", 'import random\n\nLIMIT = int("ten")\n'),
        spice_rack=("        self.max_turns = max_turns\n", "        self.max_turns = max_turns.value\n"),
    ),
    *make(
        "fails in reset",
        "runtime.startup",
        dial_lock=("        self.paid = 0.0\n", "        self.paid = [0.0][1]\n"),
        greenhouse=("chosen[2]", "chosen[3]"),
    ),
    *make(
        "fails in reset on some seeds",
        "runtime.startup",
        dial_lock=(TURN, "        self.turn = 0 if seed % 2 == 0 else [][0]\n"),
        spice_rack=(TURN, "        self.turn = (0,)[seed % 2]\n"),
    ),
    *make(
        "never comes back from reset",
        "runtime.startup",
        dial_lock=(TURN, TURN + "        while self.turn == 0:\n            pass\n"),
        ferry_load=(TURN, TURN + "        while self.capacity > 0:\n            self.capacity += 1\n"),
    ),
    *make(
        "empty observation",
        "runtime.observation_schema",
        dial_lock=('return self._feedback(guess) + f" Tries left: {self.max_turns - self.turn}."', 'return ""'),
        greenhouse=('("It blooms." if blooms else "It stays green.")', '("It blooms." if blooms else "")'),
    ),
    *make(
        "observation that is no text",
        "runtime.observation_schema",
        dial_lock=('return "The lock opens."', "return guess"),
        spice_rack=('return "All four stand right."', "return None"),
    ),
    *make(
        "huge observation",
        "runtime.observation_schema",
        dial_lock=('"Goal: set all three digits right.\\n"', '+ "Goal: set all three digits right.\\n" * 2000 +'),
        greenhouse=(
            '("It blooms." if blooms else "It stays green.")',
            '("It blooms." if blooms else "Green. " * 5000)',
        ),
        spice_rack=('"All four stand right."', '"All four stand right." * 300000'),
    ),
    *make(
        "reward over one",
        "runtime.reward_well_formed",
        dial_lock=("reward = max(0.0, value - self.paid)", "reward = value"),
        spice_rack=('"All four stand right.", 1.0', '"All four stand right.", 10.0'),
        ferry_load=("reward = 1.0 if share >= 1", "reward = 2.0 if share >= 1"),
    ),
    *make(
        "reward that is no number",
        "runtime.reward_well_formed",
        spice_rack=('"All four stand right.", 1.0', '"All four stand right.", True'),
        number_mill=("float(right)", 'float("nan")'),
        greenhouse=("float(right)", "str(right)"),
    ),
    *make(
        "negative reward",
        "runtime.reward_well_formed",
        dial_lock=('Write them like \\\\boxed{4 0 9}.", 0.0', 'Write them like \\\\boxed{4 0 9}.", -0.1'),
        number_mill=("float(right)", "2 * float(right) - 1"),
    ),
    *make(
        "flags that are no bools",
        "runtime.state_contract",
        dial_lock=("out_of_tries = self.turn >= self.max_turns", "out_of_tries = int(self.turn >= self.max_turns)"),
        spice_rack=("1.0, True, False", "1.0, 1, 0"),
    ),
    *make(
        "pays after the end",
        "runtime.state_contract",
        spice_rack=('return "The rack is closed.", 0.0', 'return "The rack is closed.", 0.5'),
        dial_lock=('return "The episode is over.", 0.0', 'return "The episode is over.", 0.1 * (self.turn < 99)'),
        greenhouse=(('        if self.done:\n            return "The season is over.", 0.0, True, False, {}\n', ""),),
    ),
    *make(
        "never ends",
        "runtime.state_contract",
        dial_lock=("out_of_tries = self.turn >= self.max_turns", "out_of_tries = False"),
        bell_tower=("late = self.turn >= self.max_turns", "late = self.turn > 10 * self.max_turns"),
    ),
    *make(
        "malformed actions are free",
        "runtime.state_contract",
        dial_lock=(
            ("        self.turn += 1\n", ""),
            ("        right = sum", "        self.turn += 1\n        right = sum"),
        ),
        spice_rack=(
            ("        self.turn += 1\n", ""),
            ("        placed = sum", "        self.turn += 1\n        placed = sum"),
        ),
    ),
    *make(
        "crashes on text that is no action",
        "runtime.robust",
        dial_lock=("        guess = self._parse(action)\n", "        guess = [int(part) for part in action.split()]\n"),
        ferry_load=("len(words) != 2 or ", ""),
        rover_walk=(
            '        if word not in ("left", "right", "forward"):\n            self.done = late\n            '
            "return \"The rover knows 'left', 'right' and 'forward'.\", 0.0, False, late, {}\n",
            '        word = {"left": "left", "right": "right", "forward": "forward"}[word]\n',
        ),
    ),
    *make(
        "crashes on digits that are no ASCII",
        "runtime.robust",
        number_mill=("text.isascii() and text.isdigit()", "text.isdigit()"),
        dial_lock=('len(part) == 1 and part in "0123456789"', "part.isdigit()"),
    ),
    *make(
        "crashes on the winning action",
        "runtime.robust",
        dial_lock=('"The lock opens."', '"The lock opens" + self.turn'),
        greenhouse=(
            "right = sorted(given[:2]) == self.causes and given[2] == self.blocker",
            "right = sorted(given[:2]) == self.causes and given[2] == self.blocker and self.bonus",
        ),
    ),
    *make(
        "crashes out of range",
        "runtime.robust",
        number_mill=(
            '        if number > 20:\n            return "The mill takes 0 to 20 only.", 0.0, False, late, {}\n',
            "        number = list(range(21))[number]\n",
        ),
        manor_mystery=("and words[1] in [str(n + 1) for n in range(len(self.clues))]", "and words[1].isdigit()"),
    ),
    *make(
        "ignores the seed",
        "runtime.seed_control",
        dial_lock=("random.Random(seed)", "random.Random(7)"),
        spice_rack=("random.Random(seed)", 'random.Random("rack")'),
        greenhouse=("random.Random(seed)", "random.Random(seed % 1)"),
    ),
    *make(
        "the seed only changes the name",
        "runtime.seed_control",
        dial_lock=(("random.Random(seed)", "random.Random(7)"), ('"A lock has', 'f"Lock {seed}. A lock has')),
        spice_rack=(("random.Random(seed)", "random.Random(7)"), ('"A rack has', 'f"Game #{seed}: a rack has')),
    ),
    *make(
        "randomness without a seed",
        "runtime.episode_determinism",
        dial_lock=("rng.randint(0, 9)", "random.randint(0, 9)"),
        spice_rack=("random.Random(seed)", "random.Random()"),
        greenhouse=("rng.sample(", "random.sample("),
    ),
    *make(
        "depends on the order of a set",
        "runtime.episode_determinism",
        spice_rack=("rng.choice(self.SPICES)", "rng.choice(list(set(self.SPICES)))"),
        ferry_load=(
            'rng.sample(["anvils", "barley", "candles", "drums", "enamel", "flax", "glass", "hides", "ivory"], 7)',
            'list({"anvils", "barley", "candles", "drums", "enamel", "flax", "glass", "hides", "ivory"})[:7]',
        ),
    ),
    *make(
        "depends on hashes or addresses",
        "runtime.episode_determinism",
        dial_lock=("random.Random(seed)", "random.Random(hash(str(seed)))"),
        greenhouse=("random.Random(seed)", "random.Random(seed + hash('x') % 1000)"),
    ),
    *make(
        "state on the class",
        "runtime.episode_isolation",
        dial_lock=(
            (
                'tells whether its digit is higher or lower."""\n',
                'tells whether its digit is higher or lower."""\n\n    wins = 0\n',
            ),
            (
                '            return "The lock opens."',
                '            DialLockEnv.wins += 1\n            return "The lock opens."',
            ),
            ("self.turn = 0\n", "self.turn = min(DialLockEnv.wins, 5)\n"),
        ),
        spice_rack=(
            ("    SPICES =", "    told = []\n    SPICES ="),
            ("        placed = sum", "        self.told.append(names[0])\n        placed = sum"),
            ('return f"In their place', 'return f"So far {len(self.told)} tries. In their place'),
        ),
    ),
    *make(
        "state kept on the object",
        "runtime.episode_isolation",
        dial_lock=("        self.paid = 0.0\n", "        self.paid = getattr(self, 'paid', 0.0)\n"),
        ferry_load=(
            "        self.aboard = []\n",
            "        self.aboard = [n for n in getattr(self, 'aboard', []) if n in names][:1]\n",
        ),
    ),
    *make(
        "state in a default argument",
        "runtime.episode_isolation",
        dial_lock=(
            ("def _feedback(self, guess):", "def _feedback(self, guess, seen=[]):"),
            ("        words = []\n", "        seen.append(guess)\n        words = [f'try {len(seen)}']\n"),
        ),
        spice_rack=(
            ("def step(self, action):", "def step(self, action, used=set()):"),
            ("        placed = sum", "        used.add(action)\n        placed = sum"),
            ('return f"In their place', 'return f"({len(used)}) In their place'),
        ),
    ),
    *make(
        "counts how often it is played",
        "runtime.episode_isolation",
        dial_lock=(
            (TURN, TURN + "        self.games = getattr(self, 'games', 0) + 1\n"),
            ("if right == 3:", "if right == 3 and self.games < 9:"),
        ),
        greenhouse=(
            (TURN, TURN + "        self.games = getattr(self, 'games', 0) + 1\n"),
            ("        blooms = set", "        given = given if self.games < 7 else []\n        blooms = set"),
        ),
    ),
    *make(
        "pays only when the solution was asked for",
        "runtime.episode_isolation",
        dial_lock=(
            ("    def solution(self):\n", "    def solution(self):\n        self.asked = True\n"),
            ("if right == 3:", "if right == 3 and getattr(self, 'asked', False):"),
        ),
        spice_rack=(
            ("    def solution(self):\n", "    def solution(self):\n        self.asked = True\n"),
            ("if placed == 4:", "if placed == 4 and getattr(self, 'asked', False):"),
        ),
    ),
    *make(
        "slow step",
        "runtime.resource_bounds",
        dial_lock=(STEPPED, STEPPED + "        self.waste = sum(n % 7 for n in range(4_000_000))\n"),
        spice_rack=(STEPPED, STEPPED + "        self.waste = sorted(range(3_000_000), key=lambda n: -n)[0]\n"),
    ),
    *make(
        "step that hangs",
        "runtime.resource_bounds",
        dial_lock=(
            "        if guess is None:\n",
            "        while guess is None:\n            pass\n        if guess is None:\n",
        ),
        greenhouse=(
            'verb not in ("try", "answer"):\n',
            'verb not in ("try", "answer"):\n            while True:\n                pass\n',
        ),
    ),
    *make(
        "step that eats memory",
        "runtime.resource_bounds",
        dial_lock=(STEPPED, STEPPED + "        self.hoard = [0] * 600_000_000\n"),
        spice_rack=(
            "        if placed == 4:\n",
            "        self.hoard = bytearray(2_000_000_000)\n        if placed == 4:\n",
        ),
    ),
]
