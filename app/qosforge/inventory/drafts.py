"""Write to a copy of a network's folder, validate it there, and only then replace the folder."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from qosforge.errors import InputError, Place


@contextmanager
def beside(folder: Path) -> Iterator[Path]:
    """A place beside a folder, under its own name, so that it can take the folder's own in one step.

    Raises:
        InputError: nothing can be written there.
    """
    try:
        with tempfile.TemporaryDirectory(prefix=".inventory-", dir=folder.resolve().parent) as place:
            yield Path(place) / folder.resolve().name
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", Place(file=str(folder))) from None


@contextmanager
def apart(folder: Path) -> Iterator[Path]:
    """A place for a copy of a folder that is only looked at, under its own name: not beside it, where one may have
    no right to write.

    Raises:
        InputError: the folder cannot be read, or nothing can be written where temporary files go.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="qosforge-inventory-") as place:
            yield Path(place) / folder.resolve().name
    except OSError as error:
        hint = "free room for temporary files (TMPDIR), and let qosforge read the folder"
        raise InputError(f"cannot be copied: {error.strerror}", Place(file=str(folder)), hint) from None


def located(error: InputError, draft: Path, folder: Path) -> InputError:
    """The error of a draft, with the places of the folder that it is a copy of."""
    for problem in {id(one): one for one in (error, *error.problems())}.values():
        if problem.where.file is not None:
            file = problem.where.file.replace(str(draft), str(folder), 1)
            problem.where = replace(problem.where, file=file)
    return error
