"""Prompts for code mode: versioned templates, rendered from records. Values are inserted, never read as template."""

import re
from functools import cache
from typing import Any

from jinja2 import Environment as Jinja
from jinja2 import PackageLoader, StrictUndefined
from jinja2.meta import find_referenced_templates

from spade.attempts import Prompt
from spade.boxes import without_thoughts
from spade.designing import Draft, Rejection
from spade.documents import Document
from spade.environments import Environment
from spade.identity import digest
from spade.lessons import Lessons
from spade.messages import Guide, Message, Role
from spade.parsing import describe, parse_program
from spade.skills import Skill
from spade.slots import Slot
from spade.verdicts import Status, Verdict

SKILL_MEANS: dict[Skill, str] = {
    Skill.MATHEMATICAL_REASONING: "finding numbers, quantities or operations from what the replies reveal.",
    Skill.LOGICAL_DEDUCTION: "narrowing down possibilities by combining what is known and what each test shows.",
    Skill.SPATIAL_REASONING: "keeping track of positions, directions and shapes while moving or arranging things.",
    Skill.PATTERN_RECOGNITION: "finding the rule behind examples by choosing the right ones to look at.",
    Skill.OPTIMIZATION: "getting the most out of limited means by weighing choices that exclude each other.",
    Skill.CAUSAL_INFERENCE: "finding what causes what by intervening and comparing outcomes.",
}


def design_prompt(slot: Slot, document: Document | None, lessons: Lessons, rejected: Rejection | None = None) -> Prompt:
    """Ask for a game. Without a document the designer is free; with `rejected` it mends or starts afresh."""
    values = {
        "skill": slot.skill.words,
        "skill_means": SKILL_MEANS.get(slot.skill, ""),
        "document": document,
        "lessons": lessons,
        "rejected": rejected,
    }
    system = Message("system", render("contract_games.j2"))
    return _prompt(Role.DESIGNER, "design_games.j2", (system,), values, ("contract_games.j2",))


def hint_prompt(
    environment: Environment, *, observation: str = "", rejected: Verdict | None = None, max_words: int = 100
) -> Prompt:
    """Ask for a hint on how to reason; `observation` is what a player sees first in one instance."""
    values = {"code": environment.code, "observation": observation, "rejected": rejected, "max_words": max_words}
    return _prompt(Role.HINT, "hint_games.j2", (), values)


class CodeDesigner:
    """Code mode for games: the model writes the program itself."""

    def __init__(self, max_hint_words: int = 100) -> None:
        self.max_hint_words = max_hint_words

    def prompt(self, slot: Slot, document: Document, lessons: Lessons, rejected: Rejection | None) -> Prompt:
        return design_prompt(slot, document, lessons, rejected)

    def guide(self, slot: Slot) -> Guide | None:
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


def agent_system() -> str:
    """The system prompt of a player, in both arms."""
    return render("agent.j2")


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
    return " ".join(text.split())


def inside(text: str, tag: str) -> str:
    """Text that cannot close the element it stands in."""
    return re.sub(rf"<(/?\s*{tag})", r"< \1", text, flags=re.IGNORECASE)


def fenced(code: str) -> str:
    """Code that cannot close the fence it stands in."""
    return re.sub(r"^(\s*)```", r"\1` ` `", code.strip(), flags=re.MULTILINE)


def attribute(text: str) -> str:
    return one_line(text).replace('"', "'").replace("<", "").replace(">", "")


def percent(share: float) -> str:
    return f"{share:.0%}"
