"""Apply changes to a policy's text."""

from __future__ import annotations

from collections.abc import Sequence

from qosforge.errors import InputError
from qosforge.intent.editing.changes import BY_HAND, Change, NotEditable, refused
from qosforge.intent.editing.meaning import apply_change, same
from qosforge.intent.editing.source import YamlText
from qosforge.intent.editing.splices import stepped
from qosforge.intent.yaml_source import YamlDocument, parse_document

_MARK = "\ufeff"
"""Byte order mark."""


def edited(text: str, file: str, changes: Sequence[Change]) -> str:
    """The text with the changes made, one after the other; every byte that they do not concern is as it was.

    ``file`` is what messages call the text. Whatever is written is read again and compared with what was meant.

    Raises:
        NotEditable: the text is no YAML, has no such place, or is written in a way that only a person can change.
    """
    mark = _MARK if text.startswith(_MARK) else ""
    body = text.removeprefix(_MARK)
    windows = "\r\n" in body and body.count("\n") == body.count("\r") == body.count("\r\n")
    if windows:
        body = body.replace("\r\n", "\n")
    document = _parse(body, file)
    for change in changes:
        data, steps = apply_change(document, change)
        written = body
        for step in steps:
            try:
                written = stepped(YamlText(written, file), step)
            except ValueError as error:
                raise refused(str(error), document.place(change.path)) from None
        document = _check_result(written, document, data, change)
        body = written
    return mark + (body.replace("\n", "\r\n") if windows else body)


def _parse(text: str, file: str) -> YamlDocument:
    try:
        return parse_document(text, file)
    except InputError as error:
        problem = error.problems()[0]
        raise NotEditable(problem.message, problem.where, problem.hint or BY_HAND) from None


def _check_result(text: str, before: YamlDocument, data: object, change: Change) -> YamlDocument:
    """The document of a changed text.

    Raises:
        NotEditable: it does not say what was meant.
    """
    try:
        document = parse_document(text, before.file)
    except InputError:
        document = None
    if document is None or not same(document.data, data):
        raise refused("is written in a way that cannot be changed here", before.place(change.path))
    return document
