"""Packets leave as a table."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from qosforge.deltaq.distribution import LOST
from qosforge.errors import InputError
from qosforge.tester.measurement.document import FlowResult, Measurement, ScenarioResult
from qosforge.tester.measurement.export import COLUMNS, measured_packets, write_packets

SAMPLES = {"a": ((0, 17), (5, LOST)), "silent": (), "b, too": ((3, 2**51),)}
ROWS = [("busy", "a", 0, 17), ("busy", "a", 5, None), ("busy", "b, too", 3, 2**51)]


def test_rows_are_the_samples() -> None:
    flows = tuple(
        FlowResult(
            name=name,
            traffic_class="robin",
            path="a→b",
            sent=len(samples),
            delivered=sum(delay != LOST for _, delay in samples),
            lost=sum(delay == LOST for _, delay in samples),
            samples=samples,
        )
        for name, samples in SAMPLES.items()
    )
    measurement = Measurement(
        when="before",
        evidence="emulated",
        tester="twin",
        seed=1,
        delay_reference="first bit to first bit",
        scenarios=(ScenarioResult(name="busy", title="Busy", flows=flows),),
    )
    assert list(measured_packets(measurement)) == ROWS


def test_csv_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "packets.csv"
    write_packets(ROWS, path)
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    assert tuple(header) == COLUMNS
    assert rows == [[str(v) if v is not None else "" for v in row] for row in ROWS]


@pytest.mark.parametrize("rows", [ROWS, []])
def test_parquet_reads_back(tmp_path: Path, rows: list[tuple[str, str, int, int | None]]) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "packets.parquet"
    write_packets(rows, path)
    table = pq.read_table(path)
    assert tuple(table.column_names) == COLUMNS
    assert [tuple(row.values()) for row in table.to_pylist()] == rows


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_packets(ROWS, tmp_path / "none" / "packets.csv")
