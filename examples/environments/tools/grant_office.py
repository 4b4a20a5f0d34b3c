class GrantOfficeEnv(ToolEnv):
    """Carry applications through a procedure: open a file, attach documents, have it checked, decide."""

    intro = (
        "You handle grant applications. Procedure: open a file for the applicant, attach the statement and the budget, "
        "have the file checked, then decide: grant it when the check's score is at least the year's "
        "bar, else refuse it."
    )
    tools = [
        {
            "name": "open_file",
            "description": "Open a file for an applicant; gives its number.",
            "parameters": {
                "type": "object",
                "properties": {"applicant": {"type": "string"}},
                "required": ["applicant"],
            },
        },
        {
            "name": "attach",
            "description": "Attach a document to an open file.",
            "parameters": {
                "type": "object",
                "properties": {
                    "file": {"type": "string"},
                    "document": {"type": "string", "enum": ["statement", "budget"]},
                },
                "required": ["file", "document"],
            },
        },
        {
            "name": "check",
            "description": "Have a complete file checked; gives a score.",
            "parameters": {"type": "object", "properties": {"file": {"type": "string"}}, "required": ["file"]},
        },
        {
            "name": "years_bar",
            "description": "Tell the score that is needed this year.",
            "parameters": {"type": "object", "properties": {}, "required": []},
        },
        {
            "name": "decide",
            "description": "Decide on a checked file.",
            "parameters": {
                "type": "object",
                "properties": {
                    "file": {"type": "string"},
                    "decision": {"type": "string", "enum": ["granted", "refused"]},
                },
                "required": ["file", "decision"],
            },
        },
        {
            "name": "order_coffee",
            "description": "Order coffee for the committee.",
            "parameters": {"type": "object", "properties": {}, "required": []},
        },
    ]
    max_turns = 25

    PEOPLE = ("Mia Nagy", "Nils Otto", "Ola Pohl", "Pia Quast", "Rosa Stein")

    def setup(self, rng):
        self.people = rng.sample(self.PEOPLE, 3)
        self.bar = rng.randint(40, 60)
        self.scores = {person: rng.randint(20, 80) for person in self.people}
        numbers = rng.sample(range(200, 999), 3)
        self.numbers = {person: f"F{number}" for person, number in zip(self.people, numbers)}
        self.files = {}
        self.state = {"decisions": {}}
        for person in self.people:
            right = "granted" if self.scores[person] >= self.bar else "refused"
            self.request(
                f"Handle the application of {person}.",
                lambda state, who=person, decision=right: state["decisions"].get(who) == decision,
            )

    def solution(self):
        actions = [self.call("years_bar")]
        for person in self.people:
            file = self.numbers[person]
            decision = "granted" if self.scores[person] >= self.bar else "refused"
            actions.append(self.call("open_file", applicant=person))
            actions.append(self.call("attach", file=file, document="statement"))
            actions.append(self.call("attach", file=file, document="budget"))
            actions.append(self.call("check", file=file))
            actions.append(self.call("decide", file=file, decision=decision))
        return [*actions, "done"]

    def tool_open_file(self, applicant):
        person = applicant.strip().title()
        if person not in self.numbers:
            raise self.Refused(f"nobody called {applicant[:30]!r} has applied")
        self.files.setdefault(self.numbers[person], {"person": person, "documents": set(), "checked": False})
        return f"file {self.numbers[person]}"

    def tool_attach(self, file, document):
        self._file(file)["documents"].add(document)
        return f"{document} attached to {file}"

    def tool_check(self, file):
        content = self._file(file)
        missing = sorted({"statement", "budget"} - content["documents"])
        if missing:
            raise self.Refused(f"the file lacks: {', '.join(missing)}")
        content["checked"] = True
        return f"score {self.scores[content['person']]}"

    def tool_years_bar(self):
        return f"the bar is {self.bar}"

    def tool_decide(self, file, decision):
        content = self._file(file)
        if not content["checked"]:
            raise self.Refused("the file has not been checked")
        if content["person"] in self.state["decisions"]:
            raise self.Refused("this file has been decided")
        self.state["decisions"][content["person"]] = decision
        return f"{file} is {decision}"

    def tool_order_coffee(self):
        return "coffee comes"

    def _file(self, file):
        if file not in self.files:
            raise self.Refused(f"no open file {file[:20]!r}")
        return self.files[file]
