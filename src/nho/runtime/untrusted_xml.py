"""Untrusted XML as a tree of elements.

A document type may declare entities that grow a thousandfold when they are used, defaults that are
repeated in every element, and files or addresses to be read. No format that is read here needs any
of it, so declarations are refused before the first one takes effect, in whatever encoding they are
written. Addresses are never followed.
"""

from __future__ import annotations

from xml.etree import ElementTree
from xml.parsers import expat

Element = ElementTree.Element


class DoctypeRefused(ValueError):
    """The document has a DOCTYPE with declarations."""


def parse_xml(data: bytes | str) -> Element:
    """The root element.

    Raises
    ------
    DoctypeRefused
        If there is a DOCTYPE with declarations; one that only names the document is fine.
    ValueError
        If it is not XML.
    """
    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _only_a_name
    parser.SkippedEntityHandler = _unknown
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError) as problem:  # the latter for an unknown encoding
        raise ValueError(str(problem)) from problem
    root: Element = builder.close()
    return root


def _only_a_name(name: str, system: str | None, public: str | None, declares: int) -> None:
    if declares:
        raise DoctypeRefused(f"the document type {name!r} declares something")


def _unknown(name: str, is_parameter: int) -> None:
    raise ValueError(f"undefined entity {name!r}")
