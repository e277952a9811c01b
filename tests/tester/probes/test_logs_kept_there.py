"""MGEN on a host behind a connection: its log is kept there, and never holds it up."""

from __future__ import annotations

from pathlib import Path

import pytest

from qosforge import errors
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


TIMEOUT = """\
#!/bin/sh
shift 2
bound=$1
shift
touch {folder}/bound
exec /usr/bin/timeout "$(awk "BEGIN {{ print $bound / {speed} }}")" "$@"
"""
"""A guest whose clock passes many seconds while one passes here."""
SLOW_SSH = """\
#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
case "$*" in *txlog*) /bin/sleep 1.5 ;; esac
PATH="{folder}/guest:$PATH" exec sh -c "$*"
"""
"""A machine that takes its time to begin the sender."""


def guests_plan(
    folder: Path, scripts: dict[str, str], monkeypatch: pytest.MonkeyPatch, speed: int = 100
) -> MeasurementPlan:
    """Voice between two hosts of a guest, whose programs are scripts, as is the connection to it."""
    monkeypatch.setattr("qosforge.tester.probes.tester.WAITED_SECONDS", 0.2)
    for name, text in scripts.items():
        script = folder / name
        script.parent.mkdir(exist_ok=True)
        script.write_text(text.format(folder=folder, packets=PACKETS, speed=speed))
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/local/bin:/usr/bin:/bin")
    net = network(folder, [VOICE], {"replications": 1})
    guests = [GuestHost(station=name, port=1, key="key", known_hosts="known") for name in ("h1", "h2")]
    probes = net.probes.model_copy(update={"hosts": tuple(guests)})
    return MeasurementPlan.of(intent(folder).intent, net.model_copy(update={"probes": probes}))


def test_a_log_never_holds_up_what_sends_and_last_packets_are_waited_for_by_the_clock_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = {"bin/ssh": SSH, "guest/mgen": MGEN, "guest/sleep": SLEEP}
    plan = guests_plan(tmp_path, scripts, monkeypatch)
    (voice,) = ProbeTester(plan.network.probes).measure(plan, "before").scenarios[0].flows
    assert (tmp_path / "waited").read_text() == "0.2\n"
    assert not (tmp_path / "held").exists()
    assert (voice.sent, voice.lost) == (PACKETS, 0)


def test_the_clock_of_a_guest_does_not_end_a_receiver_while_its_sender_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = {"bin/ssh": SLOW_SSH, "guest/mgen": MGEN, "guest/sleep": SLEEP, "guest/timeout": TIMEOUT}
    plan = guests_plan(tmp_path, scripts, monkeypatch)
    (voice,) = ProbeTester(plan.network.probes).measure(plan, "before").scenarios[0].flows
    assert (tmp_path / "bound").exists()
    assert (voice.sent, voice.lost) == (PACKETS, 0)


def test_a_receiver_that_has_ended_before_all_is_sent_ends_the_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = {"bin/ssh": SLOW_SSH, "guest/mgen": MGEN, "guest/sleep": SLEEP, "guest/timeout": TIMEOUT}
    plan = guests_plan(tmp_path, scripts, monkeypatch, speed=1000)
    with pytest.raises(errors.TesterError, match="the host of h2: mgen ended before all packets were sent"):
        ProbeTester(plan.network.probes).measure(plan, "before")
