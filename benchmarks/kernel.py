"""``python -m benchmarks.kernel > docs/kernel.md``: the twin beside a Linux kernel, by scheduler and class."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, stdev

from scipy import special

from qosforge.experiments import ExperimentSession, experiment_labels, experiment_names, load_experiment
from qosforge.experiments.compare import ClaimComparison, compare_claims
from qosforge.experiments.model import Experiment
from qosforge.experiments.running import ExperimentOutcome

_HEAD = """\
# The twin beside a kernel

The same packets at the same times through the queues of a stock Linux kernel (QEMU in [virtual
time](lab.md#a-kernel-in-virtual-time)) and of the twin: three classes that together ask for more than the line
has, and pause together after every 4 Mbit of line time; 20 s of sending at 2 Mb/s, 8 s at 10 Mb/s. `qosforge
experiment run kernel-strict`, and so on, repeats one in one to four minutes, with the same figures unless the
machine has far more to do than it can: on two processors with thirty programs waiting for them, those of 10 Mb/s
were as far off as another draw of packets is. `python -m benchmarks.kernel > docs/kernel.md` makes this page. What
the router is told and the twin's description of the same queues stand beside each other in
`app/qosforge/experiments/data/kernel-…/experiment.yaml`.

Each cell has the kernel's figure, then the twin's. Delays are from the sender to the last bit on the line, of
packets that came; the last column is the Kolmogorov–Smirnov distance of both distributions, lost packets at
infinity. It is large where all delays are nearly one, as voice's under HTB, which are 1 µs apart. Where more than
5 % are between two figures of share, loss, mean, p50 or p99, the reason stands below the table.

A microsecond decides which of two packets a full queue drops, and from there on the queues hold other packets
until they are empty: most of what is between the figures of the plain queues and of strict priority is that.
Random early detection drops by chance in both, and few packets make HTB's quantiles. The figures of these are those
of several draws of packets together, and what is between the means of both sides has an interval.

HFSC is no scheduler of the twin. Its table has what was published of D-CBQ, which shares links alike, then what the
kernel gives, and the twin's D-CBQ of the same packets: 20 s of 2 Mb/s, rates only, since delays are each one's own.
HFSC serves by what each class has got so far, so that nothing is left between it and the table but part of a
packet. D-CBQ goes by an average of the rate, which favours small shares by up to a 32nd of them; where bounded
classes are alone (row 3) it has each wait a little longer than it must.

The last section is about what is asked for, and not about the twin: on a line that is full without a pause each
class has its share within 1 %, no call is lost, and the 99th percentile of their delay is at most a tenth of that
in one queue of 100 packets beside the same traffic.
"""
_MEANS = {"loss_ratio": "loss", "mean_us": "mean", "p50_us": "p50", "p99_us": "p99"}
_COLUMNS = (
    ("share %", "share", 100.0),
    ("loss %", "loss_ratio", 100.0),
    ("mean ms", "mean_us", 1e-3),
    ("p50 ms", "p50_us", 1e-3),
    ("p95 ms", "p95_us", 1e-3),
    ("p99 ms", "p99_us", 1e-3),
    ("p99.9 ms", "p999_us", 1e-3),
)


def page() -> Iterator[str]:
    """The lines of the page.

    Raises:
        NotInstalled: a package of the operating system is missing.
        ServiceError: the kernel does not run.
    """
    yield _HEAD
    session = ExperimentSession()
    for name in experiment_names():
        experiment = load_experiment(name)
        if experiment.testbed in _SECTIONS:
            yield f"## {experiment.title}"
            yield from _SECTIONS[experiment.testbed](session, experiment)


def _beside_the_twin(session: ExperimentSession, experiment: Experiment) -> Iterator[str]:
    outcome = session.outcome(experiment.name)
    yield from _table(outcome)
    yield from _intervals(outcome)
    yield from _reasons(experiment.name, compare_claims(session, experiment))


def _beside_a_paper(session: ExperimentSession, experiment: Experiment) -> Iterator[str]:
    """Every published figure, what each side has in its place, and how far that is off."""
    sides = next(claim.subject.split("+") for claim in experiment.claims)
    devices = [experiment_labels().subject(side.partition(".")[0]) for side in sides]
    yield f"| row | class | published kb/s | {' | '.join(f'{device} kb/s | off %' for device in devices)} |"
    yield f"|{'---|' * (3 + 2 * len(devices))}"
    comparisons = compare_claims(session, experiment)
    for one in comparisons:
        claim = one.claim
        if claim.metric == "throughput_kbps" and claim.value and isinstance(one.obtained, Mapping):
            assert isinstance(claim.value, float)
            found = " | ".join(
                f"{value:.1f} | {(value / claim.value - 1) * 100:+.2f}" for value in one.obtained.values()
            )
            row, part = claim.scenario.removeprefix("row"), claim.subject.rpartition(".")[2].removeprefix("class")
            yield f"| {row} | {part} | {claim.value:g} | {found} |"
    yield ""
    yield from _reasons(experiment.name, comparisons)


def _table(outcome: ExperimentOutcome) -> Iterator[str]:
    yield f"| line | class | {' | '.join(heading for heading, _, _ in _COLUMNS)} | distance |"
    yield f"|{'---|' * (len(_COLUMNS) + 3)}"
    for scenario, points in outcome.points.items():
        for point in points:
            for subject, row in point.pooled.items():
                cells = (_cell(row.values, metric, factor) for _, metric, factor in _COLUMNS)
                line = experiment_labels().scenario(outcome.experiment.name, scenario)
                yield f"| {line} | {subject} | {' | '.join(cells)} | {row.values['ks_distance']:.3f} |"
    yield ""


def _intervals(outcome: ExperimentOutcome) -> Iterator[str]:
    """Where packets were drawn several times, the twin's means over the kernel's with Student's 95 % interval."""
    for scenario, points in outcome.points.items():
        for point in points:
            for subject in point.pooled if len(point.trials) > 1 else ():
                trials = [trial[subject].values for trial in point.trials]
                parts = ", ".join(_interval(trials, metric, said) for metric, said in _MEANS.items())
                line = experiment_labels().scenario(outcome.experiment.name, scenario)
                yield f"- {line}, {subject}, the twin less the kernel in {len(trials)} draws: {parts}."
    if any(point.trials for points in outcome.points.values() for point in points):
        yield ""


def _interval(trials: Sequence[Mapping[str, float]], metric: str, said: str) -> str:
    kernel = fmean(one[f"kernel_{metric}"] for one in trials)
    if kernel == 0:
        return f"{said} of 0"
    apart = [(one[f"twin_{metric}"] - one[f"kernel_{metric}"]) / kernel * 100 for one in trials]
    half = float(special.stdtrit(len(apart) - 1, 0.975)) * stdev(apart) / math.sqrt(len(apart))
    return f"{said} {fmean(apart):+.1f} ± {half:.1f} %"


def _cell(values: Mapping[str, float], metric: str, factor: float) -> str:
    return ", ".join(f"{values[f'{side}_{metric}'] * factor:.4g}" for side in ("kernel", "twin"))


def _reasons(name: str, comparisons: tuple[ClaimComparison, ...]) -> Iterator[str]:
    apart: dict[str, list[ClaimComparison]] = {}
    for one in comparisons:
        if not one.holds:
            apart.setdefault(one.reason, []).append(one)
    for reason, those in apart.items():
        yield f"- {'; '.join(_named(name, one) for one in those)}: {reason or 'not explained'}."
    if apart:
        yield ""


def _named(experiment: str, comparison: ClaimComparison) -> str:
    claim, labels = comparison.claim, experiment_labels()
    return f"{claim.subject}, {labels.metric(claim.metric)}, {labels.scenario(experiment, claim.scenario)}"


_SECTIONS = {"kernel-router": _beside_the_twin, "kernel-link-sharing": _beside_a_paper}


if __name__ == "__main__":
    for line in page():
        print(line)  # noqa: T201
