from pathlib import Path

import pytest

from flows.configuring import flags_of, load_settings, profile_names, run_flags, with_key
from spade.errors import Abort


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_flags_win_over_environment_over_file_over_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("spade.toml").write_text("[cycle]\nslots = 3\nplays = 3\nskills = 2\n")
    monkeypatch.setenv("SPADE_CYCLE__SLOTS", "4")
    monkeypatch.setenv("SPADE_CYCLE__PLAYS", "4")

    settings = load_settings("starter", flags_of(cycle__slots=5))

    assert (settings.cycle.slots, settings.cycle.plays, settings.cycle.skills) == (5, 4, 2)
    assert settings.designer.mode == "blueprint"


def test_a_file_may_add_profiles_of_its_own() -> None:
    Path("spade.toml").write_text("[profiles.mine.cycle]\nslots = 2\n")
    assert load_settings("mine").cycle.slots == 2


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("[cycle]\nslotz = 3\n", "no setting 'cycle.slotz'. Did you mean cycle.slots?"),
        ("[cycle]\nslots = 0\n", "The setting cycle.slots cannot be 0"),
        ("[cycle\n", "not valid TOML"),
    ],
)
def test_a_wrong_file_is_one_sentence_that_names_the_setting(written: str, says: str) -> None:
    Path("spade.toml").write_text(written)
    with pytest.raises(Abort, match=says.replace("[", r"\[").replace(".", r"\.").replace("?", r"\?")):
        load_settings()


def test_an_unknown_variable_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A typing error that silently changes nothing would cost a night of running."""
    monkeypatch.setenv("SPADE_CYCLES__SLOTS", "4")
    with pytest.raises(Abort, match="Did you mean SPADE_CYCLE__SLOTS"):
        load_settings()


def test_an_unknown_profile_names_those_there_are() -> None:
    with pytest.raises(Abort, match="starter"):
        load_settings("started")


@pytest.mark.parametrize("name", profile_names())
def test_every_shipped_profile_is_valid(name: str) -> None:
    assert load_settings(name).profile == name


def test_a_model_with_a_scheme_is_a_source_unless_an_endpoint_is_named() -> None:
    flags = {"seed": None, "slots": None, "plays": None, "home": None}
    assert run_flags(model="path:a.gguf", base_url=None, **flags) == {"model": {"source": "path:a.gguf"}}
    named = run_flags(model="org/m:free", base_url="http://localhost:1/v1", **flags)
    assert named == {"model": {"base_url": "http://localhost:1/v1", "name": "org/m:free"}}


def test_what_is_made_has_a_name_that_secrets_and_speed_do_not_change() -> None:
    one = load_settings("starter", {"model": {"api_key": "sk-1", "concurrency": 1}, "home": "a", "seed": 1})
    two = load_settings("starter", {"model": {"api_key": "sk-2", "concurrency": 9}, "home": "b", "seed": 2})
    assert one.settings_hash == two.settings_hash
    assert one.settings_hash != load_settings("starter", flags_of(cycle__plays=9)).settings_hash
    assert "sk-1" not in one.model_dump_json()


def test_the_key_is_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPADE_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    found = with_key(load_settings("starter").model).api_key
    own = with_key(load_settings("starter", {"model": {"api_key": "sk-own"}}).model).api_key
    assert found is not None
    assert own is not None
    assert (found.get_secret_value(), own.get_secret_value()) == ("sk-other", "sk-own")
