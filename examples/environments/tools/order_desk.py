class OrderDeskEnv(ToolEnv):
    """Run the order desk of a small shop: find orders by customer, check the stock, change what was asked for."""

    intro = "You run the order desk of a small shop. Look things up before you change them."
    tools = [
        {
            "name": "find_orders",
            "description": "List the orders of a customer.",
            "parameters": {
                "type": "object",
                "properties": {"customer": {"type": "string", "description": "Full name."}},
                "required": ["customer"],
            },
        },
        {
            "name": "get_order",
            "description": "Show an order: item, quantity, status and address.",
            "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]},
        },
        {
            "name": "check_stock",
            "description": "Say how many pieces of an item are in stock.",
            "parameters": {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]},
        },
        {
            "name": "change_quantity",
            "description": "Set the quantity of an open order; it cannot exceed the stock.",
            "parameters": {
                "type": "object",
                "properties": {"order_id": {"type": "string"}, "quantity": {"type": "integer"}},
                "required": ["order_id", "quantity"],
            },
        },
        {
            "name": "cancel_order",
            "description": "Cancel an open order.",
            "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]},
        },
        {
            "name": "print_catalogue",
            "description": "Print the catalogue for a visitor. Changes nothing.",
            "parameters": {"type": "object", "properties": {}, "required": []},
        },
    ]
    max_turns = 14

    NAMES = ("Ada Brandt", "Bo Castel", "Cem Duran", "Dora Evers", "Emil Falk", "Fay Grau")
    ITEMS = ("lamp", "kettle", "stool", "clock", "basket", "mirror")

    def setup(self, rng):
        ids = rng.sample(range(1000, 9999), 6)
        names = rng.sample(self.NAMES, 3)
        items = list(self.ITEMS)
        rng.shuffle(items)
        self.state = {
            "stock": {item: rng.randint(3, 9) for item in self.ITEMS},
            "orders": {
                f"R{number}": {"customer": names[at % 3], "item": items[at], "quantity": 1, "status": "open"}
                for at, number in enumerate(ids)
            },
        }
        self.first, self.second, self.third = (f"R{number}" for number in ids[:3])
        self.item = items[1]
        self.most = self.state["stock"][self.item]
        self.request(
            f"{names[0]} no longer wants the {items[0]}. Cancel that order.",
            lambda state: state["orders"][self.first]["status"] == "cancelled",
        )
        self.request(
            f"{names[1]} wants as many pieces of the {items[1]} as there are in stock.",
            lambda state: state["orders"][self.second]["quantity"] == self.most,
        )
        self.request(f"Send {names[2]} a voucher for the long wait.", None)
        self.names = names

    def solution(self):
        return [
            self.call("find_orders", customer=self.names[0]),
            self.call("cancel_order", order_id=self.first),
            self.call("find_orders", customer=self.names[1]),
            self.call("check_stock", item=self.item),
            self.call("change_quantity", order_id=self.second, quantity=self.most),
            "decline",
            "done",
        ]

    def tool_find_orders(self, customer):
        found = [
            f"{order_id}: {order['item']}, {order['status']}"
            for order_id, order in self.state["orders"].items()
            if order["customer"].lower() == customer.strip().lower()
        ]
        if not found:
            raise self.Refused(f"no customer {customer[:40]!r}")
        return "; ".join(found)

    def tool_get_order(self, order_id):
        order = self._open_or_any(order_id)
        return f"{order['customer']}: {order['quantity']} x {order['item']}, {order['status']}"

    def tool_check_stock(self, item):
        if item.lower() not in self.state["stock"]:
            raise self.Refused(f"no item {item[:40]!r}")
        return f"{self.state['stock'][item.lower()]} pieces"

    def tool_change_quantity(self, order_id, quantity):
        order = self._open_or_any(order_id)
        if order["status"] != "open":
            raise self.Refused("the order is not open")
        if not 1 <= quantity <= self.state["stock"][order["item"]]:
            raise self.Refused("the quantity must be between 1 and the stock")
        order["quantity"] = quantity
        return f"{order_id} is now for {quantity} pieces"

    def tool_cancel_order(self, order_id):
        order = self._open_or_any(order_id)
        if order["status"] != "open":
            raise self.Refused("the order is not open")
        order["status"] = "cancelled"
        return f"{order_id} is cancelled"

    def tool_print_catalogue(self):
        return ", ".join(self.ITEMS)

    def _open_or_any(self, order_id):
        if order_id not in self.state["orders"]:
            raise self.Refused(f"no order {order_id[:20]!r}")
        return self.state["orders"][order_id]
