"""Secrets and signatures of webhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
from pathlib import Path

import pytest

from qosforge.errors import InputError
from qosforge.settings import Settings
from qosforge.webhooks.signing import SigningKey, load_key, signature

KEY = "k" * 32


def test_a_signature_is_that_of_the_specifications_own_libraries() -> None:
    # `test_sign_function` of libraries/python/tests/test_webhooks.py in standard-webhooks/standard-webhooks.
    made = signature(
        ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
        "msg_p5jXN8AQM9LWM0D4loKWxJek",
        1614265330,
        b'{"test": 2432232314}',
    )
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_secret_has_the_specifications_form_and_is_the_webhooks_own() -> None:
    key = SigningKey(KEY)
    made = {key.secret(webhook, number) for webhook in ("a", "b") for number in (1, 2)}
    assert len(made) == 4
    assert SigningKey("other" * 8).secret("a", 1) not in made
    for secret in made:
        assert secret.startswith("whsec_")
        assert len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) == 32


def test_two_secrets_make_two_signatures() -> None:
    key = SigningKey(KEY)
    secrets = [key.secret("a", 2), key.secret("a", 1)]
    signed = [
        base64.b64encode(
            hmac.new(base64.b64decode(secret.removeprefix("whsec_")), b"m.5.{}", hashlib.sha256).digest()
        ).decode()
        for secret in secrets
    ]
    assert signature(secrets, "m", 5, b"{}") == " ".join(f"v1,{each}" for each in signed)


def test_no_text_of_a_key_shows_it() -> None:
    assert KEY not in repr(SigningKey(KEY))
    assert KEY not in str(SigningKey(KEY))


def test_on_sqlite_the_key_is_made_once_for_nobody_else_to_read(tmp_path: Path) -> None:
    settings = Settings(var_dir=tmp_path / "var")
    made = load_key(settings, {})
    assert made == load_key(settings, {})
    file = tmp_path / "var" / "webhook.key"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["webhook.key"]
    assert made.fingerprint not in file.read_text()


def test_the_environment_has_the_key_itself_or_names_its_file(tmp_path: Path) -> None:
    settings = Settings(var_dir=tmp_path / "var")
    file = tmp_path / "key"
    file.write_text(KEY + "\n")
    assert load_key(settings, {"QOSFORGE_WEBHOOK_KEY": KEY}) == SigningKey(KEY)
    assert load_key(settings, {"QOSFORGE_WEBHOOK_KEY_FILE": str(file)}) == SigningKey(KEY)


@pytest.mark.parametrize(
    "environment", [{}, {"QOSFORGE_WEBHOOK_KEY": "short"}, {"QOSFORGE_WEBHOOK_KEY_FILE": "/no"}]
)
def test_without_a_good_key_it_is_said_how_to_get_one(tmp_path: Path, environment: dict[str, str]) -> None:
    settings = Settings(var_dir=tmp_path / "var", database_url="postgresql://somebody@127.0.0.1/nothing")
    with pytest.raises(InputError, match=r"key of webhooks|signed by a key") as told:
        load_key(settings, environment)
    assert told.value.hint
    assert "short" not in str(told.value).replace("too short", "")
