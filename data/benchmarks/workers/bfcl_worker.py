"""BFCL's multi-turn categories: the package's own conversation loop, backends and checker, unmodified.

The loop is `BaseHandler.inference_multi_turn_*` of bfcl-eval; where it would call a provider it asks our side instead.
"""

import json
from functools import cache
from typing import Any
from uuid import uuid4

from bfcl_eval.constants.default_prompts import DEFAULT_SYSTEM_PROMPT_FORMAT
from bfcl_eval.constants.enums import ModelStyle
from bfcl_eval.constants.type_mappings import GORILLA_TO_OPENAPI
from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import multi_turn_checker
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_utils import is_empty_execute_response
from bfcl_eval.model_handler.base_handler import BaseHandler
from bfcl_eval.model_handler.utils import (
    convert_to_function_call,
    convert_to_tool,
    default_decode_execute_prompting,
    format_execution_results_prompting,
    formulate_system_prompt,
)
from bfcl_eval.utils import load_dataset_entry, load_ground_truth_entry
from serving import ask, serve, version_of

CATEGORIES = ("base", "miss_func", "miss_param", "long_context")
DOCS = "func_doc_fmt="
"""The part of the package's prompt format that says how functions are written down: json, python or xml."""


class Handler(BaseHandler):
    """A provider that is us: `inference_multi_turn_FC` or `inference_multi_turn_prompting` of the base class drives it.

    What it adds to the messages is what the package's handler for OpenAI's chat completions adds. `docs` is the way in
    which the package writes functions down in its system prompt; json is its default."""

    docs = "json"

    def _query_prompting(self, inference_data: dict[str, Any]) -> tuple[Any, float]:
        return ask({"messages": inference_data["message"]}), 0.0

    def _query_FC(self, inference_data: dict[str, Any]) -> tuple[Any, float]:
        return ask({"messages": inference_data["message"], "tools": inference_data["tools"]}), 0.0

    def decode_execute(self, result: Any, has_tool_call_tag: bool) -> Any:
        return convert_to_function_call(result) if self.is_fc_model else default_decode_execute_prompting(result)

    def _pre_query_processing_prompting(self, test_entry: dict[str, Any]) -> dict[str, Any]:
        form = DEFAULT_SYSTEM_PROMPT_FORMAT.replace(f"{DOCS}json", f"{DOCS}{self.docs}")
        system = {"role": "system", "content": formulate_system_prompt(form, test_entry["function"])}
        test_entry["question"][0].insert(0, system)  # no multi-turn task brings a system message of its own
        return {"message": []}

    def _pre_query_processing_FC(self, inference_data: dict[str, Any], test_entry: dict[str, Any]) -> dict[str, Any]:
        inference_data["message"] = []
        return inference_data

    def _compile_tools(self, inference_data: dict[str, Any], test_entry: dict[str, Any]) -> dict[str, Any]:
        inference_data["tools"] = convert_to_tool(
            test_entry["function"], GORILLA_TO_OPENAPI, ModelStyle.OPENAI_COMPLETIONS
        )
        return inference_data

    def _parse_query_response_prompting(self, api_response: Any) -> dict[str, Any]:
        said = api_response["text"]
        message = {"role": "assistant", "content": said}
        return {"model_responses": said, "message": message, "input_token": 0, "output_token": 0}

    def _parse_query_response_FC(self, api_response: Any) -> dict[str, Any]:
        calls = api_response["calls"]
        made = [{call["name"]: call["arguments"]} for call in calls]
        message: dict[str, Any] = {"role": "assistant", "content": api_response["text"]}
        if calls:
            message["tool_calls"] = [
                {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": c["arguments"]}}
                for c in calls
            ]
        return {
            "model_responses": made or api_response["text"],
            "message": message,
            "tool_call_ids": [call["id"] for call in calls],
            "input_token": 0,
            "output_token": 0,
        }

    def add_first_turn_message_prompting(self, inference_data: dict[str, Any], messages: Any) -> dict[str, Any]:
        inference_data["message"].extend(messages)
        return inference_data

    add_first_turn_message_FC = add_first_turn_message_prompting
    _add_next_turn_user_message_prompting = add_first_turn_message_prompting
    _add_next_turn_user_message_FC = add_first_turn_message_prompting

    def _add_assistant_message_prompting(self, inference_data: dict[str, Any], said: Any) -> dict[str, Any]:
        inference_data["message"].append(said["message"])
        return inference_data

    _add_assistant_message_FC = _add_assistant_message_prompting

    def _add_execution_results_prompting(
        self, inference_data: dict[str, Any], execution_results: list[str], said: Any
    ) -> dict[str, Any]:
        text = format_execution_results_prompting(inference_data, execution_results, said)
        inference_data["message"].append({"role": "user", "content": text})
        return inference_data

    def _add_execution_results_FC(
        self, inference_data: dict[str, Any], execution_results: list[str], said: Any
    ) -> dict[str, Any]:
        for result, call_id in zip(execution_results, said["tool_call_ids"], strict=False):
            inference_data["message"].append({"role": "tool", "content": result, "tool_call_id": call_id})
        return inference_data


@cache
def entries(category: str) -> dict[str, tuple[str, str]]:
    """Task and ground truth as JSON texts by id; a task is read anew for each use, since the package writes into it."""
    tasks = load_dataset_entry(f"multi_turn_{category}")
    truths = {entry["id"]: entry["ground_truth"] for entry in load_ground_truth_entry(f"multi_turn_{category}")}
    return {entry["id"]: (json.dumps(entry), json.dumps(truths[entry["id"]])) for entry in tasks}


def hello() -> dict[str, Any]:
    """The version; by category each task's id with the names of its tools' classes, which its prompt begins with."""
    tasks = {
        category: {
            name: " ".join(json.loads(task)["involved_classes"]) for name, (task, _) in entries(category).items()
        }
        for category in CATEGORIES
    }
    return {"version": version_of("bfcl-eval"), "tasks": tasks}


def text(category: str, task_id: str) -> str:
    """What the user says over all turns."""
    task = json.loads(entries(category)[task_id][0])
    return "\n".join(message["content"] for turn in task["question"] for message in turn)


def attempt(category: str, task_id: str, calling: bool, docs: str) -> dict[str, Any]:
    """Hold the conversation with whoever answers `ask`, then check it."""
    task = json.loads(entries(category)[task_id][0])
    handler = Handler("spade", 0.0, f"spade_{uuid4().hex}", is_fc_model=calling)
    handler.docs = docs
    result, _ = handler.inference(task, include_input_log=False, exclude_state_log=True)
    return check(category, task_id, result, calling)


def check(category: str, task_id: str, result: Any, calling: bool) -> dict[str, Any]:
    """The checker's verdict on the replies of each turn, decoded as the package's runner decodes them."""
    task, truth = (json.loads(each) for each in entries(category)[task_id])
    forget()
    if len(result) != len(truth):
        return {"valid": False, "why": "multi_turn:force_terminated", "calls": []}
    decoded = [[each for each in (decode(reply, calling) for reply in turn) if each is not None] for turn in result]
    said = multi_turn_checker(decoded, truth, task, f"multi_turn_{category}", "spade")
    forget()
    return {"valid": bool(said["valid"]), "why": str(said.get("error_type", "")), "calls": decoded}


def decode(reply: Any, calling: bool) -> list[str] | None:
    """Calls as the backend runs them; None for a reply that holds none."""
    try:
        made = convert_to_function_call(reply) if calling else default_decode_execute_prompting(reply)
    except Exception:  # noqa: BLE001 - as in the package: a reply that cannot be read is talk, not a call
        return None
    return None if is_empty_execute_response(made) else made


def forget() -> None:
    """Drop the backends of finished conversations: the package keeps them as globals, by model and task."""
    for name in [n for n in vars(multi_turn_utils) if n.endswith("_instance")]:
        delattr(multi_turn_utils, name)


if __name__ == "__main__":
    serve({"hello": hello, "text": text, "attempt": attempt, "check": check})
