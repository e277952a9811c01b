"""`qosforge drift`, as on the host of the database."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from qosforge.access.audit_log import calls_page
from qosforge.database.connections import Database
from qosforge.device_state.drift_watch import DeviceDrift, DriftResult, claim_check, record_check
from qosforge.settings import Settings
from tests.cli.conftest import Command, qosforge

__all__ = ["qosforge"]


def test_a_network_is_watched_and_no_more(qosforge: Command, tmp_path: Path) -> None:
    assert qosforge("drift", "watch", "campus", "--every", "60").code == 0
    database = Database(Settings(var_dir=tmp_path / "var").database_url)
    network, claim = claim_check(database) or ("", "")
    assert network == "campus"
    at = datetime(2026, 11, 20, 8, 0, tzinfo=UTC)
    record_check(
        database, claim, DriftResult(at, compared=9, drifted={"r1": DeviceDrift(2, "d")}, unread={"r2": "no"})
    )
    listed = qosforge("drift", "list")
    assert listed.code == 1
    for shown in ("campus", "60 min", "drifted", "r1", "r2", "2026-11-20 08:00"):
        assert shown in listed.stdout
    (document,) = json.loads(qosforge("drift", "list", "--json").stdout)
    assert (document["network"], document["minutes"], document["state"]) == ("campus", 60, "drifted")
    assert qosforge("drift", "watch", "campus", "--never", "--json").code == 0
    assert json.loads(qosforge("drift", "list", "--json").stdout) == []
    assert "qosforge drift watch" in str([call.document() for call in calls_page(database, None)])
    database.close()


def test_what_is_wrong_is_told_with_the_way_on(qosforge: Command) -> None:
    for words, told in (
        (("nowhere", "--every", "60"), "campus"),
        (("campus",), "--never"),
        (("campus", "--every", "60", "--never"), "--never"),
        (("campus", "--every", "1"), "5 to 10080"),
    ):
        ended = qosforge("drift", "watch", *words)
        assert (ended.code, told in ended.stderr) == (2, True), ended.stderr
