"""Planted secrets and personal data are found; ordinary mathematics, code and game texts are not."""

import json
from pathlib import Path
from string import ascii_letters, digits

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from data.scanning import scanned
from spade.scanning import iban, luhn, masked, scan

KEY = "a8Fk2Lq9Zx7Wm4Rt6Yb1Nc3Vd5Hg0Jp8Es2"
PLANTED = [
    ("private key", "-----BEGIN RSA PRIVATE KEY-----\nMIIE"),
    ("AWS key", "aws AKIA" + "IOSFODNN7EXAMPLE"),
    ("GitHub token", "ghp_" + KEY + "a"),
    ("OpenAI key", "sk-" + "proj-" + KEY),
    ("Hugging Face token", "hf_" + KEY),
    ("Slack token", "xoxb-" + "123456789012-abcdefGHIJ"),
    ("Google key", "AIza" + KEY[:35]),
    ("JSON web token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4"),
    ("password in an address", "postgres://admin:hunter22@db.internal:5432/x"),
    ("secret in an assignment", f'db_password = "{KEY[:16]}"'),
    ("secret in an assignment", f"{{'api_key': '{KEY[:20]}'}}"),
    ("e-mail address", "write to jane.doe@mail.acme.org today"),
    ("bank account", "pay to DE89 3704 0044 0532 0130 00 please"),
    ("payment card", "card 4111 1111 1111 1111 expires"),
    ("social security number", "SSN 078-05-1120"),
    ("telephone number", "call +49 30 901820 now"),
    ("telephone number", "call (212) 736-5000"),
]
HARMLESS = [
    "Guess a number from 1 to 100; you have 7 tries. \\boxed{50}",
    "user@example.com and admin@localhost are reserved names",
    "pi is 3.14159265358979323846 and 2^64 is 18446744073709551616",
    "the sequence 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233",
    "password = input('Enter your password: ')",
    "api_key: 'your-api-key-goes-here'",
    "def __init__(self, max_turns=12): self.secret = rng.randint(1, 100)",
    "on 2026-11-29 at 10:15:30, version 1.2.3-4567, 192.168.0.1",
    "the grid is 555-0123 wide; call (555) 555-0123",
    "row-6ac734d82d5fcedb of dataset-aa1821e89d0d85f9",
    "10 000 000 000 000 000 grains of rice",
]


@pytest.mark.parametrize(("kind", "text"), PLANTED)
def test_what_is_planted_is_found_and_masked(kind: str, text: str) -> None:
    found = scan(f"An ordinary line.\n{text}\nAnother.")
    assert [f.kind for f in found] == [kind]
    assert len(found[0].excerpt) <= 5


@given(st.lists(st.sampled_from([*(text for _, text in PLANTED), *HARMLESS]) | st.text(max_size=30), max_size=6))
def test_the_fast_look_misses_nothing(texts: list[str]) -> None:
    assert scanned(texts) == [scan(text) for text in texts]


@given(st.text("ab19 .+-@:/_='\"AKDE", max_size=60))
def test_the_fast_look_misses_nothing_in_odd_texts(text: str) -> None:
    assert scanned([text]) == [scan(text)]


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_texts_are_left_alone(text: str) -> None:
    assert scan(text) == ()


def test_the_starter_corpus_is_clean() -> None:
    lines = (Path(__file__).parents[2] / "data" / "corpora" / "starter.jsonl").read_text("utf-8").splitlines()
    assert [scan(json.loads(line)["text"]) for line in lines] == [()] * len(lines)


@given(st.text(digits, min_size=12, max_size=18))
def test_exactly_one_check_digit_completes_a_card(number: str) -> None:
    assume(len(set(number)) > 1)
    assert sum(luhn(number + digit) for digit in digits) == 1


def test_check_digits_of_accounts() -> None:
    assert iban("GB82 WEST 1234 5698 7654 32")
    assert not iban("GB82 WEST 1234 5698 7654 33")


@given(st.text(ascii_letters, max_size=50))
def test_masks_never_show_the_middle(text: str) -> None:
    assert len(masked(text)) <= 5


@given(st.text(max_size=300))
def test_any_text_is_scanned(text: str) -> None:
    assert all(text[f.start :] for f in scan(text))


def test_long_hostile_texts_take_no_time() -> None:
    """No pattern goes over a text again and again."""
    for text in (
        "a@" * 20_000,
        "1" * 50_000,
        "1-" * 30_000,
        "+1 " * 30_000,
        "eyJ" * 20_000,
        "x://a:" * 10_000,
        "A1 " * 30_000,
    ):
        scan(text)
