"""Programs that attack: each tries one thing from inside, with imports and builtins left to it.

`attempt(path)` gets the path of a file with a secret. What it returns would be a break-out, what it raises is a wall
that held; programs that attack the protocol or the clock do not return at all.
"""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from spade.outcomes import CallOutcome
from spade.ports import Limits

OK, ERROR, TIMEOUT = CallOutcome.OK, CallOutcome.ENV_ERROR, CallOutcome.ENV_TIMEOUT
PROTOCOL, MEMORY = CallOutcome.ENV_PROTOCOL, CallOutcome.ENV_MEMORY
LIMITS = Limits(wall_seconds=0.25, cpu_seconds=1.0, memory_mb=128, scratch_mb=8)

PROGRAM = """
import ctypes, errno, os, signal, socket, struct, sys, resource

libc = ctypes.CDLL(None, use_errno=True)

def call(function, *arguments):
    '''A C function by name or a system call by number; an error becomes an exception.'''
    if isinstance(function, int):
        result = libc.syscall(function, *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    else:
        result = getattr(libc, function)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return f"{function} answered {result}"

def attempt(path):
BODY

class HostileEnv:
    def reset(self, seed=None):
        return "ready", {}

    def step(self, action):
        try:
            seen = f"broke out: {attempt(action)}"
        except (OSError, RuntimeError, ValueError, ImportError, AttributeError, EOFError) as error:
            seen = f"held: {type(error).__name__}: {error}"
        return seen, 0.0, False, False, {}
"""


@dataclass(frozen=True)
class Hostile:
    """A program, and how a step of it may end."""

    name: str
    program: str
    ends: frozenset[CallOutcome]
    batched: bool = False
    bundled: bool = False

    def __str__(self) -> str:
        return self.name


def tries(name: str, body: str, *ends: CallOutcome) -> Hostile:
    """An attempt that must be refused, or end as said."""
    text = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return Hostile(name, PROGRAM.replace("BODY", text), frozenset(ends or {OK}))


def whole(name: str, program: str, *ends: CallOutcome, batched: bool = False) -> Hostile:
    """A program written out in full."""
    return Hostile(name, textwrap.dedent(program), frozenset(ends), batched)


def stepping(name: str, body: str, *ends: CallOutcome) -> Hostile:
    """A program whose `step` is this body."""
    text = textwrap.indent(textwrap.dedent(body).strip(), "        ")
    start = "import ctypes, os, re, signal, struct, sys, time, math, select\nclass HostileEnv:\n"
    start += "    def reset(self, seed=None): return 'ready', {}\n    def step(self, action):\n"
    return Hostile(name, start + text, frozenset(ends))


def time_and_processor() -> Iterator[Hostile]:
    yield stepping("loop", "while True: pass", TIMEOUT)
    yield stepping("wait forever", "select.select([], [], [])", TIMEOUT)
    yield stepping("pause", "signal.pause()", TIMEOUT)
    yield stepping("regular expression", "re.match('(a+)+$', 'a' * 64 + 'b')", TIMEOUT)
    yield stepping("huge power", "10 ** 10 ** 8", TIMEOUT)
    yield stepping("sum in C", "sum(range(10 ** 12))", TIMEOUT)
    yield stepping("huge factorial", "math.factorial(10 ** 7)", TIMEOUT)
    yield stepping(
        "ignore every signal",
        """
        for number in range(1, 65):
            try: signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError): pass
        while True: pass
        """,
        TIMEOUT,
    )
    yield stepping(
        "loop while dying", "class D:\n    def __del__(self):\n        while True: pass\ndel D", ERROR, PROTOCOL
    )
    yield stepping(
        "exception that loops when shown",
        "class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E",
        TIMEOUT,
    )
    yield stepping(
        "reward that loops when read",
        "class R(int):\n    def __float__(self):\n        while True: pass\nreturn '', R(), False, False, {}",
        TIMEOUT,
    )
    yield stepping("print forever", "while True: print('x' * 1000)", TIMEOUT)


def processes_and_threads() -> Iterator[Hostile]:
    yield tries("fork bomb", "while True: os.fork()")
    yield tries("fork by libc", "return call('fork')")
    yield tries("vfork", "return call(58)")
    yield tries("clone", "return call(56, signal.SIGCHLD, 0, 0, 0, 0)")
    yield tries("clone3", "return call(435, ctypes.create_string_buffer(88), 88)")
    yield tries(
        "multiprocessing", "import multiprocessing as m\nm.get_context('fork').Process(target=int).start()\nreturn 1"
    )
    yield tries("daemonise", "os.setsid()\nreturn os.fork()")
    yield tries("thread bomb", "import _thread\nwhile True: _thread.start_new_thread(signal.pause, ())")
    yield tries("threading", "import threading\nthreading.Thread(target=int).start()\nreturn 1")
    yield tries("subprocess", "import subprocess\nreturn subprocess.run(['/bin/true'])")
    yield tries("execv", "os.execv('/bin/true', ['true'])")
    yield tries("execveat", "return call(322, -100, b'/bin/true', 0, 0, 0)")
    yield tries("os.system", "code = os.system('true')\nif code in (-1, 127, 32512): raise OSError(code)\nreturn code")
    yield tries("posix_spawn", "return os.posix_spawn('/bin/true', ['true'], {})")


def memory_and_space() -> Iterator[Hostile]:
    yield stepping("ten gigabytes", "bytearray(10 ** 10)", MEMORY)
    yield stepping("long text", "return 'x' * 10 ** 10, 0.0, False, False, {}", MEMORY)
    yield stepping("growing list", "held = []\nwhile True: held.append(bytearray(10 ** 6))", MEMORY)
    yield stepping(
        "swallow memory errors",
        """
        held = []
        while True:
            try: held.append(bytearray(10 ** 6))
            except MemoryError: pass
        """,
        TIMEOUT,
    )
    yield tries("mapping of ten gigabytes", "import mmap\nreturn mmap.mmap(-1, 10 ** 10)")
    yield tries(
        "a million mappings",
        "import mmap\nheld = [mmap.mmap(-1, 4096) for _ in range(10 ** 6)]\nreturn 1",
        OK,
        MEMORY,
        TIMEOUT,
    )
    yield stepping("recursion", "def f(): return f()\nf()", ERROR)
    yield stepping(
        "recursion without limit",
        "sys.setrecursionlimit(10 ** 9)\ndef f(): return f()\nf()",
        PROTOCOL,
        MEMORY,
        TIMEOUT,
        ERROR,
    )
    yield stepping(
        "stack overflow in C", "x = ()\nfor _ in range(10 ** 6): x = (x,)\nhash(x)", PROTOCOL, MEMORY, TIMEOUT
    )
    yield tries("memfd", "return os.memfd_create('x')")
    yield tries(
        "shared memory", "from multiprocessing import shared_memory as s\nreturn s.SharedMemory(create=True, size=9)"
    )
    yield tries("lock memory", "return call('mlockall', 3)")
    yield tries(
        "fill the scratch folder",
        """
        written = 0
        with open("filling", "wb") as f:
            while written < 1 << 30:
                written += f.write(bytes(1 << 20))
        return written
        """,
    )
    yield tries("fill it with files", "for number in range(10 ** 5): open(f'file{number}', 'w').close()\nreturn number")
    yield tries("all descriptors", "while True: os.dup(0)")
    yield tries("sparse file", "with open('sparse', 'wb') as f: f.truncate(1 << 40)\nreturn 1")
    yield tries(
        "raise limits", "inf = resource.RLIM_INFINITY\nresource.setrlimit(resource.RLIMIT_AS, (inf, inf))\nreturn 1"
    )
    yield tries("limits of others", "return resource.prlimit(os.getppid() or 1, resource.RLIMIT_NOFILE, (0, 0))")


def files() -> Iterator[Hostile]:
    yield tries("secret file", "return open(path).read()")
    yield tries("secret file by descriptor", "return os.read(os.open(path, os.O_RDONLY), 99)")
    yield tries("secret file by the back door", "return open('/proc/self/root' + path).read()")
    yield tries("secret file by climbing", "os.chdir('../../../../../..')\nreturn open(path.lstrip('/')).read()")
    yield tries("password file", "return open('/etc/passwd').read()")
    yield tries("shadow file", "return open('/etc/shadow').read()")
    yield tries("parent's environment", "return open(f'/proc/{os.getppid() or 1}/environ', 'rb').read()")
    yield tries("parent's memory", "return open(f'/proc/{os.getppid() or 1}/mem', 'rb').read(9)")
    yield tries("own environment by file", "return open('/proc/self/environ', 'rb').read()")
    yield tries("list of processes", "return os.listdir('/proc')")
    yield tries("homes", "return [name for home in ('/root', '/home') for name in os.listdir(home)]")
    yield tries("write at the top", "return os.open('/hostile', os.O_CREAT | os.O_WRONLY)")
    yield tries("write into tmp", "return os.open('/tmp/hostile', os.O_CREAT | os.O_WRONLY)")
    yield tries("write into the library", "return os.open(os.__file__, os.O_WRONLY)")
    yield tries("delete the secret", "return os.unlink(path)")
    yield tries("link to the secret", "os.symlink(path, 'link')\nreturn open('link').read()")
    yield tries("hard link to the secret", "return os.link(path, 'link')")
    yield tries("change its mode", "return os.chmod(path, 0o777)")
    yield tries("change its owner", "return os.chown(path, os.getuid(), os.getgid())")
    yield tries("device nodes", "return os.mknod('disk', 0o60666, os.makedev(8, 0))")
    yield tries("kernel memory", "return open('/dev/mem', 'rb').read(9)")
    yield tries("kernel log", "return open('/dev/kmsg').read(9)")
    yield tries("core pattern", "return open('/proc/sys/kernel/core_pattern', 'w').write('|/x')")
    yield tries("sysfs", "return os.listdir('/sys/kernel')")
    yield tries(
        "other descriptors",
        """
        found = []
        for number in range(4, 64):
            try: found.append(os.fstat(number))
            except OSError: pass
        if not found: raise OSError("none")
        return found
        """,
    )


def network() -> Iterator[Hostile]:
    yield tries("tcp", "return socket.create_connection(('127.0.0.1', 22), 1)")
    yield tries("udp", "return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 53))")
    yield tries("listen", "s = socket.socket()\ns.bind(('127.0.0.1', 0))\ns.listen()\nreturn s")
    yield tries("ipv6", "return socket.socket(socket.AF_INET6)")
    yield tries("raw", "return socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)")
    yield tries("packets", "return socket.socket(socket.AF_PACKET, socket.SOCK_RAW)")
    yield tries("abstract socket", "return socket.socket(socket.AF_UNIX).connect('\\0hostile')")
    yield tries("socket pair", "return socket.socketpair()")
    yield tries("netlink", "return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)")
    yield tries("vsock", "return socket.socket(40, socket.SOCK_STREAM)")
    yield tries("name lookup", "return socket.getaddrinfo('example.com', 80)")
    yield tries("message out of band", "return socket.socket(fileno=3).send(b'x', socket.MSG_OOB)")


def kernel() -> Iterator[Hostile]:
    yield tries("kill the parent", "return os.kill(os.getppid(), signal.SIGKILL)\n")
    yield tries("kill everybody", "return os.kill(-1, signal.SIGKILL)")
    yield tries("kill the group", "return os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)")
    yield tries("signal another thread group", "return call(234, os.getppid() or 2, os.getppid() or 2, 9)")
    yield tries("signal by pidfd", "return signal.pidfd_send_signal(os.pidfd_open(os.getppid() or 1), 0)")
    yield tries("signal by descriptor", "import fcntl\nfcntl.fcntl(3, 8, os.getppid())\nreturn fcntl.fcntl(3, 10, 9)")
    yield tries("trace", "return call(101, 16, os.getppid() or 1, 0, 0)")
    yield tries("read memory of others", "return call(310, os.getppid() or 1, 0, 0, 0, 0, 0)")
    yield tries("steal a descriptor", "return call(438, 3, 0, 0)")
    yield tries("io_uring", "return call(425, 8, ctypes.create_string_buffer(120))")
    yield tries("bpf", "return call(321, 0, ctypes.create_string_buffer(64), 64)")
    yield tries("perf", "return call(298, ctypes.create_string_buffer(112), 0, -1, -1, 0)")
    yield tries("keyring", "return call(250, 0, -3, 1)")
    yield tries("userfaultfd", "return call(323, 1)")
    yield tries("user namespace", "return call('unshare', 0x10000000)")
    yield tries("mount namespace", "return call('unshare', 0x00020000)")
    yield tries("enter a namespace", "return call('setns', 3, 0)")
    yield tries("mount", "return call('mount', b'none', b'/w', b'tmpfs', 0, None)")
    yield tries("pivot root", "return call(155, b'/', b'/')")
    yield tries("change root", "return os.chroot('/')")
    yield tries("type into a terminal", "import fcntl\nreturn fcntl.ioctl(0, 0x5412, b'x')")
    yield tries("become root", "return os.setresuid(0, 0, 0)")
    yield tries("capabilities", "return call('capset', struct.pack('<Ii', 0x20080522, 0), bytes([255]) * 24)")
    yield tries("another filter", "return call('prctl', 22, 2, 0)")
    yield tries("dumpable again", "return call('prctl', 4, 1, 0, 0, 0)")
    yield tries("outlive the server", "return call('prctl', 1, 0, 0, 0, 0)")
    yield tries("real-time priority", "return os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(9))")
    yield tries("set the clock", "import time\nreturn time.clock_settime(time.CLOCK_REALTIME, 0)")
    yield tries("load a module", "return call(175, 0, 0, 0)")
    yield tries("reboot", "return call(169, 0xFEE1DEAD, 672274793, 0, 0)")
    yield tries("other call numbers", "return call(0x40000000 + 39)", PROTOCOL)


def crashes_and_protocol() -> Iterator[Hostile]:
    yield stepping("exit", "os._exit(0)", PROTOCOL)
    yield stepping("exit by exception", "sys.exit(0)", ERROR)
    yield stepping("interrupt", "raise KeyboardInterrupt", ERROR)
    yield stepping("unknown base exception", "raise type('Odd', (BaseException,), {})", ERROR)
    yield stepping("crash", "ctypes.string_at(0)", PROTOCOL)
    yield stepping("abort", "os.abort()", PROTOCOL)
    yield stepping("close the connection", "os.close(3)\nwhile True: pass", PROTOCOL)
    yield stepping("replace the connection", "os.dup2(0, 3)", PROTOCOL)
    yield stepping("garbage", "os.write(3, os.urandom(64))\nwhile True: pass", PROTOCOL, TIMEOUT)
    yield stepping(
        "announce four gigabytes", "os.write(3, struct.pack('<I', 2 ** 32 - 1) + b'x')\nwhile True: pass", PROTOCOL
    )
    yield stepping("announce and stall", "os.write(3, struct.pack('<I', 9))\nwhile True: pass", TIMEOUT)
    yield stepping("flood", "while True: os.write(3, bytes(65536))", PROTOCOL)
    yield stepping(
        "flood of a long answer",
        "os.write(3, struct.pack('<I', (1 << 20) - 1))\nwhile True: os.write(3, b'x' * 65536)",
        PROTOCOL,
        TIMEOUT,
    )
    yield stepping(
        "drip",
        """
        os.write(3, struct.pack('<I', 10 ** 5))
        while True:
            os.write(3, b'x')
            select.select([], [], [], 0.001)
        """,
        TIMEOUT,
    )
    for name, body in {
        "not a number": "struct.pack('<IIBdB', 14, 3, 3, math.nan, 0)",
        "infinite": "struct.pack('<IIBdB', 14, 3, 3, math.inf, 0)",
        "strange flags": "struct.pack('<IIBdB', 14, 3, 3, 1.0, 200)",
        "cut short": "struct.pack('<IIB', 5, 3, 3)",
        "broken text": "struct.pack('<IIBdB', 18, 3, 3, 1.0, 0) + b'\\xff\\xfe\\xfd\\xfc'",
        "another kind": "struct.pack('<IIB', 5, 3, 2)",
        "an unknown kind": "struct.pack('<IIB', 5, 3, 77)",
        "another number": "struct.pack('<IIBdB', 14, 9, 3, 1.0, 0)",
        "two answers": "struct.pack('<IIBdB', 14, 3, 3, 1.0, 0) * 2",
        "never started": "struct.pack('<IIB', 5, 0, 9)",
    }.items():
        yield stepping(f"forged answer: {name}", f"os.write(3, {body})\nwhile True: pass", PROTOCOL)
    for name, body in {
        "a million steps": "struct.pack('<IIBIBBI', 15, 3, 4, 10 ** 6, 0, 0, 0)",
        "too few steps": "struct.pack('<IIBIBBI', 15, 3, 4, 0, 0, 0, 0)",
        "lengths that lie": "struct.pack('<IIBIBBIdII', 31, 3, 4, 1, 0, 0, 8, 1.0, 1 | 1 << 31, 10 ** 9)",
        "more texts than steps": "struct.pack('<IIBIBBIdI', 29, 3, 4, 1, 0, 0, 6, 1.0, 1) + bytes(2)",
        "a list that never ends": "struct.pack('<IIBIBBIdI', 27, 3, 4, 1, 0, 0, 4, 1.0, 2 ** 31 - 1)",
        "not a number": "struct.pack('<IIBIBBIdI', 27, 3, 4, 1, 0, 0, 4, math.nan, 1)",
        "strange flags": "struct.pack('<IIBIBBIdI', 27, 3, 4, 1, 0, 9, 4, 1.0, 1)",
    }.items():
        forged = stepping(f"forged batch: {name}", f"os.write(3, {body})\nwhile True: pass", PROTOCOL)
        yield Hostile(forged.name, forged.program, forged.ends, batched=True)
    for name, body in {
        "cut short": "struct.pack('<IIBB', 6, 3, 11, 3)",
        "more answers than calls": "struct.pack('<IIB', 45, 3, 11) + struct.pack('<BI', 5, 0) * 8",
        "lengths that lie": "struct.pack('<IIBBI', 10, 3, 11, 3, 2 ** 31)",
        "nothing": "struct.pack('<IIB', 5, 3, 11)",
    }.items():
        forged = stepping(f"forged bundle: {name}", f"os.write(3, {body})\nwhile True: pass", PROTOCOL)
        yield Hostile(forged.name, forged.program, forged.ends, batched=True, bundled=True)
    yield whole(
        "answer before being asked",
        """
        import os, struct
        class HostileEnv:
            def reset(self, seed=None):
                os.write(3, struct.pack("<IIBdB", 14, 3, 3, 1.0, 1))
                return "ready", {}
            def step(self, action): return "", 0.0, False, False, {}
        """,
        PROTOCOL,
    )
    yield stepping(
        "rewrite the driver", "import driver.frames as f\nf.frame = lambda *a: b''", PROTOCOL, TIMEOUT, ERROR
    )
    yield stepping("rewrite the driver's writer", "os.write = lambda *a: 10 ** 6", PROTOCOL, TIMEOUT)
    yield stepping("five megabytes of text", "return 'x' * 5_000_000, 0.0, False, False, {}", PROTOCOL)
    yield stepping("an error of five megabytes", "raise ValueError('x' * 5_000_000)", ERROR)
    yield stepping("an error in no alphabet", "raise ValueError('\\ud800\\0\\x1b[2J')", ERROR)


def everything() -> list[Hostile]:
    groups = (time_and_processor, processes_and_threads, memory_and_space, files, network, kernel, crashes_and_protocol)
    return [program for group in groups for program in group()]


SHORT_STEPS = """
class HostileEnv:
    def reset(self, seed=None): return "ready", {}
    def step(self, action):
        sum(range(4_000_000))
        return "", 0.0, False, False, {}
"""

ELSEWHERE = {
    "at import": "while True: pass",
    "when made": "class HostileEnv:\n    def __init__(self):\n        while True: pass",
    "in reset": "class HostileEnv:\n    def reset(self, seed=None):\n        while True: pass",
    "in solution": "class HostileEnv:\n    def reset(self, seed=None): return '', {}\n"
    "    def solution(self):\n        while True: pass",
}
