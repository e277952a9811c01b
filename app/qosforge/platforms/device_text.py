"""Text from a device: a type that cannot be printed, stored or logged before its secrets are masked."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from multiprocessing.reduction import ForkingPickler
from threading import Lock
from typing import Any, NoReturn, TypeAlias, TypeVar

from qosforge.errors import ChangeRefused, QosforgeError
from qosforge.platforms.base import secret_forms

MOST_CHARACTERS = 2000
"""Of a device's words in one message; a device may say any amount."""
_ROOM = 40
"""Characters of them that say how many more there were."""

E = TypeVar("E", bound=QosforgeError)


class DeviceText:
    """A configuration, an answer, a refusal, a difference or an error text of one device.

    It is no `str`: what formats, prints, logs or writes it as JSON gets its description or an error, `pickle`
    refuses it, and so does pydantic. Equal where the device said the same. `shown` and `in_message` are its ways to
    people, stores and logs. Only the modules that parse, compare or put back may open it (``unmasked``):
    `tests/platforms/test_device_text.py` lists them.
    """

    __slots__ = ("__exact", "__teaches", "__words")

    def __init__(self, exact: str, words: DeviceWords, *, teaches: bool = False) -> None:
        """``teaches``: it is a configuration, whose secrets ``words`` learn before anything of it is shown."""
        self.__exact = exact
        self.__words = words
        self.__teaches = teaches

    @property
    def words(self) -> DeviceWords:
        """The door of its device, which knows the secrets of this text, too."""
        if self.__teaches:
            self.__words.learn(self.__exact)
            self.__teaches = False
        return self.__words

    @property
    def unmasked(self) -> str:
        """The text as the device said it: to be parsed, compared or put back, and for nobody's eyes."""
        return self.__exact

    @property
    def digest(self) -> str:
        """Its SHA-256, for keys of what depends on it."""
        return hashlib.sha256(self.__exact.encode()).hexdigest()

    @property
    def is_blank(self) -> bool:
        """Whether the device said nothing."""
        return not self.__exact.strip()

    def shown(self) -> str:
        """The whole text as people, stores and logs may have it."""
        return self.words.shown(self.__exact)

    def in_message(self) -> str:
        """As `shown`, no longer than a message may be."""
        return self.words.in_message(self.__exact)

    def saying(self, said: str) -> DeviceText:
        """Words that quote this text, or were made of it: a text of the same device."""
        return self.words.text(said)

    def _sent(self) -> tuple[Any, ...]:
        """How it is made again in another process."""
        words = self.__words
        words._learn_earlier()
        return _received, (words.device, words.platform, words._secrets, self.__exact, self.__teaches)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceText) and self.__exact == other.__exact

    def __hash__(self) -> int:
        return hash(self.__exact)

    def __repr__(self) -> str:
        return f"<text of {self.__words.device}, {len(self.__exact.splitlines())} lines>"

    def __reduce_ex__(self, _protocol: object) -> NoReturn:
        raise TypeError("a device's text is not stored as it is: show it, or keep it as an artifact")


Configuration: TypeAlias = DeviceText | str
"""A configuration to be read: a device's, or a text that a person gave, as of a file."""


class DeviceWords:
    """Masks the secrets of one device in text: what must not be seen of it, and what is shown instead. Safe
    between threads.

    Secrets are what its platform's lines hold by their form, the credentials that reach it, and what its
    configurations hold. Before one is read these are the ``earlier`` one: asked once, and only where the device's
    words are to be shown.
    """

    def __init__(
        self,
        device: str,
        platform: str,
        secrets: Iterable[str] = (),
        earlier: Callable[[], str | None] | None = None,
    ) -> None:
        """``platform`` may be one that nobody knows: then the forms of all are looked for.

        ``secrets`` are those of its credentials; ``earlier`` gives the configuration that was read last, if any.
        """
        self.device = device
        self.platform = platform
        self._forms = secret_forms(platform)
        self._lock = Lock()
        self._secrets = frozenset(secrets)
        self._earlier = earlier

    def text(self, said: str) -> DeviceText:
        """What the device said: an answer, a refusal, or words that quote it."""
        return DeviceText(said, self)

    def read(self, said: str) -> DeviceText:
        """A configuration that the device says now: its secrets are known from then on."""
        self.learn(said)
        return DeviceText(said, self)

    def configuration(self, said: str) -> DeviceText:
        """A configuration that it said before: its secrets are known once anything of it is shown."""
        return DeviceText(said, self, teaches=True)

    def with_secrets_of(self, other: DeviceWords) -> DeviceWords:
        """The door of the same device for what quotes texts of this one and of another one of its doors."""
        for one in (self, other):
            one._learn_earlier()
        return DeviceWords(self.device, self.platform, self._secrets | other._secrets)

    def learn(self, configuration: str) -> None:
        """Remember the secrets of a configuration, to find them wherever the device says them."""
        found = self._forms.secrets(configuration)
        with self._lock:
            self._secrets |= found
            self._earlier = None

    def _learn_earlier(self) -> None:
        earlier = self._earlier
        if earlier is None:
            return
        # Where nobody can say, the forms still hold, and the next words ask again.
        with suppress(QosforgeError):
            self.learn(earlier() or "")

    def shown(self, said: str) -> str:
        """Words that quote the device, as people, stores and logs may have them."""
        self._learn_earlier()
        return self._forms.shown(said, self._secrets)

    def covered(self, lines: Iterable[str]) -> Iterator[str | None]:
        """Lines of a configuration for a program beside this one: as `SecretForms.covered` gives them."""
        self._learn_earlier()
        return self._forms.covered(lines, self._secrets)

    def in_message(self, said: str) -> str:
        """As `shown`, no longer than a message may be."""
        whole = self.shown(said)
        if len(whole) <= MOST_CHARACTERS:
            return whole
        kept = MOST_CHARACTERS - _ROOM
        return f"{whole[:kept]} … and {len(whole) - kept:,} more characters"

    def shown_document(self, document: Any) -> Any:
        """A JSON document that quotes the device, as people, stores and logs may have it."""
        self._learn_earlier()
        return self._forms.shown_document(document, self._secrets)

    def shown_in(self, error: E) -> E:
        """The error with words that may be shown."""
        problems: list[QosforgeError] = [error, *error.problems()]
        for one in problems:
            one.message = self.in_message(one.message)
            if isinstance(one, ChangeRefused):
                one.answer = self.in_message(one.answer)
        return error


def words_of(configuration: Configuration, device: str, platform: str) -> DeviceWords:
    """The door for what quotes a configuration of a device, whether the device or a person gave it."""
    if isinstance(configuration, DeviceText):
        return configuration.words
    return DeviceWords(device, platform).configuration(configuration).words


def unmasked(configuration: Configuration) -> str:
    """A configuration as it is, to be parsed; see `DeviceText.unmasked`."""
    return configuration.unmasked if isinstance(configuration, DeviceText) else configuration


def _received(device: str, platform: str, secrets: frozenset[str], exact: str, teaches: bool) -> DeviceText:
    return DeviceText(exact, DeviceWords(device, platform, secrets), teaches=teaches)


# Through a pipe to a computing process of this one (`qosforge.compute`), which is no place where anything stays.
ForkingPickler.register(DeviceText, DeviceText._sent)
