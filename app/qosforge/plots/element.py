"""An SVG document of matplotlib as an element that stands in any page, whatever the page's security policy.

A policy without ``unsafe-inline`` ignores style sheets and style attributes, and pages carry several plots. So
every declaration becomes a presentation attribute (SVG 1.1, chapter 6.3), and identifiers become the element's own.
"""

from __future__ import annotations

import hashlib
import re
import xml.etree.ElementTree as ET

from qosforge.plots.style import FONTS, INK

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_LONG_PATH = 500
"""Characters of a path that is a curve, of which a tenth of a point does not show."""
_CURVED = re.compile("[CQ]")
_COORDINATES = ("d", "transform", "x", "y", "width", "height")

_WHOLE = {
    "xmlns": "http://www.w3.org/2000/svg",
    "role": "img",
    "font-family": ", ".join(FONTS),
    # What matplotlib says in its style sheet.
    "stroke-linejoin": "round",
    "stroke-linecap": "butt",
}


def embeddable(document: str, title: str, description: str) -> str:
    """Cut an SVG document down to an ``<svg>`` element: no style in it, its own identifiers, named and described.

    What is drawn in `INK` gets the colour of the text around it. Coordinates are rounded to
    what shows, at half the length.
    """
    root = ET.fromstring(document)  # noqa: S314 - our own document
    for each in root.iter():
        each.tag = each.tag.removeprefix(_SVG)
        each.text = each.text if each.tag == "text" else None
        each.tail = None
        _restyle(each)
    for parent in list(root.iter()):
        for child in [child for child in parent if child.tag in ("style", "metadata")]:
            parent.remove(child)
    content = ET.tostring(root, encoding="unicode")
    said = "\n".join((title, description, content))
    mark = f"q{hashlib.sha256(said.encode()).hexdigest()[:10]}"
    _rename(root, mark)
    _unwrap(root)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib.update(_WHOLE, **{"aria-labelledby": f"{mark}-title {mark}-desc"})
    for place, (tag, text) in enumerate((("title", title), ("desc", description))):
        words = ET.Element(tag, id=f"{mark}-{tag}")
        words.text = text
        root.insert(place, words)
    return ET.tostring(root, encoding="unicode") + "\n"


def _restyle(element: ET.Element) -> None:
    """Declarations as attributes, and shorter numbers. Matplotlib gives no element both."""
    if _HREF in element.attrib:
        element.set("href", element.attrib.pop(_HREF))
    for declaration in filter(None, element.attrib.pop("style", "").split(";")):
        name, value = (part.strip() for part in declaration.split(":", 1))
        if name != "font-family":  # the whole has one
            element.set(name, "currentColor" if value == INK else value)
    for name in _COORDINATES:
        if name in element.attrib:
            value = " ".join(element.attrib[name].split())
            value = _LONG_NUMBER.sub(_tenths if len(value) > _LONG_PATH else _hundredths, value)
            # After a move to, a line to need not be named.
            element.set(name, value.replace(" L", "") if name == "d" and not _CURVED.search(value) else value)


def _tenths(number: re.Match[str]) -> str:
    return f"{float(number[0]):.1f}".removesuffix(".0")


def _hundredths(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _rename(root: ET.Element, mark: str) -> None:
    """Prefix the identifiers that are referred to, and drop the others."""
    used: set[str] = set()
    for each in root.iter():
        if "href" in each.attrib:
            own = each.attrib["href"].removeprefix("#")
            used.add(own)
            each.set("href", f"#{mark}-{own}")
        for name, value in each.attrib.items():
            used.update(_REFERENCE.findall(value))
            each.set(name, _REFERENCE.sub(rf"url(#{mark}-\1)", value))
    for each in root.iter():
        own = each.attrib.pop("id", "")
        if own in used:
            each.set("id", f"{mark}-{own}")


def _unwrap(element: ET.Element) -> None:
    """Take out groups that group nothing: they are two thirds of all elements."""
    children: list[ET.Element] = []
    for child in element:
        _unwrap(child)
        children += [child] if child.tag != "g" or child.attrib else list(child)
    element[:] = [child for child in children if len(child) or child.attrib or child.text]
