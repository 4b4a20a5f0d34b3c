class BoilerRoomEnv(ToolEnv):
    """Bring machines back into service although their tools refuse at first, each with a reason."""

    intro = "You run a boiler room. When a tool refuses, its reason says what has to be done first."
    tools = [
        {
            "name": "start",
            "description": "Start a machine.",
            "parameters": {
                "type": "object",
                "properties": {"machine": {"type": "string"}, "permit": {"type": "string"}},
                "required": ["machine"],
            },
        },
        {
            "name": "set_valve",
            "description": "Turn a numbered valve to a position from 0 to 9.",
            "parameters": {
                "type": "object",
                "properties": {"valve": {"type": "integer"}, "position": {"type": "integer"}},
                "required": ["valve", "position"],
            },
        },
        {
            "name": "request_permit",
            "description": "Ask for a permit for a machine; its reason must name the fault that the machine reports.",
            "parameters": {
                "type": "object",
                "properties": {"machine": {"type": "string"}, "fault": {"type": "string"}},
                "required": ["machine", "fault"],
            },
        },
        {
            "name": "inspect",
            "description": "Read what a machine reports.",
            "parameters": {"type": "object", "properties": {"machine": {"type": "string"}}, "required": ["machine"]},
        },
        {
            "name": "ring_bell",
            "description": "Ring the bell for the break.",
            "parameters": {"type": "object", "properties": {}, "required": []},
        },
    ]
    max_turns = 16

    MACHINES = ("pump", "fan", "boiler", "crane")
    FAULTS = ("overheated", "jammed", "leaking", "unbalanced")

    def setup(self, rng):
        machines = list(self.MACHINES)
        rng.shuffle(machines)
        self.valved, self.permitted, self.both = machines[:3]
        self.valves = {machine: (rng.randint(1, 20), rng.randint(1, 9)) for machine in self.MACHINES}
        self.faults = {machine: rng.choice(self.FAULTS) for machine in self.MACHINES}
        self.permits = {machine: f"P{rng.randint(1000, 9999)}" for machine in self.MACHINES}
        self.set_to = {}
        self.state = {"running": []}
        for machine in (self.valved, self.permitted, self.both):
            self.request(f"Start the {machine}.", lambda state, m=machine: m in state["running"])

    def solution(self):
        return [
            self.call("start", machine=self.valved),
            self._valve(self.valved),
            self.call("start", machine=self.valved),
            self.call("inspect", machine=self.permitted),
            self._permit(self.permitted),
            self.call("start", machine=self.permitted, permit=self.permits[self.permitted]),
            self.call("start", machine=self.both),
            self._valve(self.both),
            self.call("inspect", machine=self.both),
            self._permit(self.both),
            self.call("start", machine=self.both, permit=self.permits[self.both]),
            "done",
        ]

    def tool_start(self, machine, permit=""):
        self._known(machine)
        valve, position = self.valves[machine]
        if machine != self.permitted and self.set_to.get(valve) != position:
            raise self.Refused(f"valve {valve} must stand at {position}")
        if machine != self.valved and permit != self.permits[machine]:
            raise self.Refused("a permit is needed; ask for one with the fault that the machine reports")
        if machine not in self.state["running"]:
            self.state["running"].append(machine)
        return f"the {machine} runs"

    def tool_set_valve(self, valve, position):
        if not 1 <= valve <= 20 or not 0 <= position <= 9:
            raise self.Refused("valves are numbered 1 to 20, positions 0 to 9")
        self.set_to[valve] = position
        return f"valve {valve} stands at {position}"

    def tool_request_permit(self, machine, fault):
        self._known(machine)
        if fault.strip().lower() != self.faults[machine]:
            raise self.Refused("that is not what the machine reports; inspect it")
        return f"permit {self.permits[machine]}"

    def tool_inspect(self, machine):
        self._known(machine)
        return f"the {machine} reports: {self.faults[machine]}"

    def tool_ring_bell(self):
        return "the bell rings"

    def _known(self, machine):
        if machine not in self.MACHINES:
            raise self.Refused(f"the machines are {', '.join(self.MACHINES)}")

    def _valve(self, machine):
        valve, position = self.valves[machine]
        return self.call("set_valve", valve=valve, position=position)

    def _permit(self, machine):
        return self.call("request_permit", machine=machine, fault=self.faults[machine])
