"""Errors say where, what and how to mend it, and carry the exit code of the command line."""

import pytest

from qosforge.errors import (
    DeviceError,
    EngineBusy,
    InputError,
    InputErrors,
    Place,
    QosforgeError,
    RefusedError,
    ServiceError,
)


def test_an_error_tells_place_message_and_hint() -> None:
    error = InputError("is wrong", Place(file="a.yaml", line=3, column=7, path="classes[0]"), "mend it")

    assert str(error) == "a.yaml:3:7, classes[0]: is wrong (mend it)"
    assert error.problems() == [error]


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (Place(), ""),
        (Place(file="a"), "a"),
        (Place(device="r1", interface="Serial0/0", direction="output"), "r1 Serial0/0 output"),
        (Place(file="a", line=1, traffic_class="voice"), "a:1, class voice"),
    ],
)
def test_places(place: Place, text: str) -> None:
    assert str(place) == text


def test_a_collection_tells_every_problem() -> None:
    errors = [InputError("one"), InputError("two", hint="do")]

    collection = InputErrors("several", errors=errors)

    assert collection.problems() == errors
    assert str(collection) == "one\ntwo (do)"
    assert str(InputErrors("none")) == "none"


@pytest.mark.parametrize(
    ("kind", "code"),
    [(InputError, 2), (InputErrors, 2), (RefusedError, 1), (ServiceError, 3), (DeviceError, 3), (EngineBusy, 3)],
)
def test_exit_codes(kind: type[QosforgeError], code: int) -> None:
    error = kind("x")

    assert isinstance(error, QosforgeError)
    assert error.exit_code == code
