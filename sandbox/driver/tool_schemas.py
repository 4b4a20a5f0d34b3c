"""Declarations of tools in OpenAI's function-calling form: do they match the methods, does a call match them?"""

import inspect
import json
from typing import Any

MIN_TOOLS, MAX_TOOLS = 3, 8
TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class ContractError(ValueError):
    """The environment is not what `ToolEnv` asks for; the text is for who wrote it."""


def declared(tools: Any) -> dict[str, dict[str, Any]]:
    """The schemas by name, each as `{"type": "function", "function": {...}}`. Accepts the inner object alone, too."""
    if not isinstance(tools, list) or not MIN_TOOLS <= len(tools) <= MAX_TOOLS:
        raise ContractError(f"tools must be a list of {MIN_TOOLS} to {MAX_TOOLS} declarations")
    schemas: dict[str, dict[str, Any]] = {}
    for tool in tools:
        function = tool.get("function", tool) if isinstance(tool, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise ContractError("a declaration is an object with name, description and parameters")
        schemas[function["name"]] = {"type": "function", "function": function}
    if len(schemas) != len(tools):
        raise ContractError("two tools have the same name")
    return schemas


def check_tools(environment: Any, schemas: dict[str, dict[str, Any]]) -> None:
    """Every declared tool has its method, every method its declaration, and their parameters agree."""
    methods = {
        name[5:] for name in dir(environment) if name.startswith("tool_") and callable(getattr(environment, name))
    }
    if methods != set(schemas):
        odd = ", ".join(sorted(methods ^ set(schemas)))
        raise ContractError(f"declared tools and tool_ methods differ: {odd}")
    for name, schema in schemas.items():
        json.dumps(schema)
        parameters = parameters_of(schema)
        inside = inspect.signature(getattr(environment, f"tool_{name}")).parameters
        if {p for p in inside if inside[p].kind in BY_NAME} != set(inside) or set(inside) != set(
            parameters["properties"]
        ):
            raise ContractError(
                f"tool_{name} takes ({', '.join(inside)}); its schema declares ({', '.join(parameters['properties'])})"
            )
        needed = {p for p, parameter in inside.items() if parameter.default is inspect.Parameter.empty}
        if needed != set(parameters["required"]):
            raise ContractError(f"tool_{name} requires ({', '.join(sorted(needed))}); its schema says otherwise")


def parameters_of(schema: dict[str, Any]) -> dict[str, Any]:
    """The declared parameters, with both keys there."""
    given = schema["function"].get("parameters") or {}
    properties, required = given.get("properties", {}), given.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        raise ContractError(f"the parameters of {schema['function']['name']} are not a JSON schema of an object")
    return {"properties": properties, "required": required}


def wrong_argument(schema: dict[str, Any], arguments: Any) -> str:
    """What is wrong with a call's arguments, in words for the agent; empty when nothing is."""
    if not isinstance(arguments, dict):
        return "arguments must be an object"
    parameters = parameters_of(schema)
    known = parameters["properties"]
    for name in parameters["required"]:
        if name not in arguments:
            return f"argument {name!r} is missing"
    for name, value in arguments.items():
        if name not in known:
            return f"there is no argument {name!r}; it takes {', '.join(known) or 'none'}"
        problem = wrong_value(known[name], value)
        if problem:
            return f"argument {name!r} {problem}"
    return ""


def wrong_value(schema: Any, value: Any) -> str:
    if not isinstance(schema, dict):
        return ""
    wanted = schema.get("type")
    names = [wanted] if isinstance(wanted, str) else list(wanted or [])
    allowed = tuple(kind for name in names for kind in TYPES.get(name, ()))
    boolean_as_number = isinstance(value, bool) and bool not in allowed
    if allowed and (boolean_as_number or not isinstance(value, allowed)):
        return f"must be of type {' or '.join(names)}, not {json.dumps(value, ensure_ascii=False)[:80]}"
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        return f"must be one of {json.dumps(choices, ensure_ascii=False)[:200]}"
    return ""
