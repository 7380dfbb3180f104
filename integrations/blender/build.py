"""Write the add-on as a zip: ``python integrations/blender/build.py nho_blender.zip``."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def build(target: Path) -> Path:
    """A zip that `Edit > Preferences > Add-ons > Install from Disk` takes."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((HERE / "nho_blender").iterdir()):
            if path.suffix in (".py", ".toml"):
                archive.write(path, f"nho_blender/{path.name}")
        archive.write(HERE / "LICENSE.md", "nho_blender/LICENSE.md")
    return target


if __name__ == "__main__":
    print(build(Path(sys.argv[1] if len(sys.argv) > 1 else "nho_blender.zip")))
