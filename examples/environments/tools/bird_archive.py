class BirdArchiveEnv(ToolEnv):
    """Answer questions from an archive of bird sightings that can only be searched page by page and by one field."""

    intro = "You answer questions from an archive of bird sightings. File each answer under the number of its question."
    tools = [
        {
            "name": "search",
            "description": "Find record ids by one field: species, place or month.",
            "parameters": {
                "type": "object",
                "properties": {
                    "field": {"type": "string", "enum": ["species", "place", "month"]},
                    "value": {"type": "string"},
                },
                "required": ["field", "value"],
            },
        },
        {
            "name": "read",
            "description": "Read up to four records.",
            "parameters": {
                "type": "object",
                "properties": {"ids": {"type": "array", "items": {"type": "string"}}},
                "required": ["ids"],
            },
        },
        {
            "name": "file_answer",
            "description": "File the answer to a question; a later one replaces it.",
            "parameters": {
                "type": "object",
                "properties": {"question": {"type": "integer"}, "answer": {"type": "string"}},
                "required": ["question", "answer"],
            },
        },
        {
            "name": "count_records",
            "description": "Say how many records the archive has in all.",
            "parameters": {"type": "object", "properties": {}, "required": []},
        },
    ]
    max_turns = 16

    SPECIES = ("avocet", "bittern", "curlew", "dunlin", "egret")
    PLACES = ("marsh", "harbour", "quarry", "meadow")
    MONTHS = ("march", "april", "may", "june")

    def setup(self, rng):
        numbers = rng.sample(range(100, 999), 14)
        self.records = {
            f"S{number}": {
                "species": rng.choice(self.SPECIES),
                "place": rng.choice(self.PLACES),
                "month": rng.choice(self.MONTHS),
                "birds": rng.randint(2, 60),
            }
            for number in numbers
        }
        self.state = {"answers": {}}
        self.steps = []
        fields = rng.sample(["species", "place", "month"], 3)
        for number, field in enumerate(fields, 1):
            values = sorted({record[field] for record in self.records.values()})
            value = rng.choice(values)
            ids = [i for i, record in self.records.items() if record[field] == value]
            if number == 2:
                answer = str(sum(self.records[i]["birds"] for i in ids))
                question = f"how many birds were seen in all under {field} {value}"
            else:
                best = max(ids, key=lambda i: (self.records[i]["birds"], i))
                answer = best
                question = f"which record has the most birds under {field} {value} (of equals the last id)"
            self.steps.append((number, field, value, ids, answer))
            self.request(
                f"Question {number}: {question}?",
                lambda state, n=number, a=answer: state["answers"].get(n) == a,
            )

    def solution(self):
        actions = []
        for number, field, value, ids, answer in self.steps:
            actions.append(self.call("search", field=field, value=value))
            reads = [{"name": "read", "arguments": {"ids": ids[at : at + 4]}} for at in range(0, len(ids), 4)]
            actions.append(str(reads).replace("'", '"'))
            actions.append(self.call("file_answer", question=number, answer=answer))
        return [*actions, "done"]

    def tool_search(self, field, value):
        found = [i for i, record in self.records.items() if record[field] == value.strip().lower()]
        return ", ".join(found) or "nothing found"

    def tool_read(self, ids):
        if not 1 <= len(ids) <= 4:
            raise self.Refused("give one to four ids")
        lines = []
        for record_id in ids:
            record = self.records.get(record_id) if isinstance(record_id, str) else None
            if record is None:
                raise self.Refused(f"no record {str(record_id)[:20]!r}")
            lines.append(f"{record_id}: {record['birds']} {record['species']}, {record['place']}, {record['month']}")
        return "; ".join(lines)

    def tool_file_answer(self, question, answer):
        if question not in (1, 2, 3):
            raise self.Refused("there are questions 1 to 3")
        self.state["answers"][question] = answer.strip()
        return f"filed under {question}"

    def tool_count_records(self):
        return str(len(self.records))
