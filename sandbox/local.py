"""The local sandbox: fork servers that are replaced when they die, and a pool of cells made ready ahead."""

import contextlib
import os
import sys
import threading
import weakref
from collections import deque
from collections.abc import Mapping

from sandbox.cgroups import make_group
from sandbox.child import Child
from sandbox.driver import frames
from sandbox.driver.attention import Attention
from sandbox.games import LocalGame
from sandbox.launching import PLAIN, Kind, Launch, NotWorking, Tier
from sandbox.waiting import Waiting, finish
from sandbox.zygotes import Newborn, Zygote, birth
from spade.allowed import ALLOWED_IMPORTS
from spade.errors import Abort, Retry
from spade.outcomes import CallOutcome, Reply
from spade.ports import Limits

MAX_PROGRAM = 1 << 16
"""Bytes of a program."""
WARM = 4
"""Cells kept ready for the limits last asked for."""
TRIES = 3
LOADING = 0.001
"""Seconds to wait awake for a program that a ready cell loads: most take less than half of it."""

Loaded = tuple[Reply, LocalGame | None]


class LocalSandbox:
    """Untrusted programs on this machine, each in a locked process of its own. Usable from any thread."""

    def __init__(
        self,
        tier: Tier,
        *,
        warm: int = WARM,
        without: Mapping[str, str] | None = None,
        grouped: bool = True,
    ) -> None:
        """`warm` cells are kept ready; `without` names layers to leave out, each with the reason; `grouped` puts a
        control group around everything where that is possible."""
        self.tier = tier
        self.warm = warm
        self.without = dict(without or {})
        self.starting = threading.RLock()
        self.pooling = threading.Lock()
        self.children: weakref.WeakSet[Child] = weakref.WeakSet()
        self.zygotes: dict[Kind, Zygote] = {}
        self.pools: dict[tuple[Kind, Limits], deque[Newborn]] = {}
        self.closed = False
        self.group, self.no_group = make_group() if grouped else (None, "left out")
        OPEN.add(self)

    def zygote(self, kind: Kind = PLAIN) -> Zygote:
        """The fork server of a kind, started on first use and started again when it has died. Raises `Retry`."""
        with self.starting:
            if self.closed:
                raise Abort("the sandbox has been closed.")
            found = self.zygotes.get(kind)
            if found is not None and found.alive:
                return found
            if found is not None:
                found.close()
            try:
                found = Zygote(Launch(self.tier, kind, self.without, ALLOWED_IMPORTS))
            except NotWorking as error:
                raise Retry(f"the sandbox's fork server does not start: {error}.") from error
            self.zygotes[kind] = found
            self.surround(found)
            return found

    def surround(self, zygote: Zygote) -> None:
        """Put a fork server into the control group, so that every program is born inside."""
        if self.group is not None:
            try:
                self.group.add(zygote.host_pid)
            except OSError as error:
                self.group, self.no_group = None, f"a process could not be moved in: {error.strerror}"
        zygote.layers["control_group"] = self.group.limits if self.group is not None else []
        if self.group is None:
            zygote.reasons["control_group"] = self.no_group

    def running(self, kind: Kind) -> bool:
        """Whether the fork server of a kind is there to be asked."""
        found = self.zygotes.get(kind)
        return found is not None and found.alive

    def open(self, program: str, limits: Limits, *, hash_seed: int = 0, guarded: bool = True) -> Loaded:
        """Load a program and wait for it. Raises `Retry` when the sandbox itself cannot start.

        `guarded` False leaves imports and builtins to the program: for programs of ours that look for holes.
        """
        return finish(self.opening(program, limits, hash_seed, guarded))

    def opening(self, program: str, limits: Limits, hash_seed: int, guarded: bool = True) -> Waiting[Loaded]:
        unfit = refusal(program)
        if unfit:
            return Reply(CallOutcome.ENV_PROTOCOL, detail=unfit), None
        kind = Kind.of(program, hash_seed)
        child, ready = yield from self.child(limits, kind, guarded)
        game = LocalGame(child)
        game.quick, game.attention.awake = ready, LOADING
        loading = game.asking(frames.LOAD, program.encode())
        asked = next(loading)
        if guarded:
            self.refill(limits, kind)  # while the program is being loaded
        yield asked
        reply = yield from loading
        game.quick, game.attention = True, Attention()
        if reply.ok:
            return reply, game
        yield from game.closing()
        return reply, None

    def child(self, limits: Limits, kind: Kind, guarded: bool) -> Waiting[tuple[Child, bool]]:
        """A cell nobody has used, and whether it came from the pool."""
        for attempt in range(TRIES):
            pooled = self.from_pool(limits, kind) if guarded else None
            try:
                newborn = pooled or self.zygote(kind).spawn(limits, guarded=guarded)
                child = Child(newborn, *(yield from birth(newborn)))
            except Retry:
                if attempt == TRIES - 1:
                    raise
                continue
            self.children.add(child)
            return child, pooled is not None
        raise AssertionError

    def from_pool(self, limits: Limits, kind: Kind) -> Newborn | None:
        with self.pooling:
            pool = self.pools.get((kind, limits))
            while pool and pool[0].born:
                newborn = pool.popleft()
                if newborn.zygote.alive:
                    return newborn
                newborn.let_go()
            return None

    def refill(self, limits: Limits, kind: Kind) -> None:
        """Have one pool filled again: the one for the limits last asked for. Costs one message a cell."""
        if not self.warm or not self.running(kind):
            return
        with self.pooling, contextlib.suppress(Retry):
            key = (kind, limits)
            for other in [other for other in self.pools if other[0] == kind and other != key]:
                drain(self.pools.pop(other))
            pool = self.pools.setdefault(key, deque())
            while len(pool) < self.warm and not self.closed:
                pool.append(self.zygotes[kind].spawn(limits, ahead=True))
            for newborn in pool:
                newborn.meet()

    def close(self) -> None:
        """End everything: fork servers, cells, games. Safe to call twice."""
        with self.starting, self.pooling:
            self.closed = True
            for pool in self.pools.values():
                drain(pool)
            self.pools.clear()
            for zygote in self.zygotes.values():
                zygote.close()
            self.zygotes.clear()
            if self.group is not None:
                self.group.close()
                self.group = None

    def forked(self) -> None:
        """In a forked copy of the process: leave the owner's servers alone and start afresh on the next use."""
        self.starting, self.pooling = threading.RLock(), threading.Lock()
        for child in self.children:
            child.disown()
        for pool in self.pools.values():
            drain(pool)
        for zygote in self.zygotes.values():
            zygote.disown()
        self.pools, self.zygotes = {}, {}
        self.group, self.no_group = None, "the group belongs to the process that was forked"


OPEN: "weakref.WeakSet[LocalSandbox]" = weakref.WeakSet()


def after_fork() -> None:
    for sandbox in list(OPEN):
        sandbox.forked()


if sys.platform != "win32":
    os.register_at_fork(after_in_child=after_fork)


def drain(pool: deque[Newborn]) -> None:
    """Let cells go that nobody used."""
    while pool:
        pool.popleft().let_go()


def refusal(program: str) -> str:
    """Why a text cannot be a program, before anything is started; empty when it can."""
    try:
        size = len(program.encode())
    except UnicodeEncodeError:
        return "the program is not valid UTF-8 (a lone surrogate)"
    if size > MAX_PROGRAM:
        return f"the program has {size} bytes; at most {MAX_PROGRAM} are allowed"
    if "\0" in program:
        return "the program holds a NUL character"
    return ""
