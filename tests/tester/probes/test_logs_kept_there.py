"""MGEN on a host behind a connection: its log is kept there, and never holds it up."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.inventory.probes import GuestHost
from qosforge.tester.measurement_plan import MeasurementPlan
from qosforge.tester.probes.tester import ProbeTester

from .two_sites import VOICE, intent, network

PACKETS = 3000
"""Their lines are more than pipes and terminals hold."""
SSH = """\
#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
PATH="{folder}/guest:$PATH" sh -c "$*" | {{
    read -r first && echo "$first"
    case "$first" in START*) tries=100; until [ -e {folder}/sent ] || [ $tries = 0 ]; do
        /bin/sleep 0.05; tries=$((tries - 1)); done
        [ -e {folder}/sent ] || touch {folder}/held ;; esac
    cat
}}
"""
"""A connection that carries nothing but the first line before all packets are sent."""
MGEN = """\
#!/bin/sh
case "$*" in
*LISTEN*)
    trap 'exit 0' TERM
    echo "10:00:00.000000 LISTEN proto>UDP port>16384"
    until [ -e {folder}/waited ]; do /bin/sleep 0.05; done
    awk 'BEGIN {{ for (n = 0; n < {packets}; n++) printf \\
        "10:00:01.%06d RECV proto>UDP flow>1 seq>%d sent>10:00:01.%06d size>172\\n", 500000 + n, n, 400000 + n }}'
    touch {folder}/came
    while :; do /bin/sleep 0.05; done
    ;;
*)
    echo "START"
    echo "10:00:00.000000 START Mgen"
    awk 'BEGIN {{ for (n = 0; n < {packets}; n++) printf \\
        "10:00:01.%06d SEND proto>UDP flow>1 seq>%d size>172\\n", 400000 + n, n }}'
    touch {folder}/sent
    ;;
esac
"""
SLEEP = """\
#!/bin/sh
case "$1" in 0.05) exec /bin/sleep 0.05 ;; esac
echo "$1" > {folder}/waited
until [ -e {folder}/came ]; do /bin/sleep 0.05; done
"""
"""A guest so slow that its 0.2 s last here until the packets have come."""


def test_a_log_never_holds_up_what_sends_and_last_packets_are_waited_for_by_the_clock_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qosforge.tester.probes.tester.WAITED_SECONDS", 0.2)
    for name, text in (("bin/ssh", SSH), ("guest/mgen", MGEN), ("guest/sleep", SLEEP)):
        script = tmp_path / name
        script.parent.mkdir(exist_ok=True)
        script.write_text(text.format(folder=tmp_path, packets=PACKETS))
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/local/bin:/usr/bin:/bin")
    net = network(tmp_path, [VOICE], {"replications": 1})
    guests = [GuestHost(station=name, port=1, key="key", known_hosts="known") for name in ("h1", "h2")]
    probes = net.probes.model_copy(update={"hosts": tuple(guests)})
    plan = MeasurementPlan.of(intent(tmp_path).intent, net.model_copy(update={"probes": probes}))
    (voice,) = ProbeTester(probes).measure(plan, "before").scenarios[0].flows
    assert (tmp_path / "waited").read_text() == "0.2\n"
    assert not (tmp_path / "held").exists()
    assert (voice.sent, voice.lost) == (PACKETS, 0)
