"""Which machine this is, for everything that is measured."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from nho.runtime.input_file import read_bytes
from nho.runtime.parallel import thread_count


def machine() -> dict[str, Any]:
    """CPU, cores, memory, system, and how busy it is."""
    return {
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "usable_cores": thread_count(0),
        "memory_gb": memory_gigabytes(),
        "system": f"{platform.system()} {platform.release().split('-')[0]} {platform.machine()}",
        "load_average": os.getloadavg() if hasattr(os, "getloadavg") else None,
    }


def cpu_name() -> str:
    """Return the processor's name as its maker gives it, where the system knows."""
    listing = Path("/proc/cpuinfo")
    if listing.exists():
        for line in read_bytes(listing).decode("utf-8", "replace").splitlines():
            if line.lower().startswith(("model name", "cpu model")):
                return line.partition(":")[2].strip()
    if platform.system() == "Darwin":
        command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stdout.strip() or platform.machine()
    return platform.processor() or platform.machine()


def memory_gigabytes() -> float | None:
    """Return the memory of the machine, free or not; None if unknown."""
    try:
        return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9, 1)
    except (AttributeError, ValueError, OSError):
        return None


def package_versions(names: tuple[str, ...]) -> dict[str, str]:
    """Versions of Python and of packages, installed or not."""
    found = {"python": platform.python_version()}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
