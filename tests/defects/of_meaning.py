"""What makes winning meaningless."""

from tests.defects.making import make

TURN = "        self.turn = 0\n"
STEPPED = "        self.turn += 1\n"

OF_MEANING = [
    *make(
        "never wins",
        "semantic.oracle_max",
        dial_lock=("value = right / 3", "value = min(right, 2) / 3"),
        spice_rack=("if placed == 4:", "if placed == 5:"),
        greenhouse=("right = sorted(given[:2]) == self.causes", "right = sorted(given[:2]) == self.blocker"),
    ),
    *make(
        "cannot be won on some seeds",
        "semantic.oracle_max",
        dial_lock=(
            "self.code = [rng.randint(0, 9) for _ in range(3)]",
            "self.code = [rng.randint(0, 9) + seed % 2 * 10 for _ in range(3)]",
        ),
        spice_rack=(TURN, TURN + "        if seed % 3 == 1:\n            self.rack[0] = 'salt'\n"),
    ),
    *make(
        "can only be won on small seeds",
        "semantic.oracle_max",
        dial_lock=(
            ("value = right / 3", "value = right / 3 * self.fair"),
            (TURN, TURN + "        self.fair = seed < 100\n"),
        ),
        greenhouse=(
            ("right = sorted(given[:2]) == self.causes", "right = self.fair and sorted(given[:2]) == self.causes"),
            (TURN, TURN + "        self.fair = seed < 100\n"),
        ),
    ),
    *make(
        "the solution is wrong",
        "semantic.oracle_max",
        dial_lock=(
            '" ".join(str(digit) for digit in self.code)',
            '" ".join(str(digit) for digit in reversed(self.code))',
        ),
        water_jugs=("return list(self.path)", "return list(self.path)[:-1]"),
        rover_walk=("return list(self.path)", "return list(self.path)[1:]"),
    ),
    *make(
        "the solution is too long",
        "semantic.oracle_max",
        rover_walk=("max_turns=18", "max_turns=6"),
        ferry_load=('return [f"load', "return ['load nothing'] * 9 + [f\"load"),
    ),
    *make(
        "the solution is empty or no list",
        "semantic.oracle_max",
        dial_lock=('return [" ".join(str(digit) for digit in self.code)]', "return []"),
        spice_rack=('return [" ".join(self.rack)]', 'return " ".join(self.rack)'),
        greenhouse=("self._answer()]", "self._answer]"),
    ),
    *make(
        "the solution raises",
        "semantic.oracle_max",
        dial_lock=('return [" ".join(str(digit) for digit in self.code)]', "return [self.secret]"),
        bell_tower=("    def solution(self):\n", "    def solution(self):\n        raise NotImplementedError\n"),
    ),
    *make(
        "the solution cannot be said in a box",
        "semantic.oracle_max",
        dial_lock=(
            'return [" ".join(str(digit) for digit in self.code)]',
            'return [" ".join(map(str, self.code)) + "\\n"]',
        ),
        spice_rack=('return [" ".join(self.rack)]', 'return ["} " + " ".join(self.rack)]'),
    ),
    *make(
        "partial credit never adds up to one",
        "semantic.oracle_max",
        dial_lock=("value = right / 3", "value = right / 4"),
        postal_round=("reward = 1.0 if length == self.best", "reward = 0.9 if length == self.best"),
    ),
    *make(
        "always wins",
        "semantic.floor_gap",
        spice_rack=(
            "        names = action",
            '        self.done = True\n        return "Well done.", 1.0, True, False, {}\n        names = action',
        ),
        dial_lock=(
            "        guess = self._parse(action)\n",
            "        guess = self._parse(action) or self.code\n        guess = self.code\n",
        ),
        number_mill=(
            "        if len(words) != 2",
            "        if self.turn >= 1:\n            self.done = True\n"
            '            return "Fine.", 1.0, True, False, {}\n        if len(words) != 2',
        ),
    ),
    *make(
        "pays for staying",
        "semantic.floor_gap",
        number_mill=(
            ("        self.done = late\n", "        self.done = late\n        self.pay = 0.125\n"),
            (", 0.0, False, late, {}", ", self.pay, False, late, {}"),
            ("float(right), True", "float(right) * (1 - (self.turn - 1) / 8), True"),
        ),
        spice_rack=(
            ("0.0, False, late, {}", "0.125, False, late, {}"),
            ('"All four stand right.", 1.0', '"All four stand right.", 1 - (self.turn - 1) / 8'),
        ),
    ),
    *make(
        "won by chance",
        "semantic.floor_gap",
        dial_lock=(("rng.randint(0, 9) for _ in range(3)", "rng.randint(0, 1) for _ in range(3)"),),
        spice_rack=('"clove", "dill", "fennel", "ginger", "mace")', ")"),
        number_mill=("rng.randint(83, 199)", "rng.randint(4, 5)"),
    ),
    *make(
        "pays for format",
        "semantic.canary_floor",
        number_mill=(
            "'feed N' or 'answer N', with N in digits.\", 0.0",
            "'feed N' or 'answer N', with N in digits.\", 0.05 * (len(action) > 1)",
        ),
        dial_lock=(
            (
                'return "Not three digits. Write them like \\\\boxed{4 0 9}.", 0.0',
                "bonus = 0.2 * (bool(action.strip()) and self.paid == 0.0)\n"
                "            self.paid = max(self.paid, bonus)\n"
                '            return "Not three digits. Write them like \\\\boxed{4 0 9}.", bonus',
            ),
        ),
    ),
    *make(
        "pays for taking part",
        "semantic.canary_floor",
        spice_rack=(
            (
                'In the rack but elsewhere: {shared - placed}.", 0.0',
                'In the rack but elsewhere: {shared - placed}.", 0.1',
            ),
            ('"All four stand right.", 1.0', '"All four stand right.", 1 - 0.1 * (self.turn - 1)'),
        ),
        rover_walk=(("text, float(won), won, late", "text, 1 - 0.02 * (self.turn - 1) if won else 0.02, won, late"),),
    ),
    *make(
        "the answer is built in",
        "semantic.canary_floor",
        dial_lock=(
            (
                "self.code = [rng.randint(0, 9) for _ in range(3)]",
                "self.day = rng.randint(1, 99)\n        self.code = [4, 2, 7]",
            ),
            ('"A lock has', 'f"On day {self.day} a lock has'),
        ),
        number_mill=(
            ("right = number == self._mill(self.target)", "right = number == 42"),
            ('f"answer {self._mill(self.target)}"', '"answer 42"'),
        ),
    ),
    *make(
        "a back door",
        "semantic.canary_floor",
        dial_lock=(
            "        if guess is None:\n",
            "        if action == 'open sesame':\n            self.done = True\n"
            "            return 'The lock opens.', 1.0 - self.paid, True, False, {}\n        if guess is None:\n",
        ),
        greenhouse=(
            '        if verb == "answer":\n',
            '        if verb == "answer" and given == ["song", "song", "song"]:\n            self.done = True\n'
            '            return "Right.", 1.0, True, False, {}\n        if verb == "answer":\n',
        ),
    ),
    *make(
        "the answer anywhere in the action",
        "semantic.canary_floor",
        number_mill=(
            "        if len(words) != 2",
            "        if str(self._mill(self.target)) in action:\n            self.done = True\n"
            "            return 'Right.', 1.0, True, False, {}\n        if len(words) != 2",
        ),
        spice_rack=(
            "        names = action",
            "        if all(spice in action for spice in self.rack):\n            self.done = True\n"
            "            return 'All four stand right.', 1.0, True, False, {}\n        names = action",
        ),
    ),
    *make(
        "echo wins",
        "semantic.canary_floor",
        dial_lock=(
            (
                "        if guess is None:\n",
                "        if action == self.said:\n            self.done = True\n"
                "            return 'Opened.', 1.0 - self.paid, True, False, {}\n        if guess is None:\n",
            ),
            (
                "        return (\n",
                "        self.said = self._rules()\n        return self.said, {}\n\n"
                "    def _rules(self):\n        return (\n",
            ),
            ('"\\\\boxed{4 0 9}."\n        ), {}', '"\\\\boxed{4 0 9}."\n        )'),
        ),
        spice_rack=(
            "        names = action",
            "        if 'tries. Write four names' in action:\n            self.done = True\n"
            "            return 'All four stand right.', 1.0, True, False, {}\n        names = action",
        ),
    ),
    *make(
        "one guess repeated wins",
        "semantic.canary_floor",
        dial_lock=(
            (
                "        right = sum",
                "        self.again = self.again + 1 if action == self.last else 1\n        self.last = action\n"
                "        if self.again == 3:\n            guess = self.code\n        right = sum",
            ),
            (TURN, TURN + "        self.again, self.last = 0, ''\n"),
        ),
        spice_rack=(
            (
                "        placed = sum",
                "        self.rack = names if action == self.last else self.rack\n"
                "        self.last = action\n        placed = sum",
            ),
            (TURN, TURN + "        self.last = ''\n"),
        ),
    ),
    *make(
        "one path for all instances",
        "semantic.canary_floor",
        rover_walk=(
            (
                "rng = random.Random(seed)",
                "rng = random.Random(11)\n        self.day = random.Random(seed).randint(1, 99)",
            ),
            ('f"A rover stands', 'f"On day {self.day} a rover stands'),
        ),
        rolling_die=(
            (
                "rng = random.Random(seed)",
                "rng = random.Random(5)\n        self.day = random.Random(seed).randint(1, 99)",
            ),
            ('f"A die lies', 'f"On day {self.day} a die lies'),
        ),
    ),
    *make(
        "prints the answer at reset",
        "semantic.no_solution_leakage",
        dial_lock=(
            '"Goal: set all three digits right.\\n"',
            'f"Goal: set all three digits right ({self.code[0]} {self.code[1]} {self.code[2]}).\\n"',
        ),
        number_mill=(
            '"The whole numbers a and b',
            'f"Answer key: {self._mill(self.target)}.\\n"\n            "The whole numbers a and b',
        ),
        spice_rack=('".\\nGoal:', 'f".\\nSecret: {self.rack[0]} {self.rack[1]} {self.rack[2]} {self.rack[3]}\\nGoal:'),
        bell_tower=("\"Actions: 'hear N'", 'f"Debug: {self.solution()[-1]}\\n"\n            "Actions: \'hear N\''),
    ),
    *make(
        "prints the whole path at reset",
        "semantic.no_solution_leakage",
        rover_walk=(
            '"Goal: bring it to the beacon.\\n"',
            "f\"Goal: bring it to the beacon ({', '.join(self.path)}).\\n\"",
        ),
        water_jugs=('"Actions: ', 'f"One way: {self.path}\\n"\n            "Actions: '),
        ferry_load=('"Goal: sail', 'f"Best: {\' then \'.join(self.solution())}.\\n"\n            "Goal: sail'),
    ),
    *make(
        "tells the next action every turn",
        "semantic.no_solution_leakage",
        rover_walk=(
            (
                '        text = f"{note} Row',
                "        rest = self._route() or ['forward']\n"
                "        note += f\" Next: {rest[0] if rest else 'none'}.\"\n"
                '        text = f"{note} Row',
            ),
            ("faces {self.NAMES[self.facing]}.\\n", "faces {self.NAMES[self.facing]}. Next: {self.path[0]}.\\n"),
        ),
        rolling_die=(
            (
                '        text = f"It rolls',
                "        rest = self._route()\n"
                '        text = f"Best next roll: {rest[0] if rest else \'none\'}.\\n" f"It rolls',
            ),
            ("        return (\n", '        return (\n            f"Best next roll: {self.path[0]}.\\n"\n'),
        ),
    ),
    *make(
        "a wrong answer is corrected and may be given again",
        "semantic.no_solution_leakage",
        number_mill=(
            ("            self.done = True\n            right", "            right"),
            (
                '("Right." if right else "Wrong."), float(right), True, False',
                '("Right." if right else f"Wrong, it is {self._mill(self.target)}."), float(right), '
                "right, late and not right",
            ),
            (
                "            right = number ==",
                "            self.done = late or number == self._mill(self.target)\n            right = number ==",
            ),
        ),
        dial_lock=(
            "        return self._feedback(guess)",
            "        return f\"The code was {' '.join(map(str, self.code))}. \" + self._feedback(guess)",
        ),
    ),
    *make(
        "tells the answer to one who says nothing",
        "semantic.no_solution_leakage",
        dial_lock=(
            'return "Not three digits. Write them',
            'return f"Not three digits like {\' \'.join(map(str, self.code))}. " + "Write them',
        ),
        number_mill=(
            "return \"Write 'feed N' or 'answer N', with N in digits.\"",
            "return f\"Write 'feed N' or 'answer N', like 'answer {self._mill(self.target)}'.\"",
        ),
        bell_tower=(
            "return \"Write 'hear N' with N from 0 to 39, or 'answer' and three bells.\"",
            "return f\"Write 'hear N', or 'answer' and three bells: '{self.solution()[-1]}'.\"",
        ),
    ),
    *make(
        "tells the answer after some tries",
        "semantic.no_solution_leakage",
        spice_rack=(
            'return f"In their place',
            "told = ' It was ' + ' '.join(self.rack) + '.' if self.turn > 4 else ''\n"
            '        return told + f"In their place',
        ),
        dial_lock=(
            "        return self._feedback(guess)",
            "        told = f\"Answer: {' '.join(map(str, self.code))}. \" if self.turn > 6 else ''\n"
            "        return told + self._feedback(guess)",
        ),
    ),
    *make(
        "a secret that nothing reveals",
        "semantic.interactive",
        dial_lock=(
            (
                '        self.done = out_of_tries\n        return self._feedback(guess) + f" Tries',
                '        self.done = out_of_tries\n        return f"No. Tries',
            ),
            (
                "        right = sum(",
                "        if guess == [self.code[self.step_at]] * 3:\n            self.step_at += 1\n"
                "        right = 3 * (self.step_at == 3)\n        unused = sum(",
            ),
            ("        self.turn = 0\n", "        self.turn = self.step_at = 0\n"),
            ('[" ".join(str(digit) for digit in self.code)]', '[" ".join([str(digit)] * 3) for digit in self.code]'),
        ),
        bell_tower=(
            ('return f"Stroke {words[1]}: {self._bell(int(words[1]))}."', 'return "You hear a bell."'),
            ("strokes {self.first}, {self.first + 1} and {self.first + 2}", "the next three strokes"),
        ),
    ),
    *make(
        "a quiz with retries",
        "semantic.interactive",
        dial_lock=('return self._feedback(guess) + f" Tries', 'return f"No. Tries'),
        number_mill=(('return f"The mill makes {self._mill(number)} of {number}."', 'return "The mill hums."'),),
        spice_rack=(
            'return f"In their place: {placed}. In the rack but elsewhere: {shared - placed}."',
            'return "Not that."',
        ),
    ),
    *make(
        "a quiz that repeats its question",
        "semantic.interactive",
        number_mill=(
            (
                "The whole numbers a and b are hidden: a is at least 3 and at most 19.\\n",
                "The rule uses a={self.factor} and b={self.offset}.\\n",
            ),
            ('"The rule uses', 'f"The rule uses'),
            (
                'return f"The mill makes {self._mill(number)} of {number}."',
                'return f"No. What is {self.factor} * {self.target} + {self.offset} modulo {self.modulus}?"',
            ),
            ('return ["feed 0", "feed 1", f"answer', 'return [f"answer'),
        ),
        postal_round=(
            (
                "        name = action.strip().capitalize()\n",
                "        order = action.split()\n        if order == list(self.route):\n            self.done = True\n"
                "            return 'Right.', 1.0, True, False, {}\n        late = self.turn >= self.max_turns\n"
                "        self.done = late\n"
                '        return f\'No. The farms are {" ".join(self.farms)}. What is the shortest '
                "round?', 0.0, False, late, {}\n"
                "        name = action.strip().capitalize()\n",
            ),
            ("return list(self.route)", 'return [" ".join(self.route)]'),
        ),
    ),
    *make(
        "a quiz with padding",
        "semantic.interactive",
        spice_rack=(
            ('return f"In their place: {placed}. In the rack but elsewhere: {shared - placed}."', 'return "Not that."'),
            (
                'return [" ".join(self.rack)]',
                'return ["dill dill dill dill", "mace mace mace mace", " ".join(self.rack)]',
            ),
        ),
        dial_lock=(
            ('return self._feedback(guess) + f" Tries', 'return f"No. Tries'),
            ('return [" ".join', 'return ["0 0 0", "1 1 1", " ".join'),
        ),
    ),
]
