"""Checks of the webhooks: the target is allowed, and the secret can be derived."""

from __future__ import annotations

from collections.abc import Iterator

from qosforge.errors import InputError
from qosforge.operations.checks.model import CheckContext, CheckResult, CheckState
from qosforge.webhooks.registry import Webhook, webhooks
from qosforge.webhooks.signing import SigningKey, find_key
from qosforge.webhooks.targets import AllowList, parse_url


def check_webhooks(context: CheckContext) -> Iterator[CheckResult]:
    """The key of this process made the secret of every webhook, and the allowed hosts have its host."""
    with context.store() as connection:
        found = [] if connection is None else webhooks(connection)
    if not found:
        yield CheckResult("webhooks", CheckState.GOOD, "none")
        return
    key, allowed = find_key(context.settings, context.environment), AllowList(context.settings.webhook_hosts)
    wrong = [result for webhook in found if (result := _wrong(webhook, key, allowed)) is not None]
    yield from wrong
    if not wrong:
        yield CheckResult("webhooks", CheckState.GOOD, f"{len(found)}, with their key and their hosts allowed")


def _wrong(webhook: Webhook, key: SigningKey | None, allowed: AllowList) -> CheckResult | None:
    name = f"webhook {webhook.name}"
    if not webhook.enabled:
        why = f"disabled: {webhook.disabled_because}" if webhook.disabled_because else "disabled"
        return CheckResult(name, CheckState.WARNING, why, f"qosforge webhook enable {webhook.name}, or remove it")
    try:
        allowed.require_possible(parse_url(webhook.url))
    except InputError as error:
        return CheckResult(name, CheckState.FAILED, error.message, error.hint)
    if key is None or key.fingerprint != webhook.key:
        what = "there is no key" if key is None else "the key is another one than its secret was made with"
        hint = f"give this process that key, or the webhook a new secret: qosforge webhook secret {webhook.name}"
        return CheckResult(name, CheckState.FAILED, what, hint)
    return None
