"""MeshLab's picked points (`.pp`): XML with a `point` for each."""

from nho.errors import InputError
from nho.io.landmarks.parsing import from_text, short, text_of
from nho.io.landmarks.points import Landmarks
from nho.io.landmarks.rows import Rows
from nho.runtime.untrusted_xml import DoctypeRefused, parse_xml


def read(data: bytes, name: str) -> Landmarks:
    """All points; those with `active="0"` are not set."""
    text = text_of(data, name)
    try:
        root = parse_xml(text)
    except DoctypeRefused:  # MeshLab itself writes a DOCTYPE, but an empty one
        raise InputError(
            f"{name}: picked points declare no entities; save them again in MeshLab"
        ) from None
    except ValueError as problem:
        raise InputError(f"{name}: it is not valid XML ({problem}); save it again") from None
    if root.tag != "PickedPoints":
        raise InputError(
            f"{name}: it holds {short(root.tag)}, not PickedPoints; save the points with "
            "MeshLab's PickPoints"
        )
    rows = Rows(name)
    for point in root.iterfind("point"):
        label = point.get("name", "")
        if point.get("active") == "0":
            rows.missing(label)
            continue
        places = [from_text(point.get(axis, "")) for axis in "xyz"]
        if None in places:
            axis = "xyz"[places.index(None)]
            raise InputError(
                f"{name}: point {label or len(rows)} has {axis} = {short(point.get(axis))}, which "
                "is no number; correct it"
            )
        rows.position(label, [place for place in places if place is not None])
    return Landmarks.of(rows)


def write(landmarks: Landmarks) -> bytes:
    """Picked points, as MeshLab writes them."""
    from xml.sax.saxutils import quoteattr  # it loads urllib and ssl

    lines = ["<!DOCTYPE PickedPoints>", "<PickedPoints>"]
    lines += [" <DocumentData>", '  <templateName name=""/>', " </DocumentData>"]
    for name, place in landmarks.named_positions():
        x, y, z = place or (0.0, 0.0, 0.0)
        active, label = int(place is not None), quoteattr(name)
        lines.append(f' <point x="{x!r}" y="{y!r}" z="{z!r}" active="{active}" name={label}/>')
    return "\n".join([*lines, "</PickedPoints>", ""]).encode()
