"""The doctor sees what is wrong with an installation, says how to mend it, and changes nothing."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from uuid import uuid4

import keyring
import pytest
import sqlalchemy as sa
from keyring.backends import fail

from qosforge.access.tables import GRANTS, TOKENS, USERS
from qosforge.artifacts.store import FileArtifacts
from qosforge.cli.main import main
from qosforge.database.connections import Database
from qosforge.database.filelock import FileLock
from qosforge.errors import InputError
from qosforge.operations.checks import program, storage
from qosforge.operations.checks.backups import check_backup
from qosforge.operations.checks.model import CheckContext, CheckResult, CheckState
from qosforge.operations.doctor import CHECKS, check_of_row, examine
from qosforge.runs.record.run import Run
from qosforge.runs.record.store import RunStore
from qosforge.runs.record.tables import EXECUTORS, READINGS, RUNS, JournalAction, RunStatus
from qosforge.settings import Settings
from qosforge.system_packages import Part, Probe
from tests.cli.conftest import Ended
from tests.runs.support import WHY
from tests.vault_servers import interface_vault

ROOT = Path(__file__).parents[2]
NOW = datetime.now(UTC)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty run directory, with credentials for every device."""
    for name in ("USERNAME", "PASSWORD"):
        monkeypatch.setenv(f"QOSFORGE_{name}", "x")
    monkeypatch.delenv("QOSFORGE_BATFISH_HOST", raising=False)
    var = tmp_path / "var"
    monkeypatch.setenv("QOSFORGE_VAR_DIR", str(var))
    return var


@pytest.fixture
def run(place: Path) -> Run:
    """A store with one run that failed."""
    settings = Settings()
    settings.make_var_dir()
    network = FileArtifacts(settings.artifacts_dir).put_text("network")
    with RunStore(settings.database_url) as store:
        run = store.create_run("campus", "policy", "f" * 64, {"network": network})
        return store.set_status(run.id, RunStatus.FAILED, reason=WHY)


CHECK = {
    "disk": "run directory",
    "clock": "database",
    "engine": "database",
    "tables": "database",
    "token": "users",
    "git": "optional parts",
    "pdf": "optional parts",
    "parquet": "optional parts",
    "network one": "networks",
    "vault": "credentials",
    "keyring": "credentials",
}
"""Which check finds a thing, where they are not named alike."""


def found(name: str, **settings: object) -> CheckResult:
    checks = [CHECK.get(name, name)]
    results = [result for result in examine(Settings(**settings), checks) if result.name == name]
    assert len(results) == 1, results
    return results[0]


def wrong(name: str, state: CheckState, message: str, hint: str, **settings: object) -> None:
    result = found(name, **settings)
    assert (result.state, message in result.message, hint in result.hint) == (state, True, True), result


def execute(*statements: sa.Executable) -> None:
    database = Database(Settings().database_url)
    with database.write() as connection:
        for statement in statements:
            connection.execute(statement)
    database.close()


def command(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["qosforge", "doctor", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.needs("pdf")
@pytest.mark.needs("git")
@pytest.mark.needs("jump")
def test_a_new_installation_is_good_and_stays_untouched(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(monkeypatch, "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert {entry["state"] for entry in document} == {"good"}
    assert {"python", "packages", "twin", "data files", "git", "database", "batfish"} < {
        e["name"] for e in document
    }
    assert not place.exists()


def test_exit_codes_tell_warnings_from_failures(
    run: Run, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(monkeypatch, "run directory", "artifacts") == 0
    place.chmod(0o755)
    assert command(monkeypatch, "run directory", "artifacts") == 1
    shutil.rmtree(place / "artifacts")
    assert command(monkeypatch, "run directory", "artifacts") == 3
    assert "chmod 700" in capsys.readouterr().out


# -- the program -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("pins", "state", "told"),
    [
        ("numpy==0.0.1 \\\n    --hash=x\n", CheckState.WARNING, "instead of 0.0.1"),
        ("no-such-package==1.0 \\\n", CheckState.FAILED, "no-such-package missing instead of 1.0"),
        ("no-such-package==1.0 ; sys_platform == 'win32' \\\n", CheckState.GOOD, "0 as in"),
    ],
)
def test_packages_are_compared_with_the_lock(
    place: Path, monkeypatch: pytest.MonkeyPatch, pins: str, state: CheckState, told: str
) -> None:
    monkeypatch.setattr(program, "read_text", lambda _name: pins)
    wrong("packages", state, told, "" if state is CheckState.GOOD else "--require-hashes")


def test_a_twin_that_cannot_be_loaded_is_reported(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "qosforge_twin", None)
    wrong("twin", CheckState.FAILED, "cannot be loaded", "install qosforge-twin")


def test_a_command_without_the_twin_still_says_so(tmp_path: Path) -> None:
    code = "import sys; sys.modules['qosforge_twin'] = None; from qosforge.cli.entry import main; main()"
    command = [sys.executable, "-c", code, "doctor", "twin"]
    said = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path).stdout
    assert re.search(r"failed +twin +cannot be loaded", said)


def test_missing_programs_are_reported(place: Path, monkeypatch: pytest.MonkeyPatch, postgres_url: str) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    wrong("git", CheckState.WARNING, "missing git", "apt-get install --no-install-recommends git")
    wrong("optional parts", CheckState.FAILED, "pg_dump is missing", "postgresql-client", database_url=postgres_url)


def test_what_an_optional_part_needs_is_reported(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    probed = Probe(library="libno-such-library.so.0")
    part = Part("pdf", "PDF reports", True, {"libpango-1.0-0": probed, "sh": Probe(files="/bin/sh")})
    monkeypatch.setattr(program, "parts", lambda: {"pdf": part})
    wrong(
        "pdf",
        CheckState.WARNING,
        "PDF reports: missing libpango-1.0-0",
        "--no-install-recommends libpango-1.0-0",
    )
    assert "pyarrow" in found("parquet").message


# -- storage -----------------------------------------------------------------------------------------------
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc, where nobody makes a directory")
def test_a_run_directory_where_nobody_makes_one_is_reported(place: Path) -> None:
    wrong(
        "run directory",
        CheckState.FAILED,
        "/proc cannot be written",
        "QOSFORGE_VAR_DIR",
        var_dir=Path("/proc/nope"),
    )


def test_a_run_directory_that_cannot_be_made_is_reported(place: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    wrong(
        "run directory",
        CheckState.FAILED,
        "cannot be written",
        "QOSFORGE_VAR_DIR",
        var_dir=tmp_path / "file" / "var",
    )


def test_a_full_disk_is_reported(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    free = shutil.disk_usage("/").free
    monkeypatch.setattr(storage, "_TIGHT_BYTES", free * 2)
    wrong("disk", CheckState.WARNING, "free", "qosforge retention")
    monkeypatch.setattr(storage, "_FULL_BYTES", free * 2)
    wrong("disk", CheckState.FAILED, "free", "qosforge retention")


@pytest.mark.parametrize(
    ("revision", "state", "told"),
    [("0001", CheckState.FAILED, "this release works with"), ("9999", CheckState.FAILED, "does not know")],
)
def test_tables_of_another_release_are_reported_and_left(
    run: Run, revision: str, state: CheckState, told: str
) -> None:
    held = sa.text("SELECT version_num FROM alembic_version")
    change = sa.text("UPDATE alembic_version SET version_num = :revision").bindparams(revision=revision)
    execute(change)
    hint = "qosforge database upgrade" if revision == "0001" else "use the release"
    wrong("database", state, told, hint)
    wrong("artifacts", CheckState.FAILED, "cannot be checked", hint)
    engine = sa.create_engine(Settings().database_url)
    with engine.connect() as connection:
        assert connection.scalar(held) == revision
    engine.dispose()


def test_a_damaged_database_is_reported(run: Run, place: Path) -> None:
    (place / "runs.sqlite").write_bytes(b"no database at all, but long enough to look like one" * 100)
    wrong("database", CheckState.FAILED, "not a database", "backup")
    assert found("executors").state is CheckState.FAILED


def test_a_server_that_is_away_is_reported(place: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    url = f"postgresql://ann:s3cret@127.0.0.1:{port}/qosforge"
    results = examine(Settings(database_url=url), ["database", "artifacts", "executors", "users"])
    assert "s3cret" not in str(results)
    states = {result.name: result.state for result in results}
    assert states == dict.fromkeys(states, CheckState.FAILED)
    assert len(states) == 4


@pytest.mark.needs("postgresql-backup")
def test_a_server_at_work_is_good(place: Path, postgres_url: str) -> None:
    checks = ["optional parts", "database", "artifacts", "executors"]
    results = {result.name: result for result in examine(Settings(database_url=postgres_url), checks)}
    assert {results[name].state for name in ("database", "clock", "artifacts", "pg_dump")} == {CheckState.GOOD}
    assert results["executors"].state is CheckState.WARNING  # nobody would take up a run
    assert "qosforge worker" in results["executors"].hint


def test_lost_and_damaged_artifacts_are_reported(run: Run, place: Path) -> None:
    assert found("artifacts").state is CheckState.GOOD
    artifact = run.params["network"]
    path = place / "artifacts" / artifact[:2] / artifact[2:]
    path.write_text("other")
    wrong("artifacts", CheckState.FAILED, "damaged", "backup")
    path.unlink()
    wrong("artifacts", CheckState.FAILED, "missing", "backup")


def test_a_damaged_last_reading_is_reported(run: Run, place: Path) -> None:
    artifact = FileArtifacts(Settings().artifacts_dir).put_text("hostname r1")
    execute(sa.insert(READINGS).values(network="campus", device="r1", artifact=artifact, at=NOW))
    assert found("artifacts").state is CheckState.GOOD
    (place / "artifacts" / artifact[:2] / artifact[2:]).write_text("other")
    wrong("artifacts", CheckState.FAILED, "damaged", "backup")


def test_a_damaged_record_of_the_engine_is_reported(run: Run, place: Path) -> None:
    (place / "engine.sqlite").write_bytes(b"no database at all, but long enough to look like one" * 100)
    wrong("engine", CheckState.FAILED, "not a database", "backup")


def test_tables_and_indexes_that_are_gone_are_reported(run: Run) -> None:
    execute(sa.text("DROP INDEX ix_runs_status"), sa.text("DROP TABLE open_calls"))
    wrong("tables", CheckState.FAILED, "it lacks index ix_runs_status, table open_calls", "backup")


def test_the_age_of_the_last_backup_is_told(run: Run, tmp_path: Path, qosforge: Callable[..., Ended]) -> None:
    wrong("backup", CheckState.WARNING, "none is recorded", "qosforge backup create")
    assert qosforge("backup", "create", str(tmp_path / "one.backup")).code == 0
    assert found("backup").state is CheckState.GOOD
    assert str(tmp_path / "one.backup") in found("backup").message
    later = CheckContext(Settings(), {}, now=lambda: datetime.now(UTC) + timedelta(days=8))
    (old,) = check_backup(later)
    assert (old.state, "8 days ago" in old.message) == (CheckState.WARNING, True)


# -- runs --------------------------------------------------------------------------------------------------
def _slot(name: str, version: str, seconds: float) -> sa.Executable:
    values = {"id": name, "host": "h", "pid": 7, "workflow_version": version, "started": NOW}
    return sa.insert(EXECUTORS).values(**values, expires=NOW + timedelta(seconds=seconds))


def test_runs_that_nobody_carries_on_are_reported(run: Run, place: Path) -> None:
    assert found("executors").state is CheckState.GOOD
    with RunStore(Settings().database_url) as store:
        store.create_run("campus", "policy", "f" * 64, {})
    execute(_slot("dead", "1", -60))
    wrong("executors", CheckState.WARNING, "none is alive; 1 runs", "qosforge serve")
    lock = FileLock(place / "runs.sqlite.owner")
    assert lock.try_acquire()
    assert found("executors").state is CheckState.GOOD
    lock.release()
    execute(_slot("one", "1", 3600))
    assert "one on h (process 7)" in found("executors").message
    execute(_slot("two", "2", 3600))
    wrong("executors", CheckState.WARNING, "2 versions", "stop the older")


def test_a_worker_is_looked_for_on_its_own_machine(run: Run) -> None:
    execute(_slot("elsewhere", "1", 3600))
    wrong("worker", CheckState.FAILED, f"none is alive on {socket.gethostname()}", "qosforge worker")
    execute(_slot("here", "1", 3600), sa.update(EXECUTORS).values(host=socket.gethostname()))
    assert found("worker").state is CheckState.GOOD


def test_a_check_that_nobody_knows_is_reported(place: Path) -> None:
    with pytest.raises(InputError, match="no check 'nothing'") as refused:
        examine(Settings(), ["nothing"])
    assert refused.value.hint.startswith("known: python, packages")


def test_the_name_of_every_result_leads_to_its_check(place: Path) -> None:
    for check in CHECKS:
        results = examine(Settings(), [check])
        assert [check_of_row(result.name) for result in results] == [check] * len(results)


def test_a_device_between_two_states_is_reported(run: Run) -> None:
    with RunStore(Settings().database_url) as store:
        store.journal.append(run.id, "r1", JournalAction.TOUCHING)
        wrong("devices", CheckState.FAILED, "campus/r1", "qosforge recover")
        store.journal.append(run.id, "r1", JournalAction.UNDONE)
    assert found("devices").state is CheckState.GOOD
    execute(sa.update(RUNS).values(status=RunStatus.NEEDS_RECOVERY.value))
    wrong("devices", CheckState.FAILED, run.id, "qosforge recover")


# -- users and settings ------------------------------------------------------------------------------------
def test_users_without_an_admin_and_tokens_near_their_end_are_reported(run: Run) -> None:
    user = str(uuid4())
    execute(sa.insert(USERS).values(id=user, name="ann", disabled=False, created=NOW))
    wrong("users", CheckState.WARNING, "nobody may manage", "qosforge user grant")
    execute(sa.insert(GRANTS).values(user_id=user, network="campus", role="admin"))
    assert found("users").state is CheckState.WARNING  # of one network only
    execute(sa.insert(GRANTS).values(user_id=user, network="*", role="admin"))
    assert found("users").message == "admins: ann"
    for days, revoked in ((3, None), (3, NOW), (90, None), (-1, None)):
        values = {"id": str(uuid4()), "user_id": user, "name": f"t{days}", "hash": uuid4().hex, "role": "viewer"}
        times = {"created": NOW, "expires": NOW + timedelta(days=days), "revoked": revoked}
        execute(sa.insert(TOKENS).values(**values, **times))
    wrong("token", CheckState.WARNING, "t3 of ann ends on", "make a new one")
    execute(sa.update(USERS).values(disabled=True))
    assert found("users").state is CheckState.WARNING


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        (
            "OIDC_ISSUER",
            "https://id.example/",
            ("QOSFORGE_OIDC_CLIENT_ID, QOSFORGE_PUBLIC_URL missing", "all three"),
        ),
        ("PUBLIC_URL", "http://qos.example/", ("not encrypted", "TLS")),
        ("RUN_CONCURENCY", "3", ("read by nobody", "QOSFORGE_RUN_CONCURRENCY")),
        ("WIDGETS", "3", ("QOSFORGE_WIDGETS is read by nobody", "unset it")),
        ("COMPUTE_PROCESSES", "64", ("64 processes shall compile", "COMPUTE_PROCESSES")),
    ],
)
def test_settings_that_cannot_be_meant_are_reported(
    place: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: tuple[str, str]
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    monkeypatch.setenv(f"QOSFORGE_{name}", value)
    wrong("settings", CheckState.WARNING, *told)


# -- outside -----------------------------------------------------------------------------------------------
def test_networks_that_cannot_be_read_or_reached_are_reported(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "inventories"
    shutil.copytree(ROOT / "inventories" / "infn-fnal", folder / "one")
    hosts = folder / "one" / "hosts.yaml"
    told = hosts.read_text()
    hosts.write_text(told.replace("\nrouter1:\n", "\nrouter1:\n  hostname: 127.0.0.1\n"))
    half = {r.state: r for r in examine(Settings(inventories_dir=folder), ["networks"])}
    assert half[CheckState.WARNING].message == "no hostname: router3"
    hosts.write_text(hosts.read_text().replace("\nrouter3:\n", "\nrouter3:\n  hostname: 127.0.0.1\n"))
    assert found("network one", inventories_dir=folder).state is CheckState.GOOD
    monkeypatch.delenv("QOSFORGE_PASSWORD")
    wrong("network one", CheckState.WARNING, "router1, router3", "QOSFORGE_PASSWORD", inventories_dir=folder)
    (folder / "one" / "links.yaml").write_text("links: {")
    wrong("network one", CheckState.FAILED, "links.yaml", "", inventories_dir=folder)
    wrong("networks", CheckState.FAILED, "none in", "QOSFORGE_INVENTORIES_DIR", inventories_dir=tmp_path / "none")


def test_networks_for_a_lab_need_no_credentials(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QOSFORGE_PASSWORD")
    results = examine(Settings(inventories_dir=ROOT / "inventories"), ["networks"])
    assert len(results) == 4
    assert {(r.state, r.message.partition(", ")[2]) for r in results} == {
        (CheckState.GOOD, "for a lab: none has a hostname")
    }


def test_the_network_that_is_named_is_judged_alone(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    mine = tmp_path / "office"
    shutil.copytree(ROOT / "inventories" / "infn-fnal", mine)
    hosts = mine / "hosts.yaml"
    hosts.write_text(hosts.read_text().replace("\nrouter1:\n", "\nrouter1:\n  hostname: 127.0.0.1\n"))
    monkeypatch.delenv("QOSFORGE_PASSWORD")
    assert command(monkeypatch, "networks", "--network", str(mine), "--json") == 1
    document = json.loads(capsys.readouterr().out)
    assert {entry["name"] for entry in document} == {"network office"}
    assert any("no credentials for router1" in entry["message"] for entry in document)


def test_transports_that_others_can_read_are_reported(place: Path, tmp_path: Path) -> None:
    folder = tmp_path / "inventories"
    shutil.copytree(ROOT / "inventories" / "infn-fnal", folder / "one")
    hosts = folder / "one" / "hosts.yaml"
    told = hosts.read_text()
    for device, transport in (("router1", "telnet"), ("router3", "ssh-legacy")):
        here = f"\n{device}:\n"
        assert here in told
        told = told.replace(here, f"{here}  hostname: 127.0.0.1\n")
        begin, rest = told.split(here)
        told = begin + here + rest.replace("  data:\n", f"  data:\n    transport: {transport}\n", 1)
    hosts.write_text(told)
    results = examine(Settings(inventories_dir=folder), ["networks"])
    warned = {r.message.split(":")[0]: r.hint for r in results if r.state is CheckState.WARNING}
    assert warned.keys() == {"telnet to router1", "ssh-legacy to router3"}
    assert "SSH" in warned["telnet to router1"]
    assert "jump host" in warned["ssh-legacy to router3"]


def test_devices_and_a_collector_that_do_not_answer_are_reported(place: Path, tmp_path: Path) -> None:
    folder = tmp_path / "inventories"
    shutil.copytree(ROOT / "inventories" / "infn-fnal", folder / "one")
    hosts = folder / "one" / "hosts.yaml"
    told = hosts.read_text()

    def place_router(port: int) -> None:
        hosts.write_text(told.replace("\nrouter1:\n", f"\nrouter1:\n  hostname: 127.0.0.1\n  port: {port}\n"))

    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        endpoint = f"http://127.0.0.1:{port}"
        place_router(port)
        assert found("reach", inventories_dir=folder).message == "1 devices accept connections"
        assert found("traces", otlp_endpoint=endpoint).state is CheckState.GOOD
    wrong("reach", CheckState.WARNING, "router1 (Connection refused)", "network check", inventories_dir=folder)
    wrong("traces", CheckState.WARNING, "Connection refused", "QOSFORGE_OTLP_ENDPOINT", otlp_endpoint=endpoint)


def test_a_vault_and_a_keyring_that_give_nothing_are_reported_once(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "credentials.yaml"
    text = "core: {username: c, password: {vault: core, field: password}, secret: {vault: core, field: secret}}\n"
    file.write_text(text + "edge: {username: e, password: {keyring: edge, user: e}}\n")
    file.chmod(0o600)
    backend = keyring.get_keyring()
    keyring.set_keyring(fail.Keyring())
    try:
        with interface_vault() as vault:
            vault.write("core", {"password": "PLANTED1", "secret": "PLANTED2"})
            monkeypatch.delenv("VAULT_ADDR", raising=False)
            wrong("vault", CheckState.FAILED, "VAULT_ADDR: is not set", "https://", credentials_file=file)
            monkeypatch.setenv("VAULT_ADDR", vault.address)
            monkeypatch.setenv("VAULT_TOKEN", vault.new_token("secret/data/core"))
            good = found("vault", credentials_file=file)
            assert good.state is CheckState.GOOD
            assert good.message.endswith("that " + str(file) + " names: core.password, core.secret")
            vault.seal()
            wrong(
                "vault",
                CheckState.FAILED,
                "core.password, core.secret: the Vault at",
                "unseal",
                credentials_file=file,
            )
        wrong(
            "keyring",
            CheckState.FAILED,
            "edge.password: this system has no keyring",
            "Vault",
            credentials_file=file,
        )
    finally:
        keyring.set_keyring(backend)
    file.write_text("core: {username: c, password: plain}\n")
    assert found("vault", credentials_file=file).message == f"not named in {file}"
    file.chmod(0o644)
    wrong("credentials", CheckState.FAILED, "others than its owner may read it", "chmod 600", credentials_file=file)


@pytest.fixture
def answering(request: pytest.FixtureRequest) -> Iterator[int]:
    """The port of a web server that answers everything with the test's bytes."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(request.param)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("answering", "state", "told"),
    [
        (b'{"Batfish": "2026.09.17.3748", "Z3": "4"}', CheckState.GOOD, "release 2026.09.17.3748"),
        (b'{"Batfish": "0.36.0", "Z3": "4"}', CheckState.GOOD, "release 0.36.0"),
        (b'{"Batfish": "2026.08.01.3700"}', CheckState.WARNING, "(pybatfish) is release 2026.09.17.3748"),
        (b'{"Batfish": "2019.01.01.1"}', CheckState.FAILED, "release 2019.01.01.1; the client"),
        (b'{"Batfish": "0.35.0"}', CheckState.FAILED, "release 0.35.0; the client"),
        (b"<html>", CheckState.FAILED, "no Batfish"),
        (b"[]", CheckState.FAILED, "no Batfish"),
        (b'{"other": 1}', CheckState.FAILED, "no Batfish"),
    ],
    indirect=["answering"],
)
def test_what_answers_is_asked_whether_it_is_batfish(
    place: Path, answering: int, state: CheckState, told: str
) -> None:
    wrong("batfish", state, told, "", batfish_host="127.0.0.1", batfish_port=answering)


def test_a_batfish_that_is_away_is_reported(place: Path) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    wrong(
        "batfish",
        CheckState.FAILED,
        "does not answer",
        "docker compose",
        batfish_host="127.0.0.1",
        batfish_port=port,
    )
