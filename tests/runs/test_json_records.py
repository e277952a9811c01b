from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qosforge.errors import DeviceError, InputError, InputErrors, Place, QosforgeError, RefusedError
from qosforge.runs.engine import json_records
from qosforge.runs.engine.port import RecordedError
from qosforge.runs.record.leases import DeviceLocked

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(json_values)
def test_plain_json_survives(value: object) -> None:
    assert json_records.decode(json_records.encode(json_records.require_plain_json(value, "it"))) == value


@pytest.mark.parametrize(
    "value", [(1, 2), {"a": (1,)}, {1: "x"}, {"x": {1}}, float("nan"), Path("x"), b"x", object()]
)
def test_what_would_change_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="the result is not plain JSON"):
        json_records.require_plain_json(value, "the result")


@pytest.mark.parametrize(
    "error",
    [
        InputError("percent over 100", Place(file="p.yaml", line=7, path="classes[0]"), "lower one"),
        RefusedError("no LLQ", Place(device="sw1", interface="Gi0/1", direction="output")),
        DeviceError("% Invalid input", Place(device="r1"), "look at the line"),
        DeviceLocked("held", Place(device="r1"), "wait"),
        QosforgeError("x"),
    ],
)
def test_our_errors_come_back_as_they_were(error: QosforgeError) -> None:
    back = json_records.decode(json_records.encode(error))
    assert type(back) is type(error)
    assert (back.message, back.where, back.hint, str(back)) == (
        error.message,
        error.where,
        error.hint,
        str(error),
    )


def test_a_collection_of_errors_comes_back_whole() -> None:
    errors = [InputError("one", Place(file="p", line=1)), InputErrors("two", errors=[InputError("three")])]
    back = json_records.decode(json_records.encode(InputErrors("several", errors=errors)))
    assert isinstance(back, InputErrors)
    assert str(back) == "p:1: one\nthree"


def test_an_error_of_a_class_that_is_gone_comes_back_as_its_nearest_kin() -> None:
    text = json_records.encode(DeviceError("gone", Place(device="r1"))).replace(
        '"DeviceError"', '"OldError","DeviceError"'
    )
    assert type(json_records.decode(text)) is DeviceError


def test_an_error_under_its_earlier_name_comes_back_as_what_it_is_called_now() -> None:
    text = json_records.encode(DeviceLocked("another run has it", Place(device="r1")))
    assert type(json_records.decode(text.replace('"DeviceLocked"', '"LeaseHeld"'))) is DeviceLocked


def test_a_class_with_fields_of_its_own_comes_back_as_its_nearest_kin() -> None:
    @dataclass(eq=False)
    class LineRefused(DeviceError):
        line: str = ""

        def __init__(self, line: str) -> None:
            super().__init__(f"refused {line}")
            self.line = line

    back = json_records.decode(json_records.encode(LineRefused("mls qos")))
    assert type(back) is DeviceError
    assert back.message == "refused mls qos"


def test_other_errors_keep_their_name() -> None:
    back = json_records.decode(json_records.encode(ZeroDivisionError("division by zero")))
    assert isinstance(back, RecordedError)
    assert back.message == "ZeroDivisionError: division by zero"
