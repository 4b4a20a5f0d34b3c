import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade.parsing import MAX_REPLY, describe, parse_program

PROGRAM = "class AEnv:\n    pass\n"
OTHER = "class BEnv:\n    pass\n"


def fenced(code: str, info: str = "python", marks: str = "```") -> str:
    return f"{marks}{info}\n{code}{marks}\n"


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (fenced(PROGRAM), PROGRAM),
        ("Here it is:\n\n" + fenced(PROGRAM) + "\nEnjoy.", PROGRAM),
        (fenced(PROGRAM, "Python3"), PROGRAM),
        (fenced(PROGRAM, "py"), PROGRAM),
        (fenced(PROGRAM, ""), PROGRAM),
        (fenced(PROGRAM, marks="~~~"), PROGRAM),
        (fenced(PROGRAM, marks="````"), PROGRAM),
        (fenced(OTHER) + "Better:\n" + fenced(PROGRAM), PROGRAM),
        (fenced(PROGRAM) + "Used like this:\n" + fenced("env = AEnv()\n"), PROGRAM),
        (fenced(PROGRAM) + "Run it:\n" + fenced("python game.py\n", "bash"), PROGRAM),
        (fenced(PROGRAM) + "And then I\n```python\nclass BEnv:\n    def", PROGRAM),
        (f"<think>{fenced(OTHER)}</think>{fenced(PROGRAM)}", PROGRAM),
        (f"thoughts {fenced(OTHER)}</think>{fenced(PROGRAM)}", PROGRAM),
        (fenced(PROGRAM).replace("\n", "\r\n"), PROGRAM),
        ("  ```python\n  class AEnv:\n      pass\n  ```", PROGRAM),
        (fenced('class AEnv:\n    text = """\n```\nx\n```\n"""\n'), 'class AEnv:\n    text = """\n```\nx\n```\n"""\n'),
    ],
)
def test_the_last_complete_block_that_defines_an_environment_counts(reply: str, code: str) -> None:
    parsed = parse_program(reply)

    assert (parsed.code, parsed.repairs, parsed.reason) == (code, (), "")


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("", "empty"),
        (f"<think>{fenced(PROGRAM)}</think>", "empty"),
        ("I cannot do that.", "no fenced Python block"),
        (PROGRAM, "no fenced Python block"),
        ("```python\n" + PROGRAM, "never closed"),
        (fenced("x = 1\n"), "no class whose name ends in Env"),
        (fenced("class AEnv:\n  def f(:\n"), "does not parse"),
        (fenced(PROGRAM, "javascript") + "x", "Python block"),
        ("x" * (MAX_REPLY + 1), "more than"),
    ],
)
def test_a_reply_without_a_program_says_why(reply: str, words: str) -> None:
    parsed = parse_program(reply)

    assert parsed.code == ""
    assert words in parsed.reason


def test_a_block_that_does_not_parse_is_kept_for_the_repair() -> None:
    assert parse_program(fenced("class AEnv:\n  def f(:\n")).broken == "class AEnv:\n  def f(:\n"


@pytest.mark.parametrize(
    ("line", "mended"),
    [
        (r'f"say \\boxed{x} or {n}"', r'f"say \\boxed{{x}} or {n}"'),
        (r'f"say \boxed{up} now"', r'f"say \boxed{{up}} now"'),
        (r'rf"\boxed{n, n}"', r'rf"\boxed{{n, n}}"'),
        ("f'write {\"a\": 1}'", "f'write {{\"a\": 1}}'"),
        ('f"{n} of {} left"', 'f"{n} of {{}} left"'),
        ('f"a } b {n}"', 'f"a }} b {n}"'),
    ],
)
def test_braces_in_f_strings_are_mended_and_recorded(line: str, mended: str) -> None:
    parsed = parse_program(fenced(f"class AEnv:\n    def f(self, n):\n        return {line}\n"))

    assert f"        return {mended}\n" in parsed.code
    assert parsed.repairs == ("f-string braces doubled in line 3",)


@pytest.mark.parametrize(
    "line",
    [
        r'f"say \\boxed{{{n}}} or {{x}}"',
        r'"say \\boxed{x}"',
        "f'{n!r:>3} {n:{n}} {n=}'",
        '"a } b"',
        "f'{\"abc\":<10}'",
        'f"{n if n else 0}"  # \\boxed{x}',
    ],
)
def test_what_is_right_stays_as_it_is(line: str) -> None:
    code = f"class AEnv:\n    def f(self, n):\n        return {line}\n"

    assert parse_program(fenced(code)).code == code


def test_a_program_tells_its_title_and_mechanic() -> None:
    assert describe('class DialLockEnv:\n    """Open a lock.\n\n    More."""\n') == ("Dial Lock", "Open a lock.")
    assert describe("class (") == ("", "")


@given(st.text(alphabet="`~python\n class AEnv:{}f\"'<think>/\\boxed", max_size=200))
def test_no_reply_breaks_the_parser(reply: str) -> None:
    parsed = parse_program(reply)

    assert bool(parsed.code) != bool(parsed.reason)


@given(st.text(max_size=300))
def test_no_text_inside_a_fence_breaks_the_parser(body: str) -> None:
    parsed = parse_program(fenced(f'class AEnv:\n    text = f"""{body}"""\n'))

    assert bool(parsed.code) != bool(parsed.reason)
