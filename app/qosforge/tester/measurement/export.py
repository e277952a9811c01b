"""Export of the packets of a measurement as CSV or Parquet."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

from qosforge.deltaq.distribution import LOST
from qosforge.errors import InputError, Place
from qosforge.tester.measurement.document import Measurement

COLUMNS = ("scenario", "flow", "sent_ps", "delay_ps")
"""Times are picoseconds; the delay of a lost packet is empty."""

Row = tuple[str, str, int, int | None]


def measured_packets(measurement: Measurement) -> Iterator[Row]:
    """The packets that a measurement kept, flow by flow in the order of sending."""
    for scenario in measurement.scenarios:
        for flow in scenario.flows:
            for sent, delay in flow.samples:
                yield scenario.name, flow.name, sent, None if delay == LOST else delay


def require_format(path: Path) -> None:
    """Refuse a file name whose format cannot be written here.

    Raises:
        InputError: Parquet is asked for without pyarrow.
    """
    if path.suffix.lower() == ".parquet" and find_spec("pyarrow") is None:
        hint = "install qosforge[parquet], or name a .csv file"
        raise InputError("Parquet needs pyarrow", Place(file=str(path)), hint)


def write_packets(rows: Iterable[Row], path: Path) -> None:
    """Write rows as Parquet if the name ends in ``.parquet``, else as CSV.

    Raises:
        InputError: the file cannot be written, or Parquet is asked for without pyarrow.
    """
    require_format(path)
    try:
        if path.suffix.lower() == ".parquet":
            _write_parquet(rows, path)
        else:
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(COLUMNS)
                writer.writerows(rows)
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror or error})", Place(file=str(path)), "name a place that can"
        ) from None


def _write_parquet(rows: Iterable[Row], path: Path) -> None:
    import pyarrow as pa  # noqa: PLC0415 - large and optional
    import pyarrow.parquet as pq  # noqa: PLC0415

    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]
    names, numbers = pa.dictionary(pa.int32(), pa.string()), pa.int64()
    arrays = [pa.array(c, t) for c, t in zip(columns, (names, names, numbers, numbers), strict=True)]
    pq.write_table(pa.Table.from_arrays(arrays, names=list(COLUMNS)), path)
