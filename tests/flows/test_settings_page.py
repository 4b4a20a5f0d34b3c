"""The settings reference is what the models say."""

from pathlib import Path

from flows.settings_page import settings_markdown

PAGE = Path(__file__).resolve().parents[2] / "docs" / "settings.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text("utf-8") == settings_markdown(), "run python -m flows.settings_page > docs/settings.md"


def test_every_setting_of_running_for_weeks_is_explained() -> None:
    page = settings_markdown()
    for group in ("[budget]", "[budget.slice]", "[budget.total]", "[alarms]", "[retention]"):
        assert f"## `{group}`" in page
    assert "| `api_key` | secret, or absent | – |" in page
