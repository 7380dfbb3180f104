"""How much memory a match needs and how much there is."""

from __future__ import annotations

import os
from pathlib import Path

from nho.runtime.parallel import thread_count

# Peaks measured on both presets up to 20,000 vertices per mesh, report included, times 1.3 or more.
_PROCESS = 150 << 20  # bytes: the interpreter and the libraries
_PER_FULL_VERTEX = 20_000  # bytes
_PER_PARTIAL_VERTEX = 8_000  # bytes
# Address space that a match takes beyond its memory: libraries loaded on the way, stacks and heaps
# of threads. Measured: up to 63 MB, with one thread and with two.
_ADDRESSES, _ADDRESSES_PER_THREAD = 64 << 20, 8 << 20  # bytes
_ROOT = Path("/")  # where /proc and /sys are


def estimated_memory(n_partial: int, n_full: int) -> int:
    """Bytes that one process needs at most to match meshes with so many vertices."""
    return _PROCESS + _PER_FULL_VERTEX * n_full + _PER_PARTIAL_VERTEX * n_partial


def available_memory() -> int | None:
    """Bytes that can still be taken without swapping or breaking a limit; None if unknown.

    The smallest of what the machine has, what the control groups of this process (containers,
    job schedulers) leave, and what its own limit (``ulimit -v``) does. Where the system does not
    report what is free (macOS), all its memory.
    """
    found = (_free_in_machine(), _left_of_addresses(), *_left_in_groups())
    known = [value for value in found if value is not None]
    return max(0, min(known)) if known else None


def readable_size(size: float) -> str:
    """Bytes as people read them, such as ``7 bytes``, ``65.5 kB`` (thousands) or ``3.0 GB``."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if round(size / factor, 1) >= 1:
            return f"{size / factor:.1f} {unit}"
    return f"{size:.0f} bytes"


def _free_in_machine() -> int | None:
    for line in _text(_ROOT / "proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    for pages in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"):
        try:
            found = os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, ValueError, OSError):
            continue
        if found > 0:
            return found
    return None


def _left_of_addresses() -> int | None:
    """What the limit of this process leaves, which counts addresses, used or not."""
    try:
        import resource  # not on Windows
    except ImportError:
        return None
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = _text(_ROOT / "proc/self/statm").split()[:1]
    if limit == resource.RLIM_INFINITY or not pages:
        return None
    used = int(pages[0]) * resource.getpagesize()
    return limit - used - _ADDRESSES - _ADDRESSES_PER_THREAD * thread_count(0)


def _left_in_groups() -> list[int | None]:
    """What every memory control group around this process leaves, from the inside out."""
    left = []
    for line in _text(_ROOT / "proc/self/cgroup").splitlines():
        number, controllers, place = (line.split(":", 2) + ["", ""])[:3]
        if number == "0" and not controllers:
            top, limit, used = _ROOT / "sys/fs/cgroup", "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            top = _ROOT / "sys/fs/cgroup/memory"
            limit, used = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        inner = top / place.strip("/")
        # Inside a container the path may be the host's: then only the top is there.
        folders = [f for f in (inner, *inner.parents) if f == top or top in f.parents]
        left += [_left_in_group(folder, limit, used) for folder in folders]
    return left


def _left_in_group(folder: Path, limit: str, used: str) -> int | None:
    highest, now = _text(folder / limit).strip(), _text(folder / used).strip()
    if not (highest.isdigit() and now.isdigit()):  # "max", or no such group
        return None
    # Cached files count as used but are given up on demand.
    cached = 0
    for line in _text(folder / "memory.stat").splitlines():
        name, _, value = line.partition(" ")
        if name in ("inactive_file", "total_inactive_file") and value.isdigit():
            cached = max(cached, int(value))
    return int(highest) - int(now) + min(cached, int(now))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
