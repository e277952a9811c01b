"""A compilation that is handed on with the devices it concerns: the same devices, a part of the network."""

from __future__ import annotations

import pickle
from pathlib import Path

from benchmarks.campus import bare_configuration, change, write_campus
from qosforge.compiler.compile import compile_intent
from qosforge.inventory.loader import load_network
from qosforge.runs.workflow.candidates import compile_run


def test_what_a_run_hands_on_is_as_large_as_its_change(tmp_path: Path) -> None:
    sizes = []
    for count in (30, 120):
        write_campus(tmp_path / str(count), count)
        network = load_network(tmp_path / str(count))
        texts = {device.name: bare_configuration(device) for device in network.devices[:4]}
        whole = compile_intent(change(), network, texts)
        names, packed = compile_run(change(), network, texts)
        part = packed.value().compilation

        assert names == tuple(device.name for device in whole.devices)
        assert [d.name for d in part.network.devices] == ["d0", "d1", "d2", "d3"]
        assert (part.devices, part.findings) == (whole.devices, whole.findings)
        assert part.network.links == network.links
        again = compile_intent(change(), network.part(texts), texts)
        assert [d.text for d in again.devices] == [d.text for d in whole.devices]
        sizes.append(len(pickle.dumps(part)) - len(pickle.dumps(network.links)))

    assert sizes[1] < 1.2 * sizes[0]
