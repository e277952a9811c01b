from __future__ import annotations

import stat
from pathlib import Path

import pytest

from qosforge.errors import InputError, InputErrors
from qosforge.settings import Settings, load_settings, unknown_variables


@pytest.fixture(autouse=True)
def clean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("VAR_DIR", "DATABASE_URL", "BATFISH_HOST", "BATFISH_PORT"):
        monkeypatch.delenv(f"QOSFORGE_{name}", raising=False)
    monkeypatch.chdir(tmp_path)


def test_the_defaults_stay_in_the_working_directory(tmp_path: Path) -> None:
    settings = load_settings()
    assert settings.var_dir == tmp_path / "var"
    assert settings.database_url == f"sqlite:///{tmp_path}/var/runs.sqlite"
    assert settings.artifacts_dir == tmp_path / "var" / "artifacts"
    assert (settings.batfish_host, settings.batfish_port) == (None, 9996)


def test_the_environment_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QOSFORGE_VAR_DIR", "state")
    monkeypatch.setenv("QOSFORGE_BATFISH_HOST", "127.0.0.1")
    monkeypatch.setenv("QOSFORGE_BATFISH_PORT", "19996")
    monkeypatch.setenv("QOSFORGE_DEVICE_PASSWORD", "not ours to read")
    settings = load_settings()
    assert settings.database_url == f"sqlite:///{tmp_path}/state/runs.sqlite"
    assert (settings.batfish_host, settings.batfish_port) == ("127.0.0.1", 19996)
    monkeypatch.setenv("QOSFORGE_DATABASE_URL", "sqlite:///elsewhere.sqlite")
    assert load_settings().database_url == "sqlite:///elsewhere.sqlite"


@pytest.mark.parametrize(
    ("url", "prefix"),
    [
        ("", ""),
        ("https://qos.example/", ""),
        ("https://h.example/qos/", "/qos"),
        ("http://h.example/a/b.c", "/a/b.c"),
    ],
)
def test_the_public_url_may_have_a_path(url: str, prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QOSFORGE_PUBLIC_URL", url)
    assert load_settings().path_prefix == prefix


def test_an_empty_variable_is_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QOSFORGE_BATFISH_HOST", "")
    assert load_settings().batfish_host is None


@pytest.mark.parametrize("port", ["batfish", "0", "65536"])
def test_a_wrong_variable_is_named_without_its_value(port: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QOSFORGE_BATFISH_PORT", port)
    with pytest.raises(InputErrors) as caught:
        load_settings()
    (problem,) = caught.value.errors
    assert problem.where.path == "QOSFORGE_BATFISH_PORT"
    assert "correct or unset the variable" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PUBLIC_URL", "qos"),
        ("PUBLIC_URL", "https://qos.example.org/?a=b"),
        ("PUBLIC_URL", "https://www.example.org/qos/../x"),
        ("PUBLIC_URL", "https://www.example.org/qos//"),
        ("OIDC_ISSUER", "ldap://id.example.org"),
        ("OTLP_ENDPOINT", "nonsense"),
        ("OTLP_ENDPOINT", "http://collector:70000"),
        ("INVENTORIES_DIR", "/no/such/folder"),
        ("REQUEST_SECONDS", "inf"),
        ("RUN_CONCURRENCY", "0"),
        ("VAR_DIR", "~no-such-user-here/var"),
        ("LOG_FORMAT", "xml"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_name_alone(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(f"QOSFORGE_{name}", value)
    with pytest.raises(InputErrors) as caught:
        load_settings()
    assert [problem.where.path for problem in caught.value.errors] == [f"QOSFORGE_{name}"]
    assert "Value error" not in str(caught.value), "the words are ours"


def test_variables_that_nobody_reads_are_known_from_others() -> None:
    read = ["RUN_CONCURRENCY", "DEVICE_LIMITS__READ__SECONDS", "PASSWORD_R1", "CREDENTIALS_CORE_USERNAME", "TOKEN"]
    ours = {f"QOSFORGE_{name}": "1" for name in (*read, "RUN_CONCURENCY", "WIDGETS")}
    assert unknown_variables(ours | {"OTHER": "1"}) == {
        "QOSFORGE_RUN_CONCURENCY": "QOSFORGE_RUN_CONCURRENCY",
        "QOSFORGE_WIDGETS": None,
    }


@pytest.mark.parametrize("written", ["*", "proxy.example.org", "10.0.0.0/40", "127.0.0.1,"])
def test_a_trusted_proxy_is_an_address_or_a_network(written: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QOSFORGE_TRUSTED_PROXIES", "10.1.0.0/24, ::1")
    assert load_settings().trusted_proxies == ("10.1.0.0/24", "::1/128")
    monkeypatch.setenv("QOSFORGE_TRUSTED_PROXIES", written)
    with pytest.raises(InputErrors, match="QOSFORGE_TRUSTED_PROXIES"):
        load_settings()


def test_the_run_directory_is_private(tmp_path: Path) -> None:
    made = Settings(var_dir=tmp_path / "a" / "var").make_var_dir()
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    assert Settings(var_dir=made).make_var_dir() == made


def test_a_run_directory_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="QOSFORGE_VAR_DIR"):
        Settings(var_dir=tmp_path / "file" / "var").make_var_dir()


@pytest.mark.parametrize("written", ["chat.example.net, 10.2.0.0/24", "::1, fd00::/8", "127.0.0.1"])
def test_hosts_of_webhooks_are_names_and_networks(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("QOSFORGE_WEBHOOK_HOSTS", written)
    assert load_settings().webhook_hosts == tuple(one.strip() for one in written.split(","))


@pytest.mark.parametrize(
    "written", ["*", "https://chat.example.net", "10.0.0.1/8", "300.1.2.3", "a b", "chat/path"]
)
def test_other_hosts_of_webhooks_are_refused(monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("QOSFORGE_WEBHOOK_HOSTS", written)
    with pytest.raises(InputErrors, match="QOSFORGE_WEBHOOK_HOSTS"):
        load_settings()
