"""A stand-in for E2B on loopback: speaks its wire format to the real SDK, and runs commands on this machine.

One port serves the control plane (JSON, key in `X-API-KEY`) and what runs in every cloud sandbox: files over plain
HTTP, processes over the Connect protocol in JSON. It isolates nothing; tests only.
"""

import base64
import email
import email.policy
import json
import os
import queue
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

KEY = "e2b_0123456789"
ENVD = "0.6.2"
"""A version that closes standard input, takes octet streams, and implies no user."""
GONE = {"message": "The sandbox was not found", "code": 502}
LAST = 2
"""Flag of the last message of a stream."""


@dataclass
class Process:
    """One command, and those who listen to it."""

    popen: "subprocess.Popen[bytes]"
    events: "queue.Queue[dict[str, Any] | None]" = field(default_factory=queue.Queue)

    def pump(self, muted: threading.Event) -> None:
        """Pass output on until it ends; while muted it is swallowed, as by a network that fails silently."""

        def forward(name: str, stream: Any) -> None:
            while data := stream.read(1 << 16):
                if not muted.is_set():
                    self.events.put({"data": {name: base64.b64encode(data).decode()}})

        pumps = [
            threading.Thread(target=forward, args=pair, daemon=True)
            for pair in (("stdout", self.popen.stdout), ("stderr", self.popen.stderr))
        ]
        for pump in pumps:
            pump.start()
        for pump in pumps:
            pump.join()
        code = self.popen.wait()
        end = {"exited": code >= 0, "status": f"exit status {code}" if code >= 0 else f"signal: {-code}"}
        self.events.put({"end": end | ({"exitCode": code, "error": end["status"]} if code else {})})
        self.events.put(None)


@dataclass
class Machine:
    """One cloud sandbox: a folder, processes, an end."""

    body: dict[str, Any]
    folder: Path
    number: str = field(default_factory=lambda: "i" + uuid.uuid4().hex[:19])
    token: str = field(default_factory=lambda: uuid.uuid4().hex)
    started: float = field(default_factory=time.time)
    end: float = 0.0
    renewals: int = 0
    processes: dict[int, Process] = field(default_factory=dict)
    muted: threading.Event = field(default_factory=threading.Event)

    def renew(self, seconds: float) -> None:
        self.end = time.time() + seconds
        self.renewals += 1

    def path(self, wanted: str) -> Path:
        inside = os.path.normpath(os.path.join("/home/user", wanted)).lstrip("/")
        return self.folder / inside

    def words(self) -> dict[str, Any]:
        def stamp(moment: float) -> str:
            return datetime.fromtimestamp(moment, UTC).isoformat().replace("+00:00", "Z")

        sizes = {"cpuCount": 2, "memoryMB": 512, "diskSizeMB": 1024}
        times = {"startedAt": stamp(self.started), "endAt": stamp(self.end)}
        return self.access() | sizes | times | {"state": "running", "metadata": self.body.get("metadata", {})}

    def access(self) -> dict[str, Any]:
        return {
            "templateID": self.body["templateID"],
            "sandboxID": self.number,
            "clientID": "stand-in",
            "envdVersion": ENVD,
            "envdAccessToken": self.token,
            "domain": None,
        }

    def kill(self) -> None:
        for process in self.processes.values():
            if process.popen.poll() is None:
                os.killpg(process.popen.pid, signal.SIGKILL)
                process.popen.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class FakeE2B(ThreadingHTTPServer):
    """`with FakeE2B() as cloud:`; `cloud.environment` is what points the SDK to it."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.root = Path(tempfile.mkdtemp(prefix="fake-e2b-"))
        self.root.chmod(0o755)
        self.machines: dict[str, Machine] = {}
        self.made: list[Machine] = []
        self.seen: list[tuple[str, str]] = []
        self.refusals: list[tuple[int, str]] = []
        """Statuses and messages that the next requests to make a machine get instead of one."""
        self.making, self.most_making = 0, 0
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True)

    @property
    def environment(self) -> dict[str, str]:
        url = f"http://127.0.0.1:{self.server_address[1]}"
        return {"E2B_API_KEY": KEY, "E2B_API_URL": url, "E2B_SANDBOX_URL": url}

    def __enter__(self) -> "FakeE2B":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()
        for number in list(self.machines):
            self.kill(number)
        shutil.rmtree(self.root, ignore_errors=True)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that hang up are no news."""

    def make(self, body: dict[str, Any]) -> Machine:
        folder = self.root / uuid.uuid4().hex
        (folder / "home/user").mkdir(parents=True)
        (folder / "tmp").mkdir()
        machine = Machine(body, folder)
        machine.end = time.time() + body.get("timeout", 300)
        self.made.append(machine)
        self.machines[machine.number] = machine
        return machine

    def kill(self, number: str) -> bool:
        machine = self.machines.pop(number, None)
        if machine is not None:
            machine.kill()
        return machine is not None

    def alive(self, number: str) -> Machine | None:
        machine = self.machines.get(number)
        if machine is not None and time.time() > machine.end:
            self.kill(number)
            return None
        return machine


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: FakeE2B

    def log_message(self, *_: object) -> None:
        return None

    def route(self) -> None:
        parts = urlsplit(self.path)
        body = self.body()
        self.server.seen.append((self.command, parts.path))
        number = self.headers.get("E2b-Sandbox-Id")
        if number is None:
            return self.control(parts.path, dict(parse_qsl(parts.query)), json.loads(body or b"{}"))
        machine = self.server.alive(number)
        if machine is None:
            return self.reply(502, {"sandboxId": number} | GONE)
        if self.headers.get("X-Access-Token") != machine.token:
            return self.reply(401, {"code": "unauthenticated", "message": "wrong token"})
        return self.inside(machine, parts.path, dict(parse_qsl(parts.query)), body)

    do_GET = do_POST = do_DELETE = route

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        whole = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def reply(self, status: int, value: Any = None) -> None:
        data = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    # The control plane.

    def control(self, path: str, query: dict[str, str], body: dict[str, Any]) -> None:
        if self.headers.get("X-API-KEY") != KEY:
            return self.reply(401, {"code": 401, "message": "Invalid API key"})
        if path == "/v2/sandboxes":
            return self.create(body) if self.command == "POST" else self.list_machines(query)
        match = re.fullmatch(r"/sandboxes/(\w+)(/timeout)?", path)
        machine = self.server.alive(match[1]) if match else None
        if machine is None:
            return self.reply(404, {"code": 404, "message": "sandbox not found"})
        if self.command == "DELETE":
            self.server.kill(machine.number)
        elif path.endswith("/timeout"):
            machine.renew(body["timeout"])
        else:
            return self.reply(200, machine.words())
        return self.reply(204)

    def create(self, body: dict[str, Any]) -> None:
        server = self.server
        if server.refusals:
            status, message = server.refusals.pop(0)
            return self.reply(status, {"code": status, "message": message})
        with server.lock:
            server.making += 1
            server.most_making = max(server.most_making, server.making)
        time.sleep(0.05)
        machine = server.make(body)
        with server.lock:
            server.making -= 1
        return self.reply(201, machine.access())

    def list_machines(self, query: dict[str, str]) -> None:
        wanted = {unquote(key): unquote(value) for key, value in parse_qsl(query.get("metadata", ""))}
        alive = [machine for number in list(self.server.machines) if (machine := self.server.alive(number))]
        found = [each.words() for each in alive if wanted.items() <= each.body.get("metadata", {}).items()]
        return self.reply(200, found)

    # Inside a machine.

    def inside(self, machine: Machine, path: str, query: dict[str, str], body: bytes) -> None:
        if path == "/health":
            return self.reply(204)
        if path == "/files":
            return self.upload(machine, query, body)
        if path == "/process.Process/Start":
            (length,) = struct.unpack(">I", body[1:5])
            return self.start(machine, json.loads(body[5 : 5 + length]))
        request = json.loads(body)
        process = machine.processes.get(int(request["process"]["pid"]))
        if process is None or process.popen.poll() is not None:
            return self.reply(404, {"code": "not_found", "message": "process not found"})
        if path == "/process.Process/SendInput":
            assert process.popen.stdin is not None
            process.popen.stdin.write(base64.b64decode(request["input"]["stdin"]))
            process.popen.stdin.flush()
        elif path == "/process.Process/SendSignal":
            os.killpg(process.popen.pid, signal.SIGKILL)
        else:
            return self.reply(404, {"code": "unimplemented", "message": path})
        return self.reply(200, {})

    def upload(self, machine: Machine, query: dict[str, str], body: bytes) -> None:
        kind = self.headers["Content-Type"]
        if kind.startswith("multipart/"):
            message = email.message_from_bytes(
                b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body, policy=email.policy.HTTP
            )
            parts = [
                (query.get("path") or part.get_filename(), part.get_payload(decode=True))
                for part in message.iter_parts()
            ]
        else:
            parts = [(query["path"], body)]
        for name, data in parts:
            path = machine.path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return self.reply(200, [{"name": Path(name).name, "type": "file", "path": name} for name, _ in parts])

    def start(self, machine: Machine, request: dict[str, Any]) -> None:
        """Run a command and stream what it says; it goes on when the listener leaves."""
        command = request["process"]
        popen = subprocess.Popen(
            [command["cmd"], *(word for word in command["args"] if word != "-l")],
            cwd=machine.path("."),
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "TMPDIR": str(machine.folder / "tmp")},
            stdin=subprocess.PIPE if request.get("stdin") else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        process = machine.processes[popen.pid] = Process(popen)
        threading.Thread(target=process.pump, args=(machine.muted,), daemon=True).start()
        self.send_response(200)
        self.send_header("Content-Type", "application/connect+json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.envelope({"event": {"start": {"pid": popen.pid}}})
        while (event := process.events.get()) is not None:
            self.envelope({"event": event})
        self.envelope({}, LAST)
        self.wfile.write(b"0\r\n\r\n")

    def envelope(self, value: Any, flags: int = 0) -> None:
        data = json.dumps(value).encode()
        message = struct.pack(">BI", flags, len(data)) + data
        self.wfile.write(b"%x\r\n%b\r\n" % (len(message), message))
