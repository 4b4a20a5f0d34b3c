"""What goes wrong in tool-use environments."""

from tests.defects.making import make

SETUP = "    def setup(self, rng):\n"

OF_TOOLS = [
    *make(
        "decides itself what is paid",
        "form.contract",
        order_desk=(SETUP, "    def step(self, action):\n        return 'ok', 1.0, True, False, {}\n\n" + SETUP),
        boiler_room=(SETUP, "    def holds(self):\n        return True\n\n" + SETUP),
    ),
    *make(
        "no setup",
        "form.contract",
        order_desk=("def setup(self, rng)", "def prepare(self, rng)"),
        paint_shop=("def setup(self, rng)", "def setup(self)"),
    ),
    *make(
        "one request",
        "runtime.startup",
        grant_office=(
            "for person in self.people:\n            right",
            "for person in self.people[:1]:\n            right",
        ),
        boiler_room=("in (self.valved, self.permitted, self.both):", "in (self.valved,):"),
    ),
    *make(
        "parameter names that differ",
        "semantic.schema_matches",
        order_desk=("def tool_check_stock(self, item):", "def tool_check_stock(self, name, item='lamp'):"),
        grant_office=(
            ("def tool_open_file(self, applicant):", "def tool_open_file(self, who):"),
            ("applicant.strip()", "who.strip()"),
            ("called {applicant[:30]!r}", "called {who[:30]!r}"),
        ),
    ),
    *make(
        "a tool without a method",
        "semantic.schema_matches",
        order_desk=("def tool_get_order", "def get_order"),
        boiler_room=('"name": "ring_bell"', '"name": "ring"'),
    ),
    *make(
        "a required parameter that is not declared so",
        "semantic.schema_matches",
        boiler_room=('def tool_start(self, machine, permit=""):', "def tool_start(self, machine, permit):"),
        paint_shop=('"required": ["source", "target"],', '"required": ["source"],'),
    ),
    *make(
        "criterion true at reset",
        "semantic.criteria_false_at_reset",
        order_desk=('["status"] == "cancelled",', '["status"] in ("cancelled", "open"),'),
        paint_shop=('lambda state: state["cans"][second] == added,', 'lambda state: len(state["cans"]) == 4,'),
        grant_office=('state["decisions"].get(who) == decision', "state[\"decisions\"].get(who) != 'unknown'"),
    ),
    *make(
        "criterion that no tool can reach",
        "semantic.criteria_reachable",
        order_desk=('["status"] == "cancelled",', '["status"] == "refunded",'),
        boiler_room=(
            'm in state["running"]',
            "m in state[\"stopped_for_good\"] if 'stopped_for_good' in state else False",
        ),
        grant_office=('state["decisions"].get(who) == decision', 'state["decisions"].get(who) == decision.upper()'),
    ),
    *make(
        "a text compared with a number",
        "semantic.criteria_reachable",
        order_desk=('["quantity"] == self.most', '["quantity"] == str(self.most)'),
        bird_archive=('state["answers"].get(n) == a', 'state["answers"].get(str(n)) == a'),
    ),
    *make(
        "a tool that can never succeed",
        "semantic.criteria_reachable",
        order_desk=(
            '        order["status"] = "cancelled"\n',
            '        if order["status"] != "cancelled":\n            raise self.Refused("not today")\n',
        ),
        rail_counter=("if seat not in seats:", "if seat in seats or seat not in seats:"),
        grant_office=('if not content["checked"]:', 'if not content["checked"] or content["documents"]:'),
    ),
    *make(
        "a value that nobody reveals",
        "semantic.criteria_reachable",
        order_desk=("f\"{order_id}: {order['item']}, {order['status']}\"", "f\"{order['item']}, {order['status']}\""),
        boiler_room=('return f"permit {self.permits[machine]}"', 'return "the permit is granted"'),
        grant_office=('return f"file {self.numbers[person]}"', 'return "a file is open"'),
    ),
    *make(
        "a distractor that pays",
        "semantic.distractors_do_not_pay",
        order_desk=(
            '        return ", ".join(self.ITEMS)\n',
            '        self.state["orders"][self.first]["status"] = "cancelled"\n        return ", ".join(self.ITEMS)\n',
        ),
        boiler_room=(
            '        return "the bell rings"\n',
            '        self.state["running"] = list(self.MACHINES)\n        return "ding"\n',
        ),
    ),
    *make(
        "the introduction prints what must be looked up",
        "semantic.no_solution_leakage",
        order_desk=(
            "        self.names = names\n",
            "        self.names = names\n        self.intro = f\"Orders: {self.state['orders']}\"\n",
        ),
        boiler_room=(
            "        self.set_to = {}\n",
            '        self.set_to = {}\n        self.intro = f"Permits: {self.permits}"\n',
        ),
        rail_counter=(
            "        self.plan = []\n",
            '        self.plan = []\n        self.intro = f"Codes: {self.codes}, trains {self.trains}"\n',
        ),
    ),
    *make(
        "everything can be declined",
        "semantic.canary_floor",
        boiler_room=(
            ('lambda state, m=machine: m in state["running"]', "None"),
            (
                '        return [\n            self.call("start", machine=self.valved),\n',
                '        return [\n            "decline", "decline", "decline", "done"]\n        return [\n',
            ),
        ),
        grant_office=(
            ('lambda state, who=person, decision=right: state["decisions"].get(who) == decision', "None"),
            (
                '        actions = [self.call("years_bar")]\n',
                '        return ["decline", "decline", "decline", "done"]\n        actions = []\n',
            ),
        ),
    ),
    *make(
        "a tool that crashes on odd values",
        "runtime.robust",
        order_desk=(
            '        order = self._open_or_any(order_id)\n        return f"',
            '        order = self.state["orders"][order_id]\n        return f"',
        ),
        paint_shop=('        if can not in self.state["cans"]:\n', "        if can < 0:\n"),
        bird_archive=("        if not 1 <= len(ids) <= 4:\n", "        if len(ids[0]) > 9 or len(ids) > 4:\n"),
    ),
    *make(
        "a tool that keeps its state",
        "runtime.episode_isolation",
        boiler_room=("        self.set_to = {}\n", "        self.set_to = getattr(self, 'set_to', {})\n"),
        grant_office=(
            'return f"file {self.numbers[person]}"',
            "self.opened = getattr(self, 'opened', 0) + 1\n"
            '        return f"file {self.numbers[person]}, number {self.opened} today"',
        ),
    ),
    *make(
        "an office that ignores the seed",
        "runtime.seed_control",
        order_desk=(SETUP, SETUP + "        import random\n\n        rng = random.Random(3)\n"),
        paint_shop=(SETUP, SETUP + "        import random\n\n        rng = random.Random(3)\n"),
    ),
    *make(
        "too few turns for the tools",
        "semantic.oracle_max",
        order_desk=("max_turns = 14", "max_turns = 5"),
        rail_counter=("max_turns = 20", "max_turns = 12"),
    ),
]
