"""Migrations that databases have gone through are never edited: their tables would differ under one revision."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from qosforge.database import migrations
from qosforge.database.revisions import known_revisions

CHECKSUMS = {
    "r0001_first.py": "d864fc731968b02b0c90b1172ed64f4810d2ee82a6fe9c05af2339eec072aba9",
    "r0002_service.py": "d134fc042a3c73fba803a24907350f867f1d5fa7641c3d65ae2ad4f2b6fd9736",
    "r0003_readings.py": "19d8b858131d2015561d315edc0c6921c8ef0f22ce23aaec53f56a7cac5b6938",
    "r0004_policy_owners.py": "0ccce601af7677670269688417f590ad90b35272af9c4ec045203cd530bbd1fe",
    "r0005_run_deeds.py": "0a82426eda4507c768f2a861d4caaa9aa700343f3033bebe2858297cce7f427a",
    "r0006_reasons.py": "9c8aac7b5bffa97d875a5671ef5a92da41bfed9f50f5f0f33aa850995cf6f677",
    "r0007_known_browsers.py": "cab06b1c1f37afb6dc8ab0047db2a8b1bf2852a82ae00f2548b520d6762d601e",
    "r0008_open_points.py": "7b3969f9960883724e613f36d054716042622b00c20b49f4674d4b11ec8315cd",
    "r0009_webhooks.py": "ca5afd6b1319808a7abc32b0cf56804b9ba42c58dea3c26b57c02afcd0c6ec5d",
    "r0010_drift_watches.py": "b598dcfc83ce5aca07d18bf0936016fe651192e9d085da1659277610292ec2e1",
    "r0011_words.py": "2d8ecc9f7989398876781a8b06a7170ce50046a07fa34d9f232759cd19e580f7",
    "r0012_device_summaries.py": "9de15b426e238c8f069f9990d3f53f7ec90955d366860347f902d0d40861036d",
    "r0013_baselines.py": "153485d4567d7abf3cf171d259c57a5f8305211b87db78fae29cb88b310d22d0",
    "r0014_session_clients.py": "78fa9f2519d70e577baf06291020d61dccab0d9cb23db7438521fc74911faf53",
    "r0015_file_audits.py": "e0d7bd24644d8b8fb31e0ea0defa17d47703775be3b831d1dea966b05ae7b48f",
    "r0016_call_kinds.py": "47eef9c1840b9d5fa23d30a39c44c3147e4553063701aaa0f68ece54ac9f0d69",
    "r0017_outcomes.py": "5a1106ec2141f3d6470ba944e33460d13f67bf17d007e5904e0f4419d8a4180c",
    "r0018_read_so_far.py": "5855f12cf6d7f35d9aa06130596fad0d17e4e038b78679be91506a0a25ce985c",
    "r0019_call_reasons.py": "43016c202dbe7ba23c8c458e38beb27a6b2c673fd300cfc297fe15187a314240",
    "r0020_unsaved.py": "e233a42571b4bb81a6c3a2116cc4b2d25a5c42e01c9ac94003dba19697ea4767",
    "r0021_token_use.py": "abe04d9a98ca1408d91ab1ba6764cfd94b8563efa21a1822b01b903a5d93b28f",
    "r0022_login_addresses.py": "462baaf2ba2b83974f7412afa34868e43d321ebeeb7c5a69e3f538149561fcfb",
}
"""SHA-256 of every migration. A new one is added here; what another one should have done a new one does."""


def test_no_migration_was_edited() -> None:
    folder = Path(migrations.__path__[0]) / "versions"
    found = {path.name: sha256(path.read_bytes()).hexdigest() for path in folder.glob("r*.py")}
    assert found == CHECKSUMS, "leave migrations as they are, and add another one"
    assert len(found) == len(known_revisions())
