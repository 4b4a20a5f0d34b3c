class RailCounterEnv(ToolEnv):
    """Book trains by chaining a station register, a timetable and a seat service that know each other by codes only."""

    intro = "You serve the counter of a railway. The services know stations and trains by their codes, not by names."
    tools = [
        {
            "name": "station_code",
            "description": "Give the code of a station.",
            "parameters": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        },
        {
            "name": "list_trains",
            "description": "List trains between two station codes, with departure and price.",
            "parameters": {
                "type": "object",
                "properties": {"origin": {"type": "string"}, "destination": {"type": "string"}},
                "required": ["origin", "destination"],
            },
        },
        {
            "name": "free_seats",
            "description": "List the free seats of a train.",
            "parameters": {"type": "object", "properties": {"train": {"type": "string"}}, "required": ["train"]},
        },
        {
            "name": "book_seat",
            "description": "Book one free seat of a train.",
            "parameters": {
                "type": "object",
                "properties": {
                    "train": {"type": "string"},
                    "seat": {"type": "string"},
                    "passenger": {"type": "string"},
                },
                "required": ["train", "seat", "passenger"],
            },
        },
        {
            "name": "weather_at",
            "description": "Tell the weather at a station.",
            "parameters": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
        },
    ]
    max_turns = 20

    STATIONS = ("Alder", "Brook", "Crest", "Dale", "Eddy", "Ferry")
    PEOPLE = ("Ina Holt", "Jan Imre", "Kim Jost", "Lea Krug")

    def setup(self, rng):
        codes = rng.sample([f"{a}{b}{c}" for a in "KLM" for b in "RST" for c in "VWX"], 6)
        self.codes = dict(zip(self.STATIONS, codes))
        self.trains = {}
        pairs = rng.sample([(a, b) for a in self.STATIONS for b in self.STATIONS if a != b], 3)
        for origin, destination in pairs:
            prices = rng.sample(range(11, 60), 3)
            for price in prices:
                number = f"T{rng.randint(100, 999)}{len(self.trains)}"
                self.trains[number] = {
                    "from": self.codes[origin],
                    "to": self.codes[destination],
                    "hour": rng.randint(6, 21),
                    "price": price,
                    "seats": [f"{rng.randint(1, 9)}{letter}" for letter in "ABC"],
                }
        self.state = {"bookings": {}}
        people = rng.sample(self.PEOPLE, 3)
        self.plan = []
        for (origin, destination), person in zip(pairs, people):
            here = {n: t for n, t in self.trains.items() if (t["from"], t["to"]) == self._codes(origin, destination)}
            cheapest = min(here, key=lambda number: here[number]["price"])
            self.plan.append((origin, destination, person, cheapest))
            self.request(
                f"Book {person} any seat on the cheapest train from {origin} to {destination}.",
                lambda state, who=person, train=cheapest: state["bookings"].get(who) == train,
            )

    def solution(self):
        actions = []
        for origin, destination, person, train in self.plan:
            start, end = self._codes(origin, destination)
            actions.append(self.call("station_code", name=origin))
            actions.append(self.call("station_code", name=destination))
            actions.append(self.call("list_trains", origin=start, destination=end))
            actions.append(self.call("free_seats", train=train))
            actions.append(self.call("book_seat", train=train, seat=self.trains[train]["seats"][0], passenger=person))
        return [*actions, "done"]

    def tool_station_code(self, name):
        if name.capitalize() not in self.codes:
            raise self.Refused(f"no station {name[:30]!r}; there are {', '.join(self.STATIONS)}")
        return self.codes[name.capitalize()]

    def tool_list_trains(self, origin, destination):
        if origin not in self.codes.values() or destination not in self.codes.values():
            raise self.Refused("give two station codes")
        found = [
            f"{number} at {train['hour']}:00 for {train['price']}"
            for number, train in self.trains.items()
            if (train["from"], train["to"]) == (origin, destination)
        ]
        return "; ".join(found) or "no trains"

    def tool_free_seats(self, train):
        return ", ".join(self._train(train)["seats"]) or "none"

    def tool_book_seat(self, train, seat, passenger):
        seats = self._train(train)["seats"]
        if seat not in seats:
            raise self.Refused("that seat is not free")
        seats.remove(seat)
        self.state["bookings"][passenger.strip().title()] = train
        return f"seat {seat} in {train} is booked"

    def tool_weather_at(self, code):
        return "mild" if code in self.codes.values() else "unknown"

    def _train(self, number):
        if number not in self.trains:
            raise self.Refused(f"no train {number[:20]!r}")
        return self.trains[number]

    def _codes(self, origin, destination):
        return self.codes[origin], self.codes[destination]
