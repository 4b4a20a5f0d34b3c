"""`ToolEnv`, the base class of tool-use environments; every program finds it under that name."""


class ToolEnv:
    """Filled in below."""
