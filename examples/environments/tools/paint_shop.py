class PaintShopEnv(ToolEnv):
    """Mix paints with tools that look alike: choose whether to add, to stretch or to pour."""

    intro = "You mix paints in numbered cans. Several tools look alike; each does one thing to a can, in whole litres."
    tools = [
        {
            "name": "show_can",
            "description": "Show how many litres of each pigment a can holds.",
            "parameters": {"type": "object", "properties": {"can": {"type": "integer"}}, "required": ["can"]},
        },
        {
            "name": "add_pigment",
            "description": "Add litres of one pigment to a can.",
            "parameters": {
                "type": "object",
                "properties": {
                    "can": {"type": "integer"},
                    "pigment": {"type": "string"},
                    "litres": {"type": "integer"},
                },
                "required": ["can", "pigment", "litres"],
            },
        },
        {
            "name": "multiply",
            "description": "Stretch a can: multiply the litres of everything in it.",
            "parameters": {
                "type": "object",
                "properties": {"can": {"type": "integer"}, "factor": {"type": "integer"}},
                "required": ["can", "factor"],
            },
        },
        {
            "name": "pour_into",
            "description": "Pour all of one can into another; the first is empty afterwards.",
            "parameters": {
                "type": "object",
                "properties": {"source": {"type": "integer"}, "target": {"type": "integer"}},
                "required": ["source", "target"],
            },
        },
        {
            "name": "stir",
            "description": "Stir a can.",
            "parameters": {"type": "object", "properties": {"can": {"type": "integer"}}, "required": ["can"]},
        },
    ]
    max_turns = 12

    PIGMENTS = ("red", "blue", "ochre", "white")

    def setup(self, rng):
        self.state = {"cans": {}}
        cans = rng.sample(range(10, 99), 4)
        for can in cans:
            chosen = rng.sample(self.PIGMENTS, 2)
            self.state["cans"][can] = {pigment: rng.randint(2, 7) for pigment in chosen}
        first, second, third, fourth = cans
        start = {can: dict(content) for can, content in self.state["cans"].items()}
        self.factor = rng.randint(2, 4)
        pigment = next(iter(start[first]))
        other = next(p for p in self.PIGMENTS if p not in start[second])
        self.wanted = sum(start[second].values())
        self.plan = [
            self.call("show_can", can=first),
            self.call("multiply", can=first, factor=self.factor),
            self.call("show_can", can=second),
            self.call("add_pigment", can=second, pigment=other, litres=self.wanted),
            self.call("show_can", can=fourth),
            self.call("pour_into", source=third, target=fourth),
        ]
        grown = {p: litres * self.factor for p, litres in start[first].items()}
        joined = {p: start[third].get(p, 0) + start[fourth].get(p, 0) for p in {**start[third], **start[fourth]}}
        added = {**start[second], other: self.wanted}
        self.request(
            f"Can {first}: the same tone, but {grown[pigment]} litres of {pigment} in it.",
            lambda state: state["cans"][first] == grown,
        )
        self.request(
            f"Can {second}: as much {other} as everything else in it together.",
            lambda state: state["cans"][second] == added,
        )
        self.request(
            f"Empty can {third} without losing a drop: its paint goes into can {fourth}.",
            lambda state: state["cans"][third] == {} and state["cans"][fourth] == joined,
        )

    def solution(self):
        return [*self.plan, "done"]

    def tool_show_can(self, can):
        content = self._can(can)
        return ", ".join(f"{litres} l {pigment}" for pigment, litres in content.items()) or "empty"

    def tool_add_pigment(self, can, pigment, litres):
        content = self._can(can)
        if pigment not in self.PIGMENTS or not 1 <= litres <= 99:
            raise self.Refused(f"pigments are {', '.join(self.PIGMENTS)}, 1 to 99 litres")
        content[pigment] = content.get(pigment, 0) + litres
        return self.tool_show_can(can)

    def tool_multiply(self, can, factor):
        content = self._can(can)
        if not 2 <= factor <= 9:
            raise self.Refused("the factor must be 2 to 9")
        for pigment in content:
            content[pigment] = min(content[pigment] * factor, 9999)
        return self.tool_show_can(can)

    def tool_pour_into(self, source, target):
        if source == target:
            raise self.Refused("name two cans")
        content, into = self._can(source), self._can(target)
        for pigment, litres in content.items():
            into[pigment] = into.get(pigment, 0) + litres
        self.state["cans"][source] = {}
        return self.tool_show_can(target)

    def tool_stir(self, can):
        self._can(can)
        return "stirred"

    def _can(self, can):
        if can not in self.state["cans"]:
            raise self.Refused(f"the cans are {', '.join(map(str, self.state['cans']))}")
        return self.state["cans"][can]
