"""What the libraries that a policy includes leave open to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from qosforge.errors import InputError
from qosforge.intent.includes import SHIPPED, Header, Sheets, Texts
from qosforge.intent.parameters import Parameter
from qosforge.intent.policy_source import PolicySource, shipped_texts
from qosforge.intent.yaml_source import Document, parse_document


def library_parameters(written: PolicySource) -> dict[str, Parameter]:
    """The parameters that a policy's libraries declare, with the values that they give, as far as they can be read.

    A value of the policy's own takes the place of each.
    """
    return {
        name: Parameter(value, document.place(("parameters", name)))
        for document, header in _sheets(written)
        if document.file != written.file
        for name, value in header.parameters.items()
    }


def trimmed(written: PolicySource) -> PolicySource:
    """The same policy with those texts beside it alone that it includes: while it is edited, that changes."""
    files = {document.file for document, _ in _sheets(written)}
    return replace(written, included={name: text for name, text in written.included.items() if name in files})


def libraries() -> tuple[str, ...]:
    """Files of classes that ship with qosforge, as an include names them."""
    inside = f"{SHIPPED}/"
    names = (name.removeprefix(inside) for name in shipped_texts())
    return tuple(name for name in names if "/" in name)


def _sheets(written: PolicySource) -> Sequence[tuple[Document, Header]]:
    """The files that make up a policy, as far as they can be read."""
    try:
        own = parse_document(written.text, written.file)
    except InputError:
        return ()
    if not isinstance(own.data, dict):
        return ()
    sheets = Sheets(Texts(written.texts()))
    sheets.take(own)
    return sheets.order
