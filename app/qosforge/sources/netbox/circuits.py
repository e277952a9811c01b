"""What providers carry: NetBox's circuits (``/api/circuits/``) at the interfaces that are cabled to them.

A circuit has a ``commit_rate``; each of its terminations a ``port_speed`` and, where it differs, an
``upstream_speed`` towards the provider. All are in kbit/s.
"""

from __future__ import annotations

from collections.abc import Mapping

from qosforge.discovery.model import End
from qosforge.sources.netbox.client import NetBox, Record

_TERMINATION = "circuits.circuittermination"
_KILO = 1000


def termination_ids(record: Record) -> tuple[int, ...]:
    """The ids of the circuit terminations that an interface is cabled to."""
    if record.get("link_peers_type") != _TERMINATION:
        return ()
    return tuple(int(peer["id"]) for peer in record.get("link_peers") or ())


def contracted_rates(netbox: NetBox, cabled: Mapping[End, int]) -> dict[End, int]:
    """The rates in bits per second that providers carry away from ports, which come with their terminations' ids.

    Ports of circuits that have no rates are not among them.

    Raises:
        SourceError: the circuits cannot be read.
    """
    terminations = {
        int(record["id"]): record
        for record in netbox.records_of("circuits", "circuit_terminations", "id", cabled.values())
    }
    circuits = {
        int(record["id"]): record
        for record in netbox.records_of(
            "circuits", "circuits", "id", (int(one["circuit"]["id"]) for one in terminations.values())
        )
    }
    found = {}
    for end, number in cabled.items():
        termination = terminations.get(number)
        if termination is None:
            continue  # it went while we read
        circuit = circuits.get(int(termination["circuit"]["id"]), {})
        given = (circuit.get("commit_rate"), termination.get("upstream_speed") or termination.get("port_speed"))
        rates = [int(rate) * _KILO for rate in given if rate]
        if rates:
            found[end] = min(rates)
    return found
