"""Findings that say the same of several classes and ports of a device: one with rows, and back."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from qosforge.cli.output import MOST_ROWS, print_findings
from qosforge.finding_rows import expand_finding, gather_findings
from qosforge.findings import Finding, FindingRow, Severity
from qosforge.reports.grouped_findings import group_findings
from qosforge.reports.preview import finding_documents
from qosforge.reports.row_table import row_table, rows_in_words


def found(**said: Any) -> Finding:
    fields: dict[str, Any] = {"code": "x", "severity": Severity.WARNING, "message": "m", "device": "r1"}
    return Finding(**{**fields, **said})


def test_what_all_share_is_said_of_the_finding_and_the_rest_in_rows() -> None:
    (one,) = gather_findings(
        [
            found(traffic_class="a", interface="Gi1", direction="output", requested="1 %", applied="x", line=3),
            found(traffic_class="b", interface="Gi1", direction="output", requested="2 %", applied="x", line=7),
        ]
    )
    assert (one.interface, one.direction, one.applied, one.traffic_class) == ("Gi1", "output", "x", None)
    assert one.rows == (
        FindingRow(traffic_class="a", requested="1 %", line=3),
        FindingRow(traffic_class="b", requested="2 %", line=7),
    )


def test_ports_where_it_is_alike_are_one_row() -> None:
    per_port = [found(traffic_class=c, interface=i, applied=c + i[:1]) for i in ("S1", "S2", "E1") for c in "ab"]
    (one,) = gather_findings(per_port)
    assert [(row.traffic_class, row.interfaces) for row in one.rows] == [
        ("a", ("S1", "S2")), ("b", ("S1", "S2")), ("a", ("E1",)), ("b", ("E1",)),
    ]  # fmt: skip


def test_other_texts_severities_devices_and_hints_stay_apart() -> None:
    apart = [
        found(),
        found(message="n"),
        found(severity=Severity.ERROR),
        found(device="r2"),
        found(hint="h"),
        found(variant="v"),
        found(code="y"),
    ]
    assert gather_findings(apart) == tuple(apart)


def test_the_same_twice_is_said_once() -> None:
    assert gather_findings([found(interface="Gi1"), found(interface="Gi1")]) == (found(interface="Gi1"),)


@given(
    st.lists(
        st.builds(
            found,
            device=st.sampled_from(["r1", "r2"]),
            interface=st.sampled_from([None, "Gi1"]),
            traffic_class=st.sampled_from([None, "a", "b"]),
            requested=st.sampled_from([None, "1", "2"]),
            applied=st.sampled_from([None, "1", "2"]),
            line=st.sampled_from([None, 3]),
        )
    )
)
def test_rows_expanded_are_the_findings_that_were_gathered(findings: list[Finding]) -> None:
    expanded = [one for finding in gather_findings(findings) for one in expand_finding(finding)]
    assert set(expanded) == set(findings)
    assert gather_findings(expanded) == gather_findings(gather_findings(findings)) == gather_findings(findings)


def test_a_table_has_the_columns_in_which_something_is_said() -> None:
    (one,) = gather_findings([found(traffic_class=c, requested=str(n)) for n, c in enumerate("ab")])
    table = row_table(one.rows)
    assert table is not None
    assert (table.headings, table.rows) == (("class", "requested"), (("a", "0"), ("b", "1")))
    assert rows_in_words(one.rows) == "class a, requested 0; class b, requested 1"
    (places,) = gather_findings([found(interface=name, direction="output") for name in ("Gi1", "Gi2")])
    assert rows_in_words(places.rows) == "Gi1, Gi2"


def test_what_devices_have_in_common_is_one_group_with_their_places() -> None:
    per_device = [
        found(device=d, traffic_class=c, interface="Gi1", requested="9", applied=c)
        for d in ("r1", "r2")
        for c in "ab"
    ]
    (group,) = group_findings(finding_documents(gather_findings(per_device)))
    assert (group.finding.requested, group.finding.device, group.places) == ("9", None, ("r1 Gi1", "r2 Gi1"))
    assert [(row.traffic_class, row.applied, row.places) for row in group.rows] == [("a", "a", ()), ("b", "b", ())]
    (apart,) = group_findings(finding_documents(gather_findings([*per_device, found(device="r3", applied="c")])))
    assert apart.places == ()
    assert [row.places for row in apart.rows] == [("r1 Gi1", "r2 Gi1"), ("r1 Gi1", "r2 Gi1"), ("r3",)]


def test_rows_stand_below_a_finding_and_of_notes_the_first(capsys: Any) -> None:
    many = [found(traffic_class=f"c{n}", applied=str(n)) for n in range(MOST_ROWS + 2)]
    print_findings(gather_findings(many))
    shown = capsys.readouterr().out.splitlines()
    assert shown[1].split() == ["class", "applied"]
    assert [line.split() for line in shown[2 : MOST_ROWS + 4]] == [[f"c{n}", str(n)] for n in range(MOST_ROWS + 2)]
    print_findings(gather_findings(f.model_copy(update={"severity": Severity.INFO}) for f in many))
    assert "… and 2 more: --json has all" in capsys.readouterr().out
