"""The artifacts of a run by name, as found in its parameters and stages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from qosforge.runs.record.resolved_run import ResolvedRun
from qosforge.runs.record.stages import Stage
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.summaries import (
    MEASUREMENT_STAGES,
    CountersSummary,
    MeasurementSummary,
    PredictionSummary,
    PrepareSummary,
    ReadSummary,
    ValidateSummary,
)


class ArtifactKind(StrEnum):
    """What an artifact is. Texts are UTF-8; documents are JSON."""

    POLICY = "policy"
    INCLUDED = "included"
    NETWORK = "network"
    RUNNING = "running"
    """What a device said it holds, when the run read it first."""
    FINDINGS = "findings"
    CONFIGURATION = "configuration"
    DELTA = "delta"
    INVERSE = "inverse"
    DIFFERENCE = "difference"
    """What a device's configuration would lose and gain, with where that stands."""
    CANDIDATE = "candidate"
    """Every device's delta in one list: what an approval is about."""
    MEASUREMENT = "measurement"
    VERDICTS = "verdicts"
    READ_BACK = "read-back"
    COUNTERS = "counters"
    RESTORED = "restored"

    @property
    def restricted(self) -> bool:
        """Whether it may hold secrets of a device: a running configuration has passwords and communities in it."""
        return self in (
            ArtifactKind.RUNNING,
            ArtifactKind.DIFFERENCE,
            ArtifactKind.READ_BACK,
            ArtifactKind.RESTORED,
        )

    @property
    def media_type(self) -> str:
        """Its media type."""
        if self in (ArtifactKind.POLICY, ArtifactKind.INCLUDED):
            return "application/yaml"
        if self in (
            ArtifactKind.RUNNING,
            ArtifactKind.READ_BACK,
            ArtifactKind.RESTORED,
            ArtifactKind.CONFIGURATION,
            ArtifactKind.DELTA,
            ArtifactKind.INVERSE,
            ArtifactKind.DIFFERENCE,
        ):
            return "text/plain"
        return "application/json"


@dataclass(frozen=True, slots=True)
class RunArtifact:
    """One artifact of a run: ``name`` is the kind and what it is of (``running/vigo1``), ``id`` its address."""

    name: str
    kind: ArtifactKind
    id: str

    @property
    def file_name(self) -> str:
        """Its name as a file; what stands between slashes is a folder's."""
        ending = {"application/yaml": ".yaml", "application/json": ".json"}.get(self.kind.media_type, ".txt")
        return self.name if self.name.endswith(ending) else f"{self.name}{ending}"


def list_artifacts(store: RunStore, run_id: str) -> tuple[RunArtifact, ...]:
    """The artifacts of a run as far as it came, in the order they were made.

    A stage that was tried again gives its artifacts anew: what a name stood for before has the attempt in its name
    (``running/vigo1@1``).

    Raises:
        RunUnknown: there is no such run.
    """
    run = store.get_run(run_id)
    entries = [_content(kind, of, artifact) for kind, of, artifact in _documents(run.resolved)]
    made: dict[str, tuple[RunArtifact, int]] = {}
    for stage in store.stages(run.id):
        for kind, of, artifact in _made(stage):
            entry = _content(kind, of, artifact)
            earlier, attempt = made.get(entry.name, (entry, 0))
            if earlier.id != entry.id:
                aside = f"{earlier.name}@{attempt}"
                made[aside] = RunArtifact(aside, earlier.kind, earlier.id), attempt
            made[entry.name] = entry, stage.attempt
    return (*entries, *(entry for entry, _ in made.values()))


def _content(kind: ArtifactKind, of: str, artifact: str) -> RunArtifact:
    return RunArtifact(f"{kind}/{of}" if of else kind.value, kind, artifact)


def _documents(resolved: ResolvedRun) -> Iterator[tuple[ArtifactKind, str, str]]:
    if resolved.intent_artifact:
        yield ArtifactKind.POLICY, "", resolved.intent_artifact
    for name, artifact in resolved.intent_included.items():
        yield ArtifactKind.INCLUDED, name, artifact
    if resolved.network_artifact:
        yield ArtifactKind.NETWORK, "", resolved.network_artifact


def _made(stage: Stage) -> Iterator[tuple[ArtifactKind, str, str]]:
    match stage.summary:
        case ReadSummary(running=running):
            for device, artifact in running.items():
                yield _CONFIGURATIONS[stage.name], device, artifact
        case ValidateSummary(findings=findings) if findings:
            yield ArtifactKind.FINDINGS, "", findings
        case PrepareSummary(candidate=candidate, devices=devices):
            if candidate:
                yield ArtifactKind.CANDIDATE, "", candidate
            for device, prepared in devices.items():
                yield ArtifactKind.CONFIGURATION, device, prepared.configuration
                yield ArtifactKind.DELTA, device, prepared.delta
                yield ArtifactKind.INVERSE, device, prepared.inverse
                if prepared.difference:
                    yield ArtifactKind.DIFFERENCE, device, prepared.difference
        case MeasurementSummary(measurement=measurement, verdicts=verdicts) if measurement:
            predicted = isinstance(stage.summary, PredictionSummary)
            of = "predicted" if predicted else stage.name.removeprefix(MEASUREMENT_STAGES)
            yield ArtifactKind.MEASUREMENT, of, measurement
            yield ArtifactKind.VERDICTS, of, verdicts
        case CountersSummary(notes=notes) if notes:
            yield ArtifactKind.COUNTERS, "", notes


_CONFIGURATIONS = {
    "read": ArtifactKind.RUNNING,
    "read-back": ArtifactKind.READ_BACK,
    "rollback": ArtifactKind.RESTORED,
}
