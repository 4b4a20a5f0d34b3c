"""What a server that we start may know and use of this machine."""

import os
from pathlib import Path

PASSED_ON = frozenset({"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "LD_PRELOAD", "VIRTUAL_ENV"})
PASSED_ON_PREFIXES = ("GGML_", "CUDA_", "NVIDIA_", "ROCM_", "HIP_", "OMP_", "VLLM_", "NCCL_")


def plain_environment(**extra: str) -> dict[str, str]:
    """The environment variables a model server needs; no key or token of ours is among them."""
    kept = {k: v for k, v in os.environ.items() if k in PASSED_ON or k.startswith(PASSED_ON_PREFIXES)}
    return {k: v for k, v in kept.items() if not _secret(k)} | extra


def _secret(name: str) -> bool:
    return any(word in name for word in ("KEY", "TOKEN", "SECRET", "PASSWORD"))


def usable_cores() -> int:
    """Cores this process may keep busy: its CPU set, and the container's quota where there is one."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        cores = min(cores, max(1, int(quota) // int(period)))
    except (OSError, ValueError):
        pass  # no quota: the file is absent or says "max"
    return max(1, cores)
