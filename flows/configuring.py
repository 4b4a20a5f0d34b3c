"""Where settings come from: flags over environment over `spade.toml` over the profile. The only reader of all four."""

import difflib
import os
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, SecretStr, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict

from spade.errors import Abort
from spade.settings import FactorySettings, ModelSettings

SETTINGS_FILE = Path("spade.toml")
ENV_PREFIX = "SPADE_"
KEY_VARIABLES = ("SPADE_API_KEY", "OPENAI_API_KEY")
_NOT_SETTINGS = {"SPADE_API_KEY", "SPADE_PROFILE"}


class _Sources(FactorySettings, BaseSettings):
    """The same settings, with the environment as a source."""

    model_config = SettingsConfigDict(env_prefix=ENV_PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True)


def profile_names() -> list[str]:
    """The profiles that ship with the factory."""
    return sorted(p.name.removesuffix(".toml") for p in files("spade.profiles").iterdir() if p.name.endswith(".toml"))


def load_settings(
    profile: str | None = None, flags: Mapping[str, Any] | None = None, file: Path | None = None
) -> FactorySettings:
    """The settings of a run. `flags` is nested and wins over all else. Raises `Abort` naming the setting at fault.

    A profile `starter+no-memory` is the first with the changes of the second.
    """
    _refuse_unknown_variables()
    path = file or SETTINGS_FILE
    written = _read_toml(path) if file or path.exists() else {}
    own_profiles = written.pop("profiles", {})
    name = profile or os.environ.get("SPADE_PROFILE") or written.get("profile") or "starter"
    parts = name.split("+")
    layers = [
        dict(flags or {}),
        _from_environment(),
        *(own_profiles.get(part, {}) for part in reversed(parts)),
        written,
        *(_shipped_profile(part, known=set(own_profiles)) for part in reversed(parts)),
        {"profile": name},
    ]
    merged: dict[str, Any] = {}
    for layer in reversed(layers):
        merged = _merged(merged, layer)
    merged["profile"] = name
    try:
        return FactorySettings.model_validate(merged)
    except ValidationError as error:
        raise _explained(error) from error


def with_key(settings: ModelSettings) -> ModelSettings:
    """The settings with the endpoint's key: their own, or the first of the key variables that is set."""
    if settings.api_key is not None:
        return settings
    found = next((os.environ[name] for name in KEY_VARIABLES if os.environ.get(name)), None)
    return settings.model_copy(update={"api_key": SecretStr(found) if found else None})


def flags_of(**given: Any) -> dict[str, Any]:
    """Nested settings from dotted names with `__` (`cycle__slots=8`); what is None was not given."""
    nested: dict[str, Any] = {}
    for path, value in given.items():
        if value is None:
            continue
        *parents, leaf = path.split("__")
        place = nested
        for parent in parents:
            place = place.setdefault(parent, {})
        place[leaf] = value
    return nested


def run_flags(
    *, seed: int | None, slots: int | None, plays: int | None, model: str | None, base_url: str | None, home: str | None
) -> dict[str, Any]:
    """The flow's parameters as nested settings. `model` is a weights source when it has a scheme, else a name."""
    source = model if model and ":" in model and not base_url else None
    return flags_of(
        seed=seed,
        home=home,
        cycle__slots=slots,
        cycle__plays=plays,
        model__base_url=base_url,
        model__source=source,
        model__name=None if source else model,
    )


def with_slice(flags: dict[str, Any], **limits: float | None) -> dict[str, Any]:
    """Flags with the budget of a time slice added."""
    return flags | flags_of(**{f"budget__slice__{name}": limit for name, limit in limits.items()})


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        merged[key] = _merged(below, value) if isinstance(value, Mapping) and isinstance(below, Mapping) else value
    return merged


def _from_environment() -> dict[str, Any]:
    found: dict[str, Any] = EnvSettingsSource(_Sources)()
    return found


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise Abort(f"There is no settings file {path}.", "Name an existing TOML file with --settings.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Abort(f"{path} is not valid TOML: {error}.", "Mend that line.") from error


def _shipped_profile(name: str, known: set[str]) -> dict[str, Any]:
    source = files("spade.profiles") / f"{name}.toml"
    if source.is_file():
        return tomllib.loads(source.read_text(encoding="utf-8"))
    if name in known or name == "default":
        return {}
    names = ", ".join(sorted({*profile_names(), *known}))
    raise Abort(
        f"There is no profile {name!r}.", f"Use one of {names}, or write [profiles.{name}] into {SETTINGS_FILE}."
    )


def _refuse_unknown_variables() -> None:
    known = {ENV_PREFIX + path.upper() for path in _paths(FactorySettings)}
    for variable in sorted(os.environ):
        if variable.startswith(ENV_PREFIX) and variable not in known | _NOT_SETTINGS:
            close = difflib.get_close_matches(variable, known, n=1)
            hint = f"Did you mean {close[0]}?" if close else "`spade settings` lists all of them."
            raise Abort(f"The environment variable {variable} is not a setting.", hint)


def _paths(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield prefix + name
        group = group_of(field.annotation)
        if group is not None:
            yield from _paths(group, f"{prefix}{name}__")


def group_of(annotation: Any) -> type[BaseModel] | None:
    """The group of settings that an annotation names, also where it may be absent; None for a plain setting."""
    for each in (annotation, *get_args(annotation)):
        if isinstance(each, type) and issubclass(each, BaseModel):
            return each
    return None


def _explained(error: ValidationError) -> Abort:
    first = error.errors()[0]
    name = ".".join(map(str, first["loc"]))
    if first["type"] == "extra_forbidden":
        known = [path.replace("__", ".") for path in _paths(FactorySettings)]
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"Did you mean {close[0]}?" if close else "`spade settings` lists all of them."
        return Abort(f"There is no setting {name!r}.", hint)
    return Abort(
        f"The setting {name} cannot be {first['input']!r}: {first['msg']}.", "`spade settings` shows each one."
    )
