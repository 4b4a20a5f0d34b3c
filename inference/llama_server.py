"""The embedded server's own process: llama.cpp with an OpenAI API on loopback. Started by `inference.embedded`.

The first line on standard input is its settings in JSON (a key given that way shows in no process list). Once the model
is loaded it writes `{"url": ...}` to the file descriptor `ready`. It lives as long as standard input stays open and its
parent lives: when the parent dies, however it dies, the pipe closes and this process ends.
"""

import json
import os
import select
import sys
from typing import Any


def parameters(settings: dict[str, Any]) -> Any:
    """llama.cpp's parameters: quiet, no web pages, one context of `context` tokens for each of `parallel` slots."""
    import xllamacpp

    p = xllamacpp.CommonParams()
    p.model.path = settings["model"]
    p.model_alias = {settings["alias"]}
    p.hostnames = [settings["host"]]
    p.port = settings["port"]
    p.api_keys = [settings["api_key"]] if settings["api_key"] else []
    p.n_parallel = settings["parallel"]
    p.n_ctx = settings["context"] * settings["parallel"]
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = settings["threads"]
    # Threads that spin while they wait fall over when the cores are shared with sandboxed games.
    p.cpuparams.poll = p.cpuparams_batch.poll = 0
    p.cont_batching = True
    p.endpoint_metrics = True
    p.endpoint_slots = False  # would show one client's prompts to another
    p.cors_origins = "http://127.0.0.1"
    p.cache_ram_mib = 0  # the default keeps up to 8 GiB of old prompts
    p.fit_params = False
    p.warmup = False
    p.ui = False
    p.verbosity = settings["verbosity"]
    return p


def main() -> None:
    parent = os.getppid()
    settings = json.loads(sys.stdin.readline())
    import xllamacpp

    server = xllamacpp.Server(parameters(settings))
    with os.fdopen(settings["ready"], "w") as ready:
        ready.write(json.dumps({"url": server.listening_address}) + "\n")
    while os.getppid() == parent:
        readable, _, _ = select.select([sys.stdin], [], [], 1.0)
        if readable and not os.read(sys.stdin.fileno(), 4096):
            break
    os._exit(0)  # the engine's threads have nothing to save, and joining them can hang


if __name__ == "__main__":
    main()
