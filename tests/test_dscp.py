"""Names and numbers of code points."""

import pytest

from qosforge.dscp import DSCP_NAMES, dscp_label, dscp_name, parse_dscp


@pytest.mark.parametrize(
    ("value", "number"),
    [("af41", 34), ("EF", 46), ("cs6", 48), ("default", 0), ("le", 1), ("34", 34), (0, 0), (63, 63)],
)
def test_names_and_numbers(value: object, number: int) -> None:
    assert parse_dscp(value) == number


@pytest.mark.parametrize("value", [-1, 64, 10**30, "64", "af51", "", "4_6", " 46", "４６", True, None, 46.0, [46]])
def test_what_is_no_code_point_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="0 to 63"):
        parse_dscp(value)


def test_every_number_reads_back_from_its_name() -> None:
    assert [parse_dscp(dscp_name(number)) for number in range(64)] == list(range(64))


def test_assured_forwarding_is_class_and_drop_precedence() -> None:
    assert all(DSCP_NAMES[f"af{c}{d}"] == 8 * c + 2 * d for c in range(1, 5) for d in range(1, 4))
    assert all(DSCP_NAMES[f"cs{c}"] == 8 * c for c in range(8))


@pytest.mark.parametrize(("number", "name"), [(0, "default"), (8, "cs1"), (44, "44"), (1, "1"), (46, "ef")])
def test_devices_get_the_names_they_know(number: int, name: str) -> None:
    assert dscp_name(number) == name


@pytest.mark.parametrize(
    ("number", "label"),
    [(0, "default"), (8, "cs1"), (34, "af41"), (44, "voice-admit (44)"), (1, "le (1)"), (46, "ef"), (45, "45")],
)
def test_people_get_every_name_and_the_number_where_devices_print_it(number: int, label: str) -> None:
    assert dscp_label(number) == label
