"""Worlds an environment can be set in: a word for the designer to choose, six things for the agent to handle.

All words are single, lower-case, distinct within a theme, and no feature, colour, move or button of a mechanic.
"""

THEMES: dict[str, tuple[str, ...]] = {
    "garden": ("rose", "spade", "fence", "beetle", "apple", "hose"),
    "kitchen": ("kettle", "spoon", "flour", "oven", "pepper", "bowl"),
    "harbour": ("anchor", "sail", "crane", "barrel", "rope", "gull"),
    "forest": ("oak", "fox", "mushroom", "owl", "stream", "moss"),
    "workshop": ("hammer", "nail", "saw", "bench", "gear", "drill"),
    "laboratory": ("flask", "lens", "magnet", "scale", "burner", "crystal"),
    "school": ("chalk", "globe", "ruler", "book", "bell", "desk"),
    "market": ("basket", "coin", "melon", "stall", "cloth", "fish"),
    "space": ("rocket", "comet", "moon", "probe", "planet", "star"),
    "music": ("drum", "flute", "harp", "singer", "stage", "violin"),
    "body": ("heart", "lung", "bone", "muscle", "nerve", "skin"),
    "weather": ("cloud", "storm", "frost", "rainbow", "wind", "hail"),
    "farm": ("tractor", "cow", "barn", "wheat", "goose", "plough"),
    "city": ("tram", "bridge", "tower", "square", "lamp", "taxi"),
    "sea": ("whale", "coral", "tide", "shark", "shell", "kelp"),
    "mountain": ("goat", "cabin", "glacier", "eagle", "summit", "valley"),
    "hospital": ("nurse", "bandage", "pill", "ward", "doctor", "splint"),
    "library": ("shelf", "atlas", "novel", "clerk", "map", "letter"),
    "machine": ("pump", "valve", "piston", "motor", "belt", "fan"),
    "theatre": ("mask", "curtain", "actor", "ticket", "poet", "crown"),
    "desert": ("camel", "dune", "cactus", "well", "lizard", "tent"),
    "bank": ("vault", "loan", "ledger", "cheque", "safe", "teller"),
    "castle": ("knight", "moat", "throne", "banner", "archer", "dungeon"),
    "computer": ("mouse", "screen", "cable", "chip", "folder", "printer"),
}
