"""The same promises to a user without any privilege."""

import os

import pytest

from tests.sandbox.users import suite_as_ordinary

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="the suite already runs as an ordinary user")


def passes(*files: str) -> None:
    done = suite_as_ordinary(*files)
    if done is None:
        pytest.skip("no interpreter that an ordinary user may run")
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


def test_the_contract_holds_for_an_ordinary_user() -> None:
    passes("test_contract.py", "test_tools.py")


def test_isolation_is_found_and_tested_for_an_ordinary_user() -> None:
    passes("test_isolation.py")


@pytest.mark.slow
def test_attacks_fail_for_an_ordinary_user() -> None:
    passes("test_hostile.py", "test_robustness.py")
