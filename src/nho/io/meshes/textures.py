"""Images: those a mesh file names, and those written beside one."""

from pathlib import Path

from nho.io.meshes.model import Texture
from nho.runtime.input_file import read_bytes

_PNG, _JPEG = b"\x89PNG", b"\xff\xd8\xff"


def texture_beside(folder: Path, file: str, notes: list[str]) -> Texture | None:
    """An image that a mesh file names; None, and a note, if it was not delivered with it."""
    data = bytes_beside(folder, file, notes, "the texture")
    return None if data is None else Texture(Path(file.replace("\\", "/")).name, data)


def bytes_beside(folder: Path, file: str, notes: list[str], what: str) -> bytes | None:
    """A file in the folder of another; None, and a note, if it is not there."""
    path = file.replace("\\", "/")
    for place in (path, path.rpartition("/")[2]):  # many are moved away from where they were made
        if is_beside(folder, place):
            return read_bytes(folder / place)
    notes.append(f"{what} {file!r} is not beside the mesh file and was left out")
    return None


def is_beside(folder: Path, file: str) -> bool:
    """Whether a file is delivered with another; a mesh file must not make us read any other."""
    try:
        path = (folder / file.replace("\\", "/")).resolve()
        return path.is_relative_to(folder.resolve()) and path.is_file()
    except (OSError, ValueError):  # too long, or not a name at all
        return False


def image_files(textures: tuple[Texture, ...], stem: str) -> dict[str, bytes]:
    """The images under names of their own, which no other file of the user has."""
    files = {}
    for number, texture in enumerate(textures):
        which = "" if len(textures) == 1 else str(number)
        files[f"{stem}_texture{which}{image_suffix(texture)}"] = texture.data
    return files


def image_suffix(texture: Texture) -> str:
    """Suffix of an image file, by its first bytes, else by its name."""
    if texture.data.startswith(_PNG):
        return ".png"
    if texture.data.startswith(_JPEG):
        return ".jpg"
    ending = texture.name.rpartition(".")[2]
    return f".{ending}" if "." in texture.name and ending.isalnum() and ending.isascii() else ".img"
