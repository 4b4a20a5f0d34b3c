"""Which modules a program may import. One list: the form gates check the text against it, the sandbox enforces it.

Left out on purpose: whatever reads a clock, a file, the network, the system or an entropy source (`time`, `os`, `sys`,
`io`, `secrets`, `uuid`, `socket`, ...), starts threads or processes, or builds code (`importlib`, `inspect`, `ast`).
`datetime` and `calendar` are in because the sandbox gives them a clock that moves only when it is read and starts at
the same moment in every game, so replays match.
"""

ALLOWED_IMPORTS: frozenset[str] = frozenset(
    {
        "__future__",
        "abc",
        "array",
        "base64",
        "binascii",
        "bisect",
        "calendar",
        "cmath",
        "collections",
        "contextlib",
        "copy",
        "dataclasses",
        "datetime",
        "decimal",
        "difflib",
        "enum",
        "fractions",
        "functools",
        "graphlib",
        "hashlib",
        "heapq",
        "itertools",
        "json",
        "keyword",
        "math",
        "math_verify",
        "numbers",
        "operator",
        "pprint",
        "queue",
        "random",
        "re",
        "statistics",
        "string",
        "struct",
        "textwrap",
        "types",
        "typing",
        "unicodedata",
        "zlib",
    }
)
"""Top-level names; submodules of an allowed package (`collections.abc`) are allowed with it."""


def is_allowed_import(module: str) -> bool:
    """Whether a program may import `module` (a dotted, absolute name)."""
    return module.partition(".")[0] in ALLOWED_IMPORTS
