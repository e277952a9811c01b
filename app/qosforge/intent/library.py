"""The parameters that the libraries included by a policy leave open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qosforge.errors import InputError
from qosforge.intent.includes import SHIPPED, Header, Sheets, TextFiles
from qosforge.intent.parameters import Parameter
from qosforge.intent.policy_source import PolicySource, shipped_texts
from qosforge.intent.yaml_source import YamlDocument, parse_document


def library_parameters(source: PolicySource) -> dict[str, Parameter]:
    """The parameters that a policy's libraries declare, with the values that they give, as far as they can be read.

    A value of the policy's own takes the place of each.
    """
    return {
        name: Parameter(value, document.place(("parameters", name)))
        for document, header in _sheets(source)
        if document.file != source.file
        for name, value in header.parameters.items()
    }


def trimmed(source: PolicySource) -> PolicySource:
    """The same policy with those texts beside it alone that it includes: while it is edited, that changes."""
    files = {document.file for document, _ in _sheets(source)}
    return replace(source, included={name: text for name, text in source.included.items() if name in files})


def libraries() -> tuple[str, ...]:
    """Files of classes that ship with qosforge, as an include names them."""
    inside = f"{SHIPPED}/"
    names = (name.removeprefix(inside) for name in shipped_texts())
    return tuple(name for name in names if "/" in name)


def _sheets(source: PolicySource) -> Sequence[tuple[YamlDocument, Header]]:
    """The files that make up a policy, as far as they can be read."""
    try:
        own = parse_document(source.text, source.file)
    except InputError:
        return ()
    if not isinstance(own.data, dict):
        return ()
    sheets = Sheets(TextFiles(source.texts()))
    sheets.take(own)
    return sheets.order
