"""What an endpoint's failures mean for the caller: `Again` and other `Retry`, `Skip`, `Abort`, with a remedy each."""

import json
import re
import ssl
from collections.abc import Mapping

import httpx

from spade.errors import Abort, Retry, Skip, SpadeError, TooLong

LONGEST_WORDS = 300
TOO_LONG = re.compile(
    r"context (length|size|window)|maximum context|too (long|many tokens)|exceed_context|max_model_len", re.I
)
FILTERED = re.compile(r"content.?(filter|policy|management)|safety|moderation|flagged", re.I)
UNKNOWN_MODEL = re.compile(
    r"model.{0,80}(not (exist|found|available)|does not exist|unknown)|(unknown|no such) model", re.I
)
TOOL_PARSER = re.compile(r"tool.choice requires|tool-call-parser", re.I)
SPENT = re.compile(r"insufficient_quota|exceeded your current quota|billing|credit", re.I)
REFUSED_PARAMETER = re.compile(r"['\"`](\w+)['\"`]")


class Again(Retry):
    """Worth the same call after a pause. `after`: seconds the endpoint asked for; `crowded`: it had too many calls;
    `alive`: it is well and only says no for now."""

    def __init__(
        self, message: str, remedy: str = "", *, after: float = 0.0, crowded: bool = False, alive: bool = False
    ) -> None:
        super().__init__(message, remedy)
        self.after = after
        self.crowded = crowded
        self.alive = alive


def from_exception(error: Exception, where: str, seconds: float) -> SpadeError:
    """What a failed exchange means: mostly that it may go better next time."""
    match error:
        case httpx.UnsupportedProtocol() | httpx.InvalidURL() | httpx.LocalProtocolError():
            return Abort(f"{where} cannot be called: {error}.", "Correct model.base_url, such as http://host:8000/v1.")
        case TimeoutError() | httpx.TimeoutException():
            return Again(
                f"{where} gave no answer within {seconds:.0f} s.",
                "Raise model.timeout_seconds, lower model.concurrency, or look at the endpoint.",
                crowded=True,
            )
        case httpx.ConnectError() if _certificate(error):
            return Abort(f"{where} shows a certificate that is not trusted.", "Set SSL_CERT_FILE to its authority's.")
        case httpx.ConnectError():
            return Again(f"Nothing answers at {where}.", "Start the endpoint, or correct model.base_url.")
    return Again(f"{where} broke off the reply ({type(error).__name__}).", "Look at the endpoint's own log.")


def from_status(status: int, headers: Mapping[str, str], text: str, where: str, model: str) -> SpadeError:
    """What an HTTP status other than 200 means. `text` is the reply's body."""
    said = words(text)
    if status in (401, 403):
        return Abort(
            f"{where} refuses the key ({status}): {said}",
            "Set SPADE_API_KEY (or OPENAI_API_KEY) to a key that may use this model.",
        )
    if 300 <= status < 400:
        target = headers.get("location", "another address")
        return Abort(f"{where} redirects to {target}.", "Set model.base_url to the address it redirects to.")
    if status == 402 or (status == 429 and SPENT.search(text)):
        return Abort(f"{where} says the account is used up: {said}", "Add credit, or use another endpoint.")
    if status == 404 or (status in (400, 422) and UNKNOWN_MODEL.search(said)):
        return Abort(
            f"{where} does not know the model {model!r} or the path (404 or {status}): {said}",
            "Set model.name to a model of its list, and model.base_url to the API's root, usually ending in /v1.",
        )
    if TOOL_PARSER.search(said):
        return Abort(
            f"{where} was started without tool calls: {said}",
            "Start vLLM with --enable-auto-tool-choice --tool-call-parser NAME.",
        )
    if status in (405, 501):
        return Abort(f"{where} does not offer chat completions ({status}): {said}", "Use an OpenAI-compatible server.")
    if status in (408, 409, 425, 429) or status >= 500:
        return Again(
            f"{where} answers {status}: {said}",
            "Lower model.concurrency, or wait until the endpoint is well again.",
            after=retry_after(headers),
            crowded=status in (429, 503, 529),
            alive=status == 429,
        )
    if TOO_LONG.search(text) or status == 413:
        return TooLong(
            f"{where} finds the request too long: {said}", "Raise the model's context or shorten the prompt."
        )
    if FILTERED.search(text):
        return Skip(f"{where} filtered the request: {said}")
    return Skip(f"{where} refuses the request ({status}): {said}")


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds asked for in `Retry-After`; 0 when absent or not a number of seconds."""
    try:
        return max(0.0, float(headers.get("retry-after", "0")))
    except ValueError:
        return 0.0


def refused_parameter(text: str) -> str | None:
    """The parameter of ours that a 400 complains about, from `error.param` or the first quoted word."""
    try:
        error = json.loads(text)["error"]
        if isinstance(error.get("param"), str):
            return str(error["param"]).split(".")[0]
        quoted = REFUSED_PARAMETER.search(str(error.get("message", "")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return quoted[1] if quoted else None


def words(text: str) -> str:
    """What the endpoint said, in one line: its own message out of the JSON, or the start of the text."""
    try:
        value = json.loads(text)
        error = value.get("error", value)
        said = error if isinstance(error, str) else error.get("message") or error.get("detail") or text
    except (ValueError, AttributeError, RecursionError):
        said = "(a web page)" if looks_like_html(text) else text
    line = " ".join(str(said).split())
    return (line[:LONGEST_WORDS] + "..." if len(line) > LONGEST_WORDS else line) or "(nothing)"


def looks_like_html(text: str) -> bool:
    return text.lstrip()[:15].lower().startswith(("<!doctype", "<html", "<head", "<?xml"))


def _certificate(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError) or "CERTIFICATE_VERIFY_FAILED" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False
