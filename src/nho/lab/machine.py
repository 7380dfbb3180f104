"""Which machine this is. Standard library only: the runner must stay small (see `child`)."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any


def machine() -> dict[str, Any]:
    """CPU, cores, memory, system, and how busy it is."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "usable_cores": usable,
        "memory_gb": memory_gigabytes(),
        "system": f"{platform.system()} {platform.release().split('-')[0]} {platform.machine()}",
        "load_average": os.getloadavg() if hasattr(os, "getloadavg") else None,
    }


def cpu_name() -> str:
    """The processor's name as its maker gives it."""
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in listing.read_text().splitlines():
            if line.lower().startswith(("model name", "cpu model")):
                return line.partition(":")[2].strip()
    if platform.system() == "Darwin":
        command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        return told.stdout.strip() or platform.machine()
    return platform.processor() or platform.machine()


def memory_gigabytes() -> float | None:
    """All the memory there is."""
    try:
        return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9, 1)
    except (AttributeError, ValueError, OSError):
        return None
