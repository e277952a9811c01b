"""What artifacts a run has, by names for people: found in its parameters and its stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from qosforge.runs.record.stages import Stage
from qosforge.runs.record.store import RunStore

Json = Mapping[str, Any]


class Kind(StrEnum):
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
        return self in (Kind.RUNNING, Kind.READ_BACK, Kind.RESTORED)

    @property
    def media_type(self) -> str:
        """Its media type."""
        if self in (Kind.POLICY, Kind.INCLUDED):
            return "application/yaml"
        if self in (Kind.RUNNING, Kind.READ_BACK, Kind.RESTORED, Kind.CONFIGURATION, Kind.DELTA, Kind.INVERSE):
            return "text/plain"
        return "application/json"


@dataclass(frozen=True, slots=True)
class Content:
    """One artifact of a run: ``name`` is the kind and what it is of (``running/vigo1``), ``id`` its address."""

    name: str
    kind: Kind
    id: str

    @property
    def file_name(self) -> str:
        """Its name as a file; what stands between slashes is a folder's."""
        ending = {"application/yaml": ".yaml", "application/json": ".json"}.get(self.kind.media_type, ".txt")
        return self.name if self.name.endswith(ending) else f"{self.name}{ending}"


def contents(store: RunStore, run_id: str) -> tuple[Content, ...]:
    """The artifacts of a run as far as it came, in the order they were made.

    A stage that was tried again gives its artifacts anew: what a name stood for before has the attempt in its name
    (``running/vigo1@1``).

    Raises:
        RunUnknown: there is no such run.
    """
    run = store.get_run(run_id)
    entries = [_content(kind, of, artifact) for kind, of, artifact in _asked(run.params)]
    made: dict[str, tuple[Content, int]] = {}
    for stage in store.stages(run.id):
        for kind, of, artifact in _made(stage):
            entry = _content(kind, of, artifact)
            earlier, attempt = made.get(entry.name, (entry, 0))
            if earlier.id != entry.id:
                aside = f"{earlier.name}@{attempt}"
                made[aside] = Content(aside, earlier.kind, earlier.id), attempt
            made[entry.name] = entry, stage.attempt
    return (*entries, *(entry for entry, _ in made.values()))


def _content(kind: Kind, of: str, artifact: str) -> Content:
    return Content(f"{kind}/{of}" if of else kind.value, kind, artifact)


def _asked(params: Json) -> Iterator[tuple[Kind, str, str]]:
    if "intent_text" in params:
        yield Kind.POLICY, "", params["intent_text"]
    for name, artifact in params.get("intent_included", {}).items():
        yield Kind.INCLUDED, name, artifact
    if "network" in params:
        yield Kind.NETWORK, "", params["network"]


def _made(stage: Stage) -> Iterator[tuple[Kind, str, str]]:
    summary = stage.summary
    if stage.name in _CONFIGURATIONS:
        for device, artifact in summary.get("running", {}).items():
            yield _CONFIGURATIONS[stage.name], device, artifact
    elif stage.name == "validate" and "findings" in summary:
        yield Kind.FINDINGS, "", summary["findings"]
    elif stage.name == "prepare":
        if summary.get("candidate"):
            yield Kind.CANDIDATE, "", summary["candidate"]
        for device, entry in summary.get("devices", {}).items():
            for kind in (Kind.CONFIGURATION, Kind.DELTA, Kind.INVERSE):
                yield kind, device, entry[kind.value]
    elif stage.name.startswith("measure-") and "measurement" in summary:
        of = stage.name.removeprefix("measure-")
        yield Kind.MEASUREMENT, of, summary["measurement"]
        yield Kind.VERDICTS, of, summary["verdicts"]
    elif stage.name == "predict" and "measurement" in summary:
        yield Kind.MEASUREMENT, "predicted", summary["measurement"]
        yield Kind.VERDICTS, "predicted", summary["verdicts"]
    elif stage.name == "counters" and "notes" in summary:
        yield Kind.COUNTERS, "", summary["notes"]


_CONFIGURATIONS = {"read": Kind.RUNNING, "read-back": Kind.READ_BACK, "rollback": Kind.RESTORED}
