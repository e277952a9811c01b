"""Packets in a guest whose time goes by otherwise than this machine's are waited for by the guest's clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge.inventory.probes import GuestHost
from qosforge.tester.measurement_plan import MeasurementPlan
from qosforge.tester.probes.tester import ProbeTester

from .two_sites import VOICE, intent, network

SSH = """\
#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
PATH="{folder}/guest:$PATH" exec sh -c "$*"
"""
MGEN = """\
#!/bin/sh
case "$*" in
*LISTEN*)
    echo "10:00:00.000000 LISTEN proto>UDP port>16384"
    tries=100
    until [ -e {folder}/sleeping ] || [ $tries = 0 ]; do /bin/sleep 0.05; tries=$((tries - 1)); done
    /bin/sleep 0.6
    echo "10:00:01.900000 RECV proto>UDP flow>1 seq>0 sent>10:00:01.500000 size>172"
    touch {folder}/came
    ;;
*)
    echo "10:00:00.000000 START Mgen"
    echo "10:00:01.500000 SEND proto>UDP flow>1 seq>0 size>172"
    ;;
esac
"""
SLEEP = """\
#!/bin/sh
echo "$1" > {folder}/sleeping
until [ -e {folder}/came ]; do /bin/sleep 0.05; done
"""
"""A guest so slow that its 0.2 s last here until the packet has come."""


def test_last_packets_are_waited_for_by_the_clock_of_the_guest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qosforge.tester.probes.tester.WAITED_SECONDS", 0.2)
    for name, text in (("bin/ssh", SSH), ("guest/mgen", MGEN), ("guest/sleep", SLEEP)):
        script = tmp_path / name
        script.parent.mkdir(exist_ok=True)
        script.write_text(text.format(folder=tmp_path))
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/local/bin:/usr/bin:/bin")
    net = network(tmp_path, [VOICE], {"replications": 1})
    guests = [GuestHost(station=name, port=1, key="key", known_hosts="known") for name in ("h1", "h2")]
    probes = net.probes.model_copy(update={"hosts": tuple(guests)})
    plan = MeasurementPlan.of(intent(tmp_path).intent, net.model_copy(update={"probes": probes}))
    (voice,) = ProbeTester(probes).measure(plan, "before").scenarios[0].flows
    assert (tmp_path / "sleeping").read_text() == "0.2\n"
    assert (voice.sent, voice.lost) == (1, 0)
