"""A run's own Prefect server, watched: started again when it dies; the run is ended when it dies again and again."""

import logging
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

WATCH_SECONDS = 0.25
PATIENCE_SECONDS = 8.0
"""How long an interrupted run may take to end by itself: Prefect's client would ask a server that is gone for minutes.
Then the process ends at once; what is stored is whole, as after any kill."""
MOST_DEATHS, DEATHS_WITHIN = 3, 60.0
LOG = logging.getLogger("spade.server")


@dataclass
class Deaths:
    """When a process died of late: whether that was too often to start it again."""

    most: int = MOST_DEATHS
    within: float = DEATHS_WITHIN
    clock: Callable[[], float] = time.monotonic
    _times: deque[float] = field(default_factory=deque)

    def one_more(self) -> bool:
        """Note a death; whether there were more than `most` within `within` seconds."""
        now = self.clock()
        self._times.append(now)
        while now - self._times[0] > self.within:
            self._times.popleft()
        return len(self._times) > self.most


class Guarded:
    """One process that `start` starts, and starts again. Prefect's client asks again for a minute, so that a run hardly
    notices. `gave_up` says that the main thread was interrupted because starting did not help; a run that has not ended
    `PATIENCE_SECONDS` later is ended by `die`, which is told whether the block around the run was left."""

    def __init__(
        self,
        start: Callable[[], "subprocess.Popen[bytes]"],
        die: Callable[[bool], None],
        deaths: Deaths | None = None,
    ) -> None:
        self._start = start
        self._die = die
        self._deaths = deaths or Deaths()
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._watch, name="guard of Prefect's server", daemon=True)
        self.gave_up = False
        self.process = start()

    def watch(self) -> None:
        """From now on it is started again."""
        self._thread.start()

    def close(self, stop: Callable[["subprocess.Popen[bytes]"], None]) -> None:
        """Stop it for good. The thread ends afterwards: what it started is killed when it ends, not asked to stop."""
        with self._lock:
            stop(self.process)
            self._ended.set()
        if self._thread.is_alive() and not self.gave_up:
            self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(WATCH_SECONDS):
            with self._lock:
                if self._ended.is_set() or self.process.poll() is None:
                    continue
                if self._deaths.one_more():
                    self.gave_up = True
                    break
                LOG.warning("Prefect's server died (exit status %s) and is started again.", self.process.returncode)
                self.process = self._start()
        if self.gave_up:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(PATIENCE_SECONDS)
            self._die(self._ended.is_set())
