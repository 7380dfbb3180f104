"""The XML of a VTP file and its arrays: as text, base64 or raw bytes, plain or zlib."""

import binascii
import re
import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nho.errors import InputError
from nho.io.meshes.text import parse_numbers, quoted, token_starts
from nho.runtime.untrusted_xml import DoctypeRefused, Element, parse_xml

TYPES = {
    **{f"Int{8 * size}": f"i{size}" for size in (1, 2, 4, 8)},
    **{f"UInt{8 * size}": f"u{size}" for size in (1, 2, 4, 8)},
    **{"Float32": "f4", "Float64": "f8"},
}
_ZLIB = "vtkZLibDataCompressor"
# zlib cannot shrink data further than this, so larger claims are refused before unpacking.
_ZLIB_BEST_RATIO = 1032
# Coordinates and corners shrink tenfold at best; arrays may share appended bytes or be all zero.
_MOST_UNPACKED, _ALWAYS_UNPACKED = 50, 16 << 20  # bytes for one of the file, and for any file


@dataclass
class VtpFile:
    """The XML of a file, and what its arrays need to know about it."""

    root: Element
    name: str
    order: str
    header: np.dtype
    compressed: bool
    appended: bytes
    appended_base64: bool
    budget: int  # bytes that the arrays may still have together

    def broken(self, what: str) -> InputError:
        """The error for a damaged file."""
        return InputError(f"{self.name}: {what}; copy it again or re-export the mesh")


def open_vtp(data: bytes, name: str) -> VtpFile:
    """The XML without its appended bytes (which need not be XML), and how to read its arrays."""
    appended, appended_base64 = b"", False
    begin = re.search(rb"<AppendedData([^<>]*)>\s*_", data)
    if begin:
        end = data.rfind(b"</AppendedData>")
        if end < begin.end():
            raise InputError(f"{name}: the appended data end too early; copy or export it again")
        appended = data[begin.end() : end]
        appended_base64 = b"base64" in begin.group(1)
        data = data[: begin.end()] + data[end:]
    try:
        root = parse_xml(data)
    except DoctypeRefused as error:
        raise InputError(
            f"{name}: a VTP file has no DOCTYPE that declares anything; re-export the mesh"
        ) from error
    except ValueError as error:
        raise InputError(f"{name}: it is not valid XML ({error}); re-export the mesh") from error
    if root.tag != "VTKFile" or root.get("type") != "PolyData":
        raise InputError(
            f"{name}: it holds {quoted(root.get('type', root.tag).encode())} and not PolyData; "
            "extract the surface and export it as .vtp"
        )
    compressor = root.get("compressor", "")
    if compressor not in ("", _ZLIB):
        raise InputError(
            f"{name}: its compressor {quoted(compressor.encode())} is not supported (only none and "
            "zlib are, not LZ4 or LZMA); save it with zlib or as PLY"
        )
    order = {"LittleEndian": "<", "BigEndian": ">"}.get(root.get("byte_order", "LittleEndian"))
    header = {"UInt32": "u4", "UInt64": "u8"}.get(root.get("header_type", "UInt32"))
    if order is None or header is None:
        raise InputError(f"{name}: its byte_order or header_type is not known; re-export the mesh")
    compressed = compressor == _ZLIB
    budget = _ALWAYS_UNPACKED + _MOST_UNPACKED * (len(data) + len(appended))
    header_type: np.dtype = np.dtype(order + header)
    return VtpFile(root, name, order, header_type, compressed, appended, appended_base64, budget)


def array_of(element: Element, path: str, file: VtpFile) -> npt.NDArray[np.generic]:
    """The numbers of a DataArray, flat; those written as text come as doubles."""
    kind = TYPES.get(element.get("type", ""))
    if kind is None:
        raise file.broken(f"{path} has an unknown type {quoted(element.get('type', '').encode())}")
    text = (element.text or "").encode()
    form = element.get("format", "ascii")
    if form == "ascii":
        values = parse_numbers(text, len(token_starts(text)))
        if values is None:
            raise file.broken(f"{path} is not made of numbers")
        return values
    if form == "binary":
        raw = _payload(b"".join(text.split()), True, file)
    elif form == "appended":
        offset = element.get("offset", "").strip()
        if not (offset.isascii() and offset.isdigit()) or int(offset) >= len(file.appended):
            raise file.broken(f"{path} lies outside the appended data")
        raw = _payload(file.appended, file.appended_base64, file, int(offset))
    else:
        raise file.broken(f"{path} has an unknown format {quoted(form.encode())}")
    item = np.dtype(file.order + kind)
    # Counted as the doubles they become: one byte of the file may be eight of memory.
    file.budget -= 8 * (len(raw) // item.itemsize)
    if file.budget < 0:
        raise file.broken("its arrays unpack to far more than any mesh does")
    if len(raw) % item.itemsize:
        raise file.broken(f"{path} ends inside a number")
    return np.frombuffer(raw, dtype=item).astype(item.newbyteorder("="))


class _Stream:
    """Bytes to take one after the other, raw or out of base64 text."""

    def __init__(self, data: bytes, base64: bool, file: VtpFile, at: int) -> None:
        self.data, self.base64, self.file = data, base64, file
        self.at, self.ready = at, b""

    def take(self, count: int) -> bytes:
        if not self.base64:
            taken = self.data[self.at : self.at + count]
            self.at += len(taken)
        else:
            quads = -(-max(count - len(self.ready), 0) // 3)
            text = self.data[self.at : self.at + 4 * quads]
            self.at += len(text)
            try:
                self.ready += binascii.a2b_base64(text, strict_mode=True)
            except binascii.Error as error:
                raise self.file.broken(f"its base64 is damaged ({error})") from error
            # Padding ends a base64 text, and the next one begins at a new group of four.
            taken, self.ready = self.ready[:count], self.ready[count:]
        if len(taken) < count:
            raise self.file.broken(f"an array needs {count} bytes but {len(taken)} are left")
        return taken

    def numbers(self, count: int) -> list[int]:
        size = self.file.header.itemsize
        return [
            int(number) for number in np.frombuffer(self.take(count * size), dtype=self.file.header)
        ]


def _payload(data: bytes, base64: bool, file: VtpFile, at: int = 0) -> bytes:
    """The bytes of one array: unwrapped from its size header, base64 and zlib blocks."""
    stream = _Stream(data, base64, file, at)
    if not file.compressed:
        (size,) = stream.numbers(1)
        return stream.take(size)
    n_blocks, block_size, last_size = stream.numbers(3)
    if n_blocks == 0:
        return b""
    if n_blocks * file.header.itemsize > len(data):
        raise file.broken(f"an array promises {n_blocks} blocks, more than the file can hold")
    packed_sizes = stream.numbers(n_blocks)
    sizes = [block_size] * n_blocks
    if last_size:
        sizes[-1] = last_size
    if sum(sizes) > file.budget:
        raise file.broken("its arrays unpack to far more than any mesh does")
    blocks = []
    for packed_size, size in zip(packed_sizes, sizes, strict=True):
        if size > _ZLIB_BEST_RATIO * packed_size + _ZLIB_BEST_RATIO:
            raise file.broken(f"a block of {packed_size} bytes promises to unpack to {size}")
        try:
            unpacker = zlib.decompressobj()
            block = unpacker.decompress(stream.take(packed_size), size + 1)
        except zlib.error as error:
            raise file.broken(f"a zlib block is damaged ({error})") from error
        if len(block) != size or not unpacker.eof:
            raise file.broken(f"a zlib block does not unpack to the {size} bytes it promises")
        blocks.append(block)
    return b"".join(blocks)
