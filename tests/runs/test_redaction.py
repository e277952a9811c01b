"""What viewers get of the artifacts of a run: every byte as it is stored, but for secrets of a device."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from qosforge.artifacts.store import FileArtifacts, artifact_id
from qosforge.errors import Place
from qosforge.note import note
from qosforge.runs.views.artifact_list import ArtifactKind, RunArtifact
from qosforge.runs.views.redaction import RedactedArtifacts

pytestmark = pytest.mark.hostile

RUNNING = "hostname r1\nsnmp-server community PLANTED01 RO\nclass-map match-any PLANTED01\n"


@pytest.fixture
def stored(tmp_path: Path) -> FileArtifacts:
    return FileArtifacts(tmp_path)


def content(stored: FileArtifacts, kind: ArtifactKind, of: str, text: str) -> RunArtifact:
    return RunArtifact(f"{kind}/{of}" if of else kind.value, kind, stored.put_text(text))


@pytest.mark.parametrize("kind", [ArtifactKind.CONFIGURATION, ArtifactKind.DELTA, ArtifactKind.INVERSE])
@pytest.mark.parametrize("name", ["running/r1", "running/r1@1", "restored/r1", "read-back/r1"])
def test_a_secret_of_the_device_goes_by_form_and_by_value(
    stored: FileArtifacts, kind: ArtifactKind, name: str
) -> None:
    held = RunArtifact(name, ArtifactKind(name.partition("/")[0]), stored.put_text(RUNNING))
    mine = content(stored, kind, "r1", "no class-map match-any PLANTED01\nenable secret 5 PLANTED02\x1b\n")
    copied = RedactedArtifacts(stored, [held, mine]).copy(mine).decode()
    assert copied == "no class-map match-any ********\nenable secret 5 ********\n"


@pytest.mark.parametrize("kind", [ArtifactKind.CANDIDATE, ArtifactKind.FINDINGS, ArtifactKind.COUNTERS])
def test_a_document_about_devices_has_none_of_any(stored: FileArtifacts, kind: ArtifactKind) -> None:
    held = content(stored, ArtifactKind.RUNNING, "r1", RUNNING)
    document = {"version": 1, "devices": {"r1": "class-map PLANTED01\n", "s2": "say PLANTED01\n"}}
    mine = RunArtifact(kind.value, kind, stored.put_json(document))
    copied = json.loads(RedactedArtifacts(stored, [held, mine]).copy(mine))
    assert copied == {"version": 1, "devices": {"r1": "class-map ********\n", "s2": "say ********\n"}}


def test_facts_of_findings_have_none_of_any(stored: FileArtifacts) -> None:
    """Also where the message alone shows that a fact is a secret."""
    held = content(stored, ArtifactKind.RUNNING, "r1", RUNNING)
    where = Place(device="s2")
    found = [
        note("line-not-understood", where, text="say PLANTED01"),
        note("scope-unknown-name", where, selector="username ann password", name="PLANTED02", network="campus"),
        note("line-not-understood", where, text="hold-queue 75 out"),
    ]
    document = [finding.model_dump(mode="json") for finding in found]
    mine = RunArtifact("findings", ArtifactKind.FINDINGS, stored.put_json(document))
    copied = RedactedArtifacts(stored, [held, mine]).copy(mine).decode()
    assert "PLANTED" not in copied
    assert [entry["facts"] for entry in json.loads(copied)] == [{"text": "say ********"}, {}, found[2].facts]


@pytest.mark.parametrize("kind", [kind for kind in ArtifactKind if not kind.restricted])
def test_what_holds_no_secret_is_what_was_stored(stored: FileArtifacts, kind: ArtifactKind) -> None:
    held = content(stored, ArtifactKind.RUNNING, "r1", RUNNING)
    text = "policy-map WAN\n" if kind.media_type == "text/plain" else '{"a":["policy-map WAN"]}'
    mine = content(stored, kind, "r1", text)
    assert artifact_id(RedactedArtifacts(stored, [held, mine]).copy(mine)) == mine.id
