"""Where the time of a run went: a span for every call to a device and to the database, and no word of either."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from qosforge.emulation import start_lab
from qosforge.inventory.loader import load_network
from qosforge.inventory.overlay import state_folder
from qosforge.resources import root
from qosforge.telemetry.database_spans import trace_databases
from qoslab import control
from tests.cli.conftest import Command, qosforge

__all__ = ["qosforge"]

INVENTORY = root() / "inventories" / "infn-fnal"
POLICY = root() / "examples" / "policies" / "remote-control.yaml"
DEVICES = ("router1", "router3")


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What this process's spans come to while the test runs."""
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)  # a process may set one once only
    stop = trace_databases()
    yield kept
    stop()
    provider.shutdown()


@pytest.fixture
def state(tmp_path: Path) -> Iterator[Path]:
    """The lab of the network, on the air."""
    found = state_folder(tmp_path / "var", "infn-fnal")
    start_lab(load_network(INVENTORY), INVENTORY, found)
    yield found
    control.stop(found)


def _way(spans: dict[int, ReadableSpan], one: ReadableSpan) -> list[str]:
    """The names of a span's parents, the nearest first."""
    parent = spans.get(one.parent.span_id) if one.parent else None
    return [] if parent is None else [parent.name, *_way(spans, parent)]


def test_every_call_of_a_push_is_a_span_of_its_stage(
    exporter: InMemorySpanExporter, state: Path, qosforge: Command
) -> None:
    assert qosforge("push", POLICY, "--network", INVENTORY).code == 0
    spans = {one.context.span_id: one for one in exporter.get_finished_spans()}
    (run,) = (one for one in spans.values() if one.name == "run")
    calls = [one for one in spans.values() if one.name.startswith("device ")]
    of_push = Counter(one.name for one in calls if _way(spans, one)[:3] == ["device", "stage push", "run"])
    each = ("device read running", "device read pending commit", "device load", "device commit")
    assert all(of_push[name] >= len(DEVICES) for name in each), of_push
    of_keep = Counter(one.name for one in calls if _way(spans, one)[:3] == ["device", "stage keep", "run"])
    assert of_keep["device confirm"] == len(DEVICES)
    assert sum(one.name == "device connect" for one in calls) == len(DEVICES), "sessions stay open between stages"
    for one in calls:
        found = dict(one.attributes)
        assert found["qosforge.device"] in DEVICES
        assert (found["qosforge.platform"], found["qosforge.network"]) == ("cisco_ios", "infn-fnal")
        assert one.context.trace_id == run.context.trace_id

    statements = [one for one in spans.values() if "db.system.name" in one.attributes]
    assert all(one.parent is not None for one in statements), "what is in no trace has no span"
    named = {one.name for one in statements if one.context.trace_id == run.context.trace_id}
    assert {"INSERT journal", "INSERT stages", "UPDATE stages", "SELECT runs"} <= named, named
    text = "".join(one.to_json() for one in spans.values())
    for word in ("VALUES", "WHERE", "policy-map", "hostname", "service-policy"):
        assert word not in text


def test_a_device_that_fails_marks_its_spans_and_no_other(
    exporter: InMemorySpanExporter, state: Path, qosforge: Command
) -> None:
    control.plant(state, "router3", "refuse", pattern="service-policy", text="% No, thank you")
    assert qosforge("push", POLICY, "--network", INVENTORY).code != 0
    spans = {one.context.span_id: one for one in exporter.get_finished_spans()}
    failed = [one for one in spans.values() if one.status.status_code is StatusCode.ERROR]
    of_devices = [one for one in failed if one.name.startswith("device")]
    assert {one.attributes["qosforge.device"] for one in of_devices} == {"router3"}
    assert {one.name for one in of_devices} == {"device", "device commit"}
    assert all(one.attributes["error.type"] for one in failed)
    assert not any(one.events or one.status.description for one in spans.values()), (
        "what the device said stays here"
    )
    back = [one for one in spans.values() if one.name == "device" and "stage rollback" in _way(spans, one)]
    assert "router3" in {one.attributes["qosforge.device"] for one in back}
