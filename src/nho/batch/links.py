"""Nothing that is written may lead out of the folder that the user named.

That folder may come from somebody else, in an archive of meshes say, with a link in it under a name
that we are going to write. Links that the user names are another matter: they are followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from nho.errors import InputError

_is_junction = getattr(os.path, "isjunction", lambda path: False)  # Windows, Python 3.12


def refuse_links(places: Iterable[Path]) -> None:
    """Raise an `InputError` if one of these places inside of an output folder is a link."""
    for place in places:
        if place.is_symlink() or _is_junction(place):
            raise InputError(
                f"{place}: this is a link, which may lead out of the folder; remove it or give "
                "another --out"
            )
