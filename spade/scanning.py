"""Secrets and personal data in text: found by form, checked by check digits where the form has them, shown masked.

Finds keys of common services, private keys, credentials in addresses and assignments, e-mail addresses, telephone
numbers, payment cards, bank accounts and US social security numbers. Does not find names, addresses of houses, or
secrets that look like nothing in particular.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log2


@dataclass(frozen=True, slots=True)
class Finding:
    """One place in a text. `excerpt` never shows the middle of what was found."""

    kind: str
    start: int
    excerpt: str


@dataclass(frozen=True, slots=True)
class _Rule:
    """A form, what a text must contain to be worth looking at, and a test of what matched.

    Group 1 is the finding when there is one.
    """

    kind: str
    trigger: str
    pattern: re.Pattern[str]
    holds: Callable[[str], bool] = lambda _: True


def scan(text: str) -> tuple[Finding, ...]:
    """All findings in order; of overlapping ones the first rule's."""
    taken: list[tuple[int, int]] = []
    return tuple(sorted(_matches(text, taken), key=lambda f: f.start))


def _matches(text: str, taken: list[tuple[int, int]]) -> Iterator[Finding]:
    lowered = text.lower()
    for rule in RULES:
        if not any(part in lowered for part in rule.trigger.split()):
            continue
        for match in rule.pattern.finditer(text):
            group = 1 if match.re.groups else 0
            start, end = match.span(group)
            if rule.holds(match[group]) and all(end <= a or start >= b for a, b in taken):
                taken.append((start, end))
                yield Finding(rule.kind, start, masked(match[group]))


def masked(text: str) -> str:
    """The first and last two characters, the middle as dots: enough to find the place, too little to use."""
    return f"{text[:2]}…{text[-2:]}" if len(text) > 6 else "…"


def luhn(digits: str) -> bool:
    """Whether the check digit of a payment card holds (ISO/IEC 7812-1)."""
    numbers = [int(d) for d in digits if d.isdigit()]
    doubled = [sum(divmod(2 * n, 10)) if i % 2 else n for i, n in enumerate(reversed(numbers))]
    return 13 <= len(numbers) <= 19 and len(set(numbers)) > 1 and sum(doubled) % 10 == 0


def iban(text: str) -> bool:
    """Whether the check digits of a bank account number hold (ISO 13616)."""
    plain = text.replace(" ", "")
    turned = plain[4:] + plain[:4]
    return 15 <= len(plain) <= 34 and int("".join(str(int(c, 36)) for c in turned)) % 97 == 1


def _random_looking(text: str) -> bool:
    """Letters and digits, and more bits a character than words have."""
    frequencies = [text.count(c) / len(text) for c in set(text)]
    mixed = any(c.isdigit() for c in text) and any(c.isalpha() for c in text)
    return mixed and -sum(f * log2(f) for f in frequencies) > 3.2


def _real_address(text: str) -> bool:
    """Not one of the names that are reserved for examples (RFC 2606)."""
    domain = text.lower().rpartition("@")[2]
    return not re.search(r"(^|\.)(example(\.(com|org|net))?|test|invalid|localhost)$", domain)


def _real_number(text: str) -> bool:
    """9 to 15 digits, not the numbers that are reserved for fiction (555-01xx)."""
    digits = re.sub(r"\D", "", text)
    return 9 <= len(digits) <= 15 and "55501" not in digits and len(set(digits)) > 2


_DIGITS = "0 1 2 3 4 5 6 7 8 9"
_ADDRESS = r"\b[a-z][a-z0-9+.-]{1,12}://[^\s/:@]{1,64}:([^\s/:@]{3,64})@[^\s]{3,}"
_ASSIGNED = (
    r"(?i)\b(?:[a-z0-9]+[_-]){0,3}(?:password|passwd|secret|api[_-]?key|access[_-]?token|auth[_-]?token)"
    r"['\"]?\s{0,3}[:=]\s{0,3}['\"]([^'\"\s]{12,100})['\"]"
)
_ACCOUNT = r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"
_CALL_ABROAD = r"(?<![\w+.])\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{2,4}(?:[ .-]?\d{2,4}){1,4}\b"
RULES = tuple(
    _Rule(kind, trigger, re.compile(pattern), *holds)
    for kind, trigger, pattern, *holds in (
        ("private key", "-----begin", r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
        ("AWS key", "akia asia", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
        ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"\bgh[pousr]_[0-9A-Za-z]{36,}\b"),
        ("GitHub token", "github_pat_", r"\bgithub_pat_[0-9A-Za-z_]{50,}\b"),
        ("GitLab token", "glpat-", r"\bglpat-[0-9A-Za-z_-]{20,}"),
        ("OpenAI key", "sk-", r"\bsk-(?:[a-z]+-)*[0-9A-Za-z_-]{20,}", _random_looking),
        ("Hugging Face token", "hf_", r"\bhf_[0-9A-Za-z]{30,}\b"),
        ("Slack token", "xox", r"\bxox[abposr]-[0-9A-Za-z-]{10,}"),
        ("Google key", "aiza", r"\bAIza[0-9A-Za-z_-]{35}"),
        ("Stripe key", "_live_", r"\b[rs]k_live_[0-9A-Za-z]{20,}\b"),
        ("JSON web token", "eyj", r"\beyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{10,}"),
        ("password in an address", "://", _ADDRESS),
        ("secret in an assignment", "password passwd secret key token", _ASSIGNED, _random_looking),
        ("e-mail address", "@", r"\b[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,5}[A-Za-z]{2,12}\b", _real_address),
        ("bank account", _DIGITS, _ACCOUNT, iban),
        ("payment card", _DIGITS, r"(?<![\d.])\d(?:[ -]?\d){12,18}(?![\d.])", luhn),
        ("social security number", "-", r"(?<![\d-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])"),
        ("telephone number", "+", _CALL_ABROAD, _real_number),
        ("telephone number", "- .", r"(?<![\w.])\(?\d{3}\)?[ .-]\d{3}[.-]\d{4}(?![\w.-])", _real_number),
    )
)
"""Services' own forms first, then forms with check digits, then looser ones."""

SUSPICIOUS = "|".join(
    (
        r"-----BEGIN|AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|sk-|hf_|xox|AIza|_live_|eyJ",
        r"://[^\s/:@]+:[^\s/:@]+@",
        r"@[\pL\pN_-]+\.",
        r"(?i:password|passwd|secret|key|token)['\"]?\s*[:=]\s*['\"]",
        r"[A-Z]{2}\d{2} ?[A-Z0-9]{4}",
        r"(?:\d[ -]?){12}\d",
        r"\d{3}-\d{2}-\d{4}",
        r"\+\d",
        r"\d{3}\)?[ .-]\d{3}[.-]\d{4}",
    )
)
"""Matches every text in which `scan` finds something, and some others: for engines without look-around (RE2)."""
