"""Points of Landmark Editor and Checkpoint (`.pts`): two lines, then name and place of each.

A point that is missing has 9999 in all coordinates, as R's Morpho reads it.
"""

from nho.errors import InputError
from nho.io.landmarks.parsing import from_text, short, text_of
from nho.io.landmarks.points import Landmarks
from nho.io.landmarks.rows import Rows

_MISSING = 9999.0


def read(data: bytes, name: str) -> Landmarks:
    """All points."""
    lines = [line.strip() for line in text_of(data, name).splitlines() if line.strip()]
    count = from_text(lines[1]) if len(lines) > 1 else None
    if count is None or not lines[0].lower().startswith("version"):
        raise InputError(
            f"{name}: it does not begin with `Version 1.0` and the number of points; export it "
            "again from Landmark or Checkpoint"
        )
    if len(lines) - 2 != count:
        raise InputError(
            f"{name}: it says {lines[1]} points and holds {len(lines) - 2}; export it again"
        )
    rows = Rows(name)
    for line in lines[2:]:
        *words, x, y, z = ["", *line.split()] if len(line.split()) >= 3 else [""] * 4
        place = [from_text("nan" if cell == "NA" else cell) for cell in (x, y, z)]
        if None in place:
            raise InputError(f"{name}: {short(line)} is no name and three numbers; correct it")
        known = [value for value in place if value is not None]
        label = " ".join(words).strip()
        if all(abs(value) == _MISSING for value in known):
            rows.missing(label)
        else:
            rows.position(label, known)
    return Landmarks.of(rows)


def write(landmarks: Landmarks) -> bytes:
    """All points; blanks in a name become underscores, as programs split lines at blanks."""
    lines = ["Version 1.0", str(len(landmarks))]
    for name, place in landmarks.named_positions():
        values = " ".join(map(repr, place or [_MISSING] * 3))
        lines.append(f"{'_'.join(name.split())} {values}")
    return ("\n".join(lines) + "\n").encode()
