"""Prompts for code mode: versioned templates, rendered from records. Values are inserted, never read as template."""

import re
from dataclasses import replace
from functools import cache
from typing import Any

from jinja2 import Environment as Jinja
from jinja2 import PackageLoader, StrictUndefined
from jinja2.meta import find_referenced_templates

from spade.attempts import Prompt
from spade.boxes import CHAT_MARKUP, without_thoughts
from spade.designing import Brief, Draft, Rejection
from spade.documents import Document, cut_at_paragraph
from spade.environments import Environment
from spade.identity import digest
from spade.lessons import Lessons
from spade.messages import Guide, Message, Role
from spade.parsing import describe, parse_program
from spade.skills import Setting, Skill
from spade.slots import Slot
from spade.tool_slots import tool_task
from spade.verdicts import Status, Verdict

SKILL_MEANS: dict[Skill, str] = {
    Skill.MATHEMATICAL_REASONING: "finding numbers, quantities or operations from what the replies reveal.",
    Skill.LOGICAL_DEDUCTION: "narrowing down possibilities by combining what is known and what each test shows.",
    Skill.SPATIAL_REASONING: "keeping track of positions, directions and shapes while moving or arranging things.",
    Skill.PATTERN_RECOGNITION: "finding the rule behind examples by choosing the right ones to look at.",
    Skill.OPTIMIZATION: "getting the most out of limited means by weighing choices that exclude each other.",
    Skill.CAUSAL_INFERENCE: "finding what causes what by intervening and comparing outcomes.",
    Skill.API_ORCHESTRATION: "combining several tools, where the result of one call becomes an argument of the next.",
    Skill.DATA_RETRIEVAL: "finding the right record among similar ones before acting on it.",
    Skill.STATE_MODIFICATION: "making exactly the changes that are asked for, and no others.",
    Skill.ERROR_RECOVERY: "reading why a call was refused, putting right what was missing, and trying again.",
    Skill.TOOL_SELECTION: "telling tools apart that sound alike, and seeing when none of them can do what is asked.",
    Skill.MULTI_STEP_WORKFLOWS: "carrying a plan through in the right order, where each step needs the one before it.",
}


def design_prompt(
    slot: Slot, document: Document | None, lessons: Lessons, rejected: Rejection | None = None, *, plan: bool = True
) -> Prompt:
    """Ask for an environment of the slot's setting. Without a document it is free; with `rejected` it is mended.

    `plan` asks for thoughts before the program.
    """
    tools = slot.setting is Setting.TOOLS
    values = {
        "thing": "environment" if tools else "game",
        "skill": slot.skill.words,
        "skill_means": SKILL_MEANS[slot.skill],
        "document": document,
        "lessons": lessons,
        "rejected": rejected,
        "plan": plan,
        "task": tool_task(slot) if tools else None,
    }
    contract, design = f"contract_{slot.setting}.j2", f"design_{slot.setting}.j2"
    return _prompt(Role.DESIGNER, design, (Message("system", render(contract)),), values, (contract,))


def hint_prompt(environment: Environment, *, rejected: Verdict | None = None, max_words: int = 100) -> Prompt:
    """Ask for a hint on how to reason (games) or for a plan in phases (tools)."""
    values = {"code": environment.code, "rejected": rejected, "max_words": max_words}
    return _prompt(Role.HINT, f"hint_{environment.setting}.j2", (), values)


def judge_prompt(environment: Environment, document: Document | None) -> Prompt:
    """Ask for a review of what code cannot see: wording, request against criterion, grounding in the document."""
    return _prompt(Role.JUDGE, "judge.j2", (), {"code": environment.code, "document": document})


class CodeDesigner:
    """Code mode: the model writes the program itself."""

    def __init__(self, max_hint_words: int = 100, *, plan: bool = True, document_words: int | None = None) -> None:
        self.max_hint_words = max_hint_words
        self.plan = plan
        self.document_words = document_words

    def prompt(self, brief: Brief) -> Prompt:
        document = brief.document
        if document is not None and self.document_words is not None:
            document = replace(document, text=cut_at_paragraph(document.text, self.document_words))
        return design_prompt(brief.slot, document, brief.lessons, brief.rejected, plan=self.plan)

    def guide(self, brief: Brief) -> Guide | None:
        return None

    def read(self, text: str, slot: Slot) -> Draft:
        parsed = parse_program(text)
        if not parsed.code:
            return Draft(problem=Verdict("form.parse", Status.FAIL, parsed.reason), broken=parsed.broken)
        title, mechanic = describe(parsed.code)
        return Draft(Environment(parsed.code, slot.setting, slot.skill, title, mechanic), parsed.repairs)

    def hint_prompt(self, environment: Environment, design: str, rejected: Verdict | None) -> Prompt:
        return hint_prompt(environment, rejected=rejected, max_words=self.max_hint_words)

    def hint_guide(self, environment: Environment, design: str) -> Guide | None:
        return None

    def read_hint(self, text: str) -> str:
        return without_thoughts(text).strip().strip('"').removeprefix("Hint:").strip()


def agent_system(setting: Setting = Setting.GAMES) -> str:
    """The system prompt of a player, in both arms."""
    return render("agent_tools.j2" if setting is Setting.TOOLS else "agent.j2")


def render(template: str, **values: Any) -> str:
    """A packaged template with its values. Raises `jinja2.UndefinedError` when one is missing."""
    return _jinja().get_template(template).render(**values).strip()


@cache
def template_hash(*templates: str) -> str:
    """16 hex digits that name the text of these templates and of all they include."""
    names, queue = dict[str, str](), list(templates)
    while queue:
        name = queue.pop()
        if name not in names:
            names[name] = _source(name)
            queue += [found for found in find_referenced_templates(_jinja().parse(names[name])) if found]
    return digest("\0".join(f"{name}\0{text}" for name, text in sorted(names.items())))[:16]


def _prompt(
    role: Role, template: str, before: tuple[Message, ...], values: dict[str, Any], others: tuple[str, ...] = ()
) -> Prompt:
    messages = (*before, Message("user", render(template, **values)))
    return Prompt(role, messages, template.removesuffix(".j2"), template_hash(template, *others))


def _source(name: str) -> str:
    loader = _jinja().loader
    assert loader is not None
    return loader.get_source(_jinja(), name)[0]


@cache
def _jinja() -> Jinja:
    jinja = Jinja(
        loader=PackageLoader("spade", "prompts"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    jinja.filters |= {"line": one_line, "inside": inside, "fenced": fenced, "attribute": attribute, "percent": percent}
    return jinja


def one_line(text: str) -> str:
    """Text that cannot start a new paragraph of the prompt."""
    return unmarked(" ".join(text.split()))


def inside(text: str, tag: str) -> str:
    """Text that cannot close the element it stands in, nor open a fence."""
    return fenced(re.sub(rf"<(/?\s*{tag})", r"< \1", text, flags=re.IGNORECASE))


def fenced(text: str) -> str:
    """Text that cannot close the fence it stands in."""
    return unmarked(re.sub(r"^(\s*)(`{3,}|~{3,})", lambda m: m[1] + " ".join(m[2]), text.strip(), flags=re.MULTILINE))


def unmarked(text: str) -> str:
    """Text whose chat markup is no markup any more: an engine would take it for the end of this message."""
    return CHAT_MARKUP.sub(lambda m: " ".join((m[0][0], m[0][1:-1].strip("|"), m[0][-1])), text)


def attribute(text: str) -> str:
    return one_line(text).replace('"', "'").replace("<", "").replace(">", "")


def percent(share: float) -> str:
    return f"{share:.0%}"
