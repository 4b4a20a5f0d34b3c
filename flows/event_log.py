"""The log for machines: one JSON object a line, each with the ids it is about, and never a secret."""

import json
import logging
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any

from flows.configuring import KEY_VARIABLES
from spade.settings import FactorySettings
from tasks.tracing import ids

FREQUENT = frozenset({"asked", "started"})
"""Stages that come by the thousand and are counted elsewhere; failed calls are written."""
LONGEST = 2000
"""Characters of one text in a line."""
OURS = ("spade", "inference", "sandbox", "data", "training", "tasks", "flows")
SECRET_VARIABLES = (
    *KEY_VARIABLES,
    "E2B_API_KEY",
    "PREFECT_API_KEY",
    "PREFECT_API_AUTH_STRING",
    "PREFECT_SERVER_API_AUTH_STRING",
    "PREFECT_API_DATABASE_CONNECTION_URL",
    "PREFECT_SERVER_DATABASE_CONNECTION_URL",
)
HIDDEN = "[hidden]"
_LIKE_A_KEY = re.compile(
    r"(?i)\b(bearer\s+|(?:sk|e2b|hf|pnu)[-_])[A-Za-z0-9._~+/=-]{8,}|(?<=://)[^/@\s:\"]*:[^/@\s\"]+(?=@)"
)


class EventLog:
    """Implements `tasks.factory.Watcher`: events become lines of `path`. A full disk loses lines, never the run.

    `common` stands in every line: the flow run's id and name.
    """

    def __init__(self, path: Path, common: Mapping[str, str], secrets: Iterable[str]) -> None:
        self._common = dict(common)
        self._secrets = sorted({s for s in secrets if len(s) >= 4}, key=len, reverse=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def saw(self, stage: str, subject: str, **facts: Any) -> None:
        if stage not in FREQUENT and not (stage == "answered" and facts.get("ended") == "ok"):
            self.line("info", event=stage, subject=subject, **facts)

    def line(self, level: str, **facts: Any) -> None:
        """Write one line, whole: several processes may append to one file."""
        said = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "level": level, **self._common, **ids()}
        said |= {name: _short(value) for name, value in facts.items() if value not in (None, "")}
        text = self.scrubbed(json.dumps(said, ensure_ascii=False, default=_plain))
        try:
            os.write(self._file, (text + "\n").encode("utf-8", "replace"))
        except OSError:
            return

    def scrubbed(self, text: str) -> str:
        """The text without the secrets that are known here and without what looks like one."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return _LIKE_A_KEY.sub(HIDDEN, text)

    def close(self) -> None:
        os.close(self._file)


class LogLines(logging.Handler):
    """Log records of our packages, and warnings of Prefect's runs, as lines of the same file."""

    def __init__(self, log: EventLog) -> None:
        super().__init__(logging.INFO)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        if record.name.partition(".")[0] not in OURS and record.levelno < logging.WARNING:
            return
        facts = {"logger": record.name, "message": record.getMessage()}
        if record.exc_info and record.exc_info[1] is not None:
            facts["error"] = f"{type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
        self._log.line(record.levelname.lower(), **facts)

    def attach(self) -> None:
        for name in (*OURS, "prefect.flow_runs", "prefect.task_runs"):
            logging.getLogger(name).addHandler(self)

    def detach(self) -> None:
        for name in (*OURS, "prefect.flow_runs", "prefect.task_runs"):
            logging.getLogger(name).removeHandler(self)


def secrets_of(settings: FactorySettings) -> list[str]:
    """What must never stand in a log: keys in the settings and in the environment, passwords."""
    found = [os.environ.get(name, "") for name in SECRET_VARIABLES]
    if settings.model.api_key is not None:
        found.append(settings.model.api_key.get_secret_value())
    return [*found, *(part for auth in found if ":" in auth and "//" not in auth for part in auth.split(":")[1:])]


def _short(value: Any) -> Any:
    return value[:LONGEST] if isinstance(value, str) else value


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value.value if isinstance(value, Enum) else str(value)
