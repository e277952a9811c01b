"""The one door by which words of a device leave the session with it: no secret in them, no character unseen."""

from __future__ import annotations

from threading import Lock
from typing import Any, TypeVar

from app.deploy.credentials import Credentials
from app.errors import QosforgeError
from app.platforms.secret_forms import SecretForms

MOST_CHARACTERS = 2000
"""Of a device's words in one message; a device may say any amount."""

E = TypeVar("E", bound=QosforgeError)


class DeviceWords:
    """What must not be seen of one device, and what is shown instead. Safe to share between threads.

    Secrets are what its platform's lines hold by their form, the credentials that reach it, and what the
    configurations that were read from it hold.
    """

    def __init__(self, forms: SecretForms, login: Credentials | None) -> None:
        self._forms = forms
        self._lock = Lock()
        self._secrets = login.secrets if login else frozenset()

    def learn(self, configuration: str) -> None:
        """Remember the secrets of a configuration, to find them wherever the device says them."""
        found = self._forms.secrets(configuration)
        with self._lock:
            self._secrets |= found

    def shown(self, text: str) -> str:
        """The device's words as people, stores and logs may have them."""
        whole = self._forms.shown(text, self._secrets)
        if len(whole) <= MOST_CHARACTERS:
            return whole
        return f"{whole[:MOST_CHARACTERS]} … and {len(whole) - MOST_CHARACTERS:,} more characters"

    def shown_document(self, document: Any) -> Any:
        """A JSON document that quotes the device, as people, stores and logs may have it."""
        return self._forms.shown_document(document, self._secrets)

    def shown_in(self, error: E) -> E:
        """The error with a message that may be shown; every error of a task on the device comes through here."""
        problems: list[QosforgeError] = [error, *error.problems()]
        for one in problems:
            one.message = self.shown(one.message)
        return error
