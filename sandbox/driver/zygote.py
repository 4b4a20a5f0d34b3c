"""The fork server: imports what programs may use once, then forks a locked cell per request. Trusted, one thread.

Started as `python -c START DESCRIPTOR CONFIG`; DESCRIPTOR is a SEQPACKET socket on which the host sends one JSON
datagram per request together with one descriptor. `spawn` brings the cell's end of its data socket; the server answers
over it, before the cell can speak, with the cell's process number and a pidfd. `exit` brings a socket for the answer:
how a process ended. When the host's end closes, the server ends, and everything with it.
"""

import array
import gc
import json
import os
import select
import signal
import socket
from collections import deque
from collections.abc import Callable
from typing import Any

from . import kernel, landlock, seccomp
from .cell import Ground, Layers, become_cell, become_user, prepare_ground
from .controls import control_clock, control_randomness, pure_datetime
from .program import builtins_for
from .serve import CONTROL, rehearse

REMEMBERED_EXITS = 4096
IDLE_MS = 5
"""Cells that are wanted ahead are made when nobody has asked for anything for so long."""
REHEARSALS = 50
"""Enough for the interpreter to settle on the fast forms of the driver's code."""


class Server:
    def __init__(self, control: socket.socket, config: dict[str, Any]) -> None:
        self.control = control
        self.config = config
        self.own_pidfd = os.pidfd_open(os.getpid())
        self.reasons: dict[str, str] = {}
        self.exits: dict[int, tuple[int, float]] = {}
        self.users: int = config["first_user"]
        self.later: deque[tuple[dict[str, Any], int]] = deque()
        layers = self.probe()
        self.ground = Ground(
            layers=layers,
            hash_seed=config["hash_seed"],
            builtin_names=builtins_for(frozenset(config["allowed"])),
            files=landlock.rules(config["readable"], config["writable"], layers.landlock) if layers.landlock else None,
            filter=seccomp.Filter() if layers.seccomp else None,
            server_ended=select.poll(),
        )

        self.ground.server_ended.register(self.own_pidfd, select.POLLIN)

    def probe(self) -> Layers:
        """Try each layer in a throw-away process."""

        def namespace() -> None:
            kernel.unshare(kernel.CLONE_NEWPID)
            kernel.setns(self.own_pidfd, kernel.CLONE_NEWPID)

        def files() -> None:
            landlock.restrict(landlock.rules([], [], landlock.version()))

        def calls() -> None:
            seccomp.Filter().install()

        def mounts() -> None:
            kernel.unshare(kernel.CLONE_NEWNS)

        def user() -> None:
            become_user(self.config["users"][0])

        return Layers(
            seccomp=self.works("seccomp", calls),
            landlock=landlock.version() if self.works("landlock", files) else 0,
            process_namespace=self.works("process_namespace", namespace),
            mount_namespace=self.works("mount_namespace", mounts),
            own_user=self.works("own_user", user),
        )

    def works(self, layer: str, attempt: Callable[[], None]) -> bool:
        if layer in self.config["without"]:
            self.reasons[layer] = self.config["without"][layer]
            return False
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                attempt()
                os.write(writing, b"+")
            except BaseException as error:  # noqa: BLE001
                os.write(writing, str(error).encode()[:300])
            os._exit(0)
        os.close(writing)
        answer = os.read(reading, 300)
        os.close(reading)
        os.waitpid(pid, 0)
        if answer != b"+":
            self.reasons[layer] = answer.decode("utf-8", "replace") or "killed while trying"
        return answer == b"+"

    def serve(self) -> None:
        """Answer requests until the host is gone."""
        waking, woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        poll.register(waking, select.POLLIN)
        send(self.control, {"layers": vars(self.ground.layers), "reasons": self.reasons}, self.own_pidfd)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(IDLE_MS if self.later else None)}
            if waking in ready:
                os.read(waking, 4096)
            self.reap()
            if self.control.fileno() in ready:
                self.answer()
            elif not ready and self.later:
                self.spawn(*self.later.popleft())

    def answer(self) -> None:
        message, ancillary, _, _ = self.control.recvmsg(65536, socket.CMSG_SPACE(4))
        if not message:
            os._exit(0)
        request = json.loads(message)
        given = array.array("i", ancillary[0][2][:4])[0]
        if request["op"] == "spawn" and request["ahead"]:
            self.later.append((request, given))
        elif request["op"] == "spawn":
            self.spawn(request, given)
        else:
            self.reap()
            with socket.socket(fileno=given) as reply:
                status, cpu = self.exits.pop(request["pid"], (None, 0.0))
                reply.send(json.dumps({"status": status, "cpu_seconds": cpu}).encode())

    def spawn(self, spec: dict[str, Any], data: int) -> None:
        layers = self.ground.layers
        spec["user"] = self.next_user() if layers.own_user else 0
        if layers.process_namespace:
            kernel.unshare(kernel.CLONE_NEWPID)
        pid = os.fork()
        if pid == 0:
            become_cell(self.ground, data, spec)
        if layers.process_namespace:
            kernel.setns(self.own_pidfd, kernel.CLONE_NEWPID)
        pidfd = os.pidfd_open(pid)
        with socket.socket(fileno=data) as channel:
            send(channel, {"pid": pid}, pidfd)
        os.close(pidfd)

    def next_user(self) -> int:
        """A user number that no living cell of this server has."""
        first, count = self.config["users"]
        self.users = (self.users + 1) % count
        return int(first + self.users)

    def reap(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self.exits[pid] = (status, usage.ru_utime + usage.ru_stime)
            if len(self.exits) > REMEMBERED_EXITS:
                self.exits.pop(next(iter(self.exits)))


def send(channel: socket.socket, message: dict[str, Any], descriptor: int) -> None:
    """One message with one descriptor; a peer that is gone already is not our problem."""
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
    try:
        channel.sendmsg([json.dumps(message).encode()], rights)
    except (BrokenPipeError, ConnectionResetError):
        return


def import_ahead(modules: list[str]) -> None:
    """Load what programs may import, so that no cell pays for it or needs the files."""
    pure_datetime()
    for module in modules:
        try:
            __import__(module)
        except ImportError:
            continue


def reserve_low_descriptors() -> None:
    """Cells put their connection at a fixed low number; nothing they still need may sit there."""
    while os.open("/dev/null", os.O_RDONLY) < CONTROL:
        continue


def main(descriptor: int, config: dict[str, Any]) -> None:
    reserve_low_descriptors()
    import_ahead(config["import_ahead"])
    if "math_verify" in config["libraries"]:
        from .libraries import load_libraries

        load_libraries(config["libraries"], config["versions"])
    prepare_ground()
    server = Server(socket.socket(fileno=descriptor), config)
    for _ in range(REHEARSALS):
        rehearse(server.ground.builtin_names)
    # Every cell is a copy of this process: what is set here starts alike in all of them.
    control_clock(config["hash_seed"])
    control_randomness(config["hash_seed"])
    gc.collect()
    gc.freeze()
    gc.disable()
    server.serve()
