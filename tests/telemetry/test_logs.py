"""What the log tells, and what it never does."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from qosforge.access.credentials import new_token
from qosforge.telemetry.logs import configure_logs


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Where the log goes; the process's own logging is put back afterwards."""
    root = logging.getLogger()
    before = root.handlers, root.level
    yield io.StringIO()
    root.handlers, root.level = before
    structlog.reset_defaults()


def test_json_has_one_object_a_line_with_its_context(log: io.StringIO) -> None:
    configure_logs("json", log)
    with structlog.contextvars.bound_contextvars(request_id="r1", run_id="u1"):
        structlog.get_logger("qosforge.x").info("begun", devices=3)
        logging.getLogger("library").warning("slow: %s", "disk")
    first, second = (json.loads(line) for line in log.getvalue().splitlines())
    assert (first["event"], first["devices"], first["level"]) == ("begun", 3, "info")
    assert (second["event"], second["level"], second["logger"]) == ("slow: disk", "warning", "library")
    for line in (first, second):
        assert (line["request_id"], line["run_id"]) == ("r1", "u1")
        assert line["timestamp"].endswith("Z")


def test_fields_of_our_own_modules_alone_are_reported(log: io.StringIO) -> None:
    configure_logs("json", log)
    logging.getLogger("qosforge.x").error("ended", extra={"run_id": "u1", "secret": "hunter2"})
    logging.getLogger("library").error("lost", extra={"peer": "db.example"})
    ours, other = (json.loads(line) for line in log.getvalue().splitlines())
    assert (ours["event"], ours["run_id"], ours["secret"]) == ("ended", "u1", "***")
    assert "peer" not in other


def test_text_is_for_people(log: io.StringIO) -> None:
    configure_logs("text", log)
    structlog.get_logger("qosforge.x").info("begun", devices=3)
    assert "begun" in log.getvalue()
    assert "devices=3" in log.getvalue()


@pytest.mark.parametrize("form", ["json", "text"])
def test_no_secret_is_reported(log: io.StringIO, form: str) -> None:
    configure_logs(form, log)  # type: ignore[arg-type]
    token_id, token = new_token()
    secrets = [
        token,
        "hunter2hunter2",
        "c29tZS1zZWNyZXQtYmVhcmVy",
        "cookie-value",
        "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    ]
    logger = structlog.get_logger("qosforge.x")
    logger.info("called", authorization=f"Bearer {secrets[2]}", headers={"Cookie": secrets[3], "Accept": "*/*"})
    logger.info(f"with {token} at postgresql://qosforge:{secrets[1]}@db/x", nested=[{"password": secrets[1]}])
    logger.warning(f"signed by whsec_{secrets[4]}")
    logging.getLogger("library").error("header Bearer %s was wrong", secrets[2])
    try:
        password = secrets[1]
        raise ValueError(f"cannot use {token}")
    except ValueError:
        logger.exception("failed")
        logging.getLogger("library").exception("failed too")
    assert password
    text = log.getvalue()
    for secret in secrets:
        assert secret not in text
    assert f"qf_{token_id}_***" in text
    assert "*/*" in text
    assert text.count("ValueError: cannot use") == 2


def test_libraries_are_quiet(log: io.StringIO) -> None:
    configure_logs("json", log)
    logging.getLogger("uvicorn.access").info("GET /login?code=secret")
    for library in ("httpx2", "paramiko.transport", "nornir.core.task", "dbos", "application"):
        logging.getLogger(library).info("request")
    assert log.getvalue() == ""
    logging.getLogger("qosforge.deploy").info("ours")
    logging.getLogger("paramiko.transport").warning("theirs")
    assert [json.loads(line)["event"] for line in log.getvalue().splitlines()] == ["ours", "theirs"]


def test_what_callers_send_is_no_line_of_its_own(log: io.StringIO) -> None:
    configure_logs("text", log)
    structlog.get_logger("qosforge.x").info("request", path="/x\n2026-01-01 [info] forged", actor="\x1b[2Jann")
    logging.getLogger("library").warning("no\r\nforged \x1b[31m")
    try:
        raise ValueError("here \x1b[2J \u202e")
    except ValueError:
        structlog.get_logger("qosforge.x").exception("failed")
    told = log.getvalue()
    assert "\u202e" not in told
    assert "\x1b" not in told
    assert not [line for line in told.splitlines() if line.startswith(("2026-01-01", "forged"))]
    assert "\nTraceback (most recent call last)" in told
