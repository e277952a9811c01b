"""The alert rules and the dashboard ask for what a service and its workers tell, and the rules fire."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from qosforge.api.backend import open_backend
from qosforge.settings import Settings

MONITORING = Path(__file__).parents[2] / "examples" / "monitoring"
RULES = MONITORING / "alerts.yml"
DASHBOARD = MONITORING / "dashboard.json"

_METRIC = re.compile(r"\b(?:qosforge|process)_[a-z_]+")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Names of the samples that a service may have: also of counters that nothing was counted of."""
    settings = Settings(var_dir=tmp_path_factory.mktemp("var"), compute_processes=1)
    with open_backend(settings) as backend:
        families = list(backend.metrics.registry.collect())
    endings = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}
    return {family.name + ending for family in families for ending in endings.get(family.type, [""])}


def expressions() -> Iterator[tuple[str, str]]:
    """Every query with the name of what asks it."""
    for group in yaml.safe_load(RULES.read_text())["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel["targets"]:
            yield panel["title"], target["expr"]


def test_every_query_asks_for_metrics_that_there_are(told: set[str]) -> None:
    asked = {(who, name) for who, query in expressions() for name in _METRIC.findall(query)}
    assert len(asked) > 30
    assert {(who, name) for who, name in asked if name not in told} == set()


def test_every_alert_is_explained() -> None:
    page = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
    rules = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
    assert [rule["alert"] for rule in rules if f"`{rule['alert']}`" not in page] == []
    assert all(rule["annotations"].keys() == {"summary", "description"} for rule in rules)


def promtool(*words: object) -> str:
    ended = subprocess.run(["promtool", *map(str, words)], capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.mark.needs("monitoring")
def test_prometheus_takes_rules_queries_and_metrics(tmp_path: Path) -> None:
    promtool("check", "config", MONITORING / "prometheus.yml")
    recorded = [{"record": f"panel:number_{at}", "expr": query} for at, (_, query) in enumerate(expressions())]
    queries = tmp_path / "queries.yml"
    queries.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": recorded}]}))
    assert f"{len(recorded)} rules found" in promtool("check", "rules", queries)
    with open_backend(Settings(var_dir=tmp_path / "var", compute_processes=1)) as backend:
        text = backend.metrics.text(lambda _network: True)
    checked = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, check=False)
    assert (checked.returncode, checked.stderr) == (0, b"")


SERIES = {
    "QosforgeStoreDown": {"qosforge_store_up": "1 0x30"},
    "QosforgeTooFewExecutors": {"qosforge_executors": "1 0x30"},
    "QosforgeNeedsRecovery": {'qosforge_runs{status="needs_recovery"}': "0 1x30"},
    # Born with its first count, an increase of which Prometheus knows nothing.
    "QosforgeRunsFail": {'qosforge_run_outcomes_total{network="campus",outcome="failed"}': "_x10 1x20"},
    "QosforgeHttpErrors": {
        'qosforge_http_requests_total{status="200"}': "0+60x30",
        'qosforge_http_requests_total{status="503"}': "0+6x30",
    },
    "QosforgeSlowRequests": {
        'qosforge_http_request_duration_seconds_bucket{route="/runs",le="1"}': "0+10x30",
        'qosforge_http_request_duration_seconds_bucket{route="/runs",le="5"}': "0+20x30",
        'qosforge_http_request_duration_seconds_bucket{route="/runs",le="+Inf"}': "0+20x30",
    },
    "QosforgeQueueOld": {'qosforge_runs_oldest_timestamp_seconds{status="pending"}': "60x30"},
    "QosforgeRunStuck": {'qosforge_stages_oldest_timestamp_seconds{stage="push"}': "-3000x30"},
    "QosforgeDevicesFail": {'qosforge_device_failures_total{network="campus",during="drift"}': "4x10 5x20"},
}
"""For each alert what makes it fire within half an hour, a sample a minute."""


@pytest.mark.needs("monitoring")
def test_each_alert_fires(tmp_path: Path) -> None:
    rules = [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]
    assert SERIES.keys() == {rule["alert"] for rule in rules}
    asked: list[dict[str, Any]] = []
    for rule in rules:
        name = rule["alert"]
        series = [{"series": series, "values": values} for series, values in SERIES[name].items()]
        fires = {"expr": f'count(ALERTS{{alertname="{name}",alertstate="firing"}})', "eval_time": "30m"}
        asked.append(
            {
                "interval": "1m",
                "input_series": series,
                "promql_expr_test": [{**fires, "exp_samples": [{"labels": "{}", "value": 1}]}],
            }
        )
    test = tmp_path / "test.yml"
    test.write_text(yaml.safe_dump({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": asked}))
    promtool("test", "rules", test)
