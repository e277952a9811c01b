"""Read whole lists of NetBox's REST API within limits, with failures explained for people."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import pynetbox
import requests
from requests.adapters import HTTPAdapter

from qosforge.errors import InputError, Place, QosforgeError, SourceError
from qosforge.units import shortened

OLDEST: Final = (3, 3)
"""The first version whose interfaces have a list of connected endpoints."""
PAGE = 500
"""Objects of one answer; NetBox's own limit, MAX_PAGE_SIZE, is 1000 unless set lower."""
IDS = 100
"""Ids that one request names: they come to some 2 kB of its address, of which servers take 8."""
CONNECT_SECONDS, ANSWER_SECONDS = 10.0, 60.0
"""Longest time for a connection, and without a byte of an answer."""
WHOLE_SECONDS = 900.0
"""Longest time for all requests together."""
MOST_OBJECTS = 500_000
"""Objects of one list: twice the interfaces of the largest inventory."""

Record = Mapping[str, Any]


class NetBox:
    """One NetBox. The token is sent to its address alone, wherever an answer points."""

    def __init__(self, url: str, token: str, ca: Path | None = None) -> None:
        """Nothing is sent yet."""
        self._url = url
        self._token = token
        session = requests.Session()
        session.auth = _as_it_is
        # Redirects and the addresses of next pages are the server's words: none leads the token elsewhere.
        session.adapters.clear()
        session.mount(f"{url}/", HTTPAdapter())
        # pynetbox itself waits without a limit; and REQUESTS_CA_BUNDLE would outweigh what a session verifies by.
        options = {"timeout": (CONNECT_SECONDS, ANSWER_SECONDS), "verify": True if ca is None else str(ca)}
        session.request = partial(session.request, **options)
        self._api = pynetbox.api(url, token=token)
        self._api.http_session = session
        self._end = time.monotonic() + WHOLE_SECONDS

    def require_version(self) -> None:
        """Make sure that NetBox is there, and not too old.

        Raises:
            SourceError: it is not.
        """
        try:
            text = str(self._api.version)
        except Exception as error:  # noqa: BLE001  see `_failure`
            raise self._failure(error, "its version") from None
        numbers = tuple(int(part) for part in text.split(".")[:2] if part.isdigit())
        if len(numbers) < 2:
            raise self._error("what answers is no NetBox", "check 'url'")
        if numbers < OLDEST:
            oldest = ".".join(map(str, OLDEST))
            raise self._error(f"it is NetBox {shortened(text)}", f"bring it to {oldest} or later")

    def records(self, application: str, endpoint: str, parameters: Mapping[str, Any]) -> list[Record]:
        """All objects of a list that these parameters leave, each once, in the order of their ids.

        Raises:
            FilterRefused: NetBox does not know a value of a parameter.
            SourceError: the list cannot be read.
        """
        found: dict[int, Record] = {}
        try:
            answers = getattr(getattr(self._api, application), endpoint).filter(**parameters, limit=PAGE)
            for answer in answers:
                record = dict(answer)
                # Pages shift while somebody adds objects: one may come twice.
                found[int(record["id"])] = record
                if len(found) > MOST_OBJECTS:
                    raise self._error(f"it has more than {MOST_OBJECTS:,} {endpoint}", "narrow the filter")
                if time.monotonic() > self._end:
                    raise self._error(f"it took more than {WHOLE_SECONDS:g} s", "narrow the filter")
        except QosforgeError:
            raise
        except Exception as error:  # noqa: BLE001  see `_failure`
            raise self._failure(error, endpoint.replace("_", " ")) from None
        return [found[key] for key in sorted(found)]

    def records_of(self, application: str, endpoint: str, parameter: str, ids: Iterable[int]) -> Iterator[Record]:
        """All objects of a list that belong to these ids, as many ids a request as an address has room for.

        Raises:
            SourceError: the list cannot be read.
        """
        numbers = sorted(set(ids))
        for begin in range(0, len(numbers), IDS):
            yield from self.records(application, endpoint, {parameter: numbers[begin : begin + IDS]})

    def unexpected(self, what: str) -> SourceError:
        """That an answer about something is of a shape that no NetBox's has."""
        return self._error(f"its answer about {what} is not as NetBox documents it", "check 'url'")

    def _error(self, message: str, hint: str) -> SourceError:
        return SourceError(self._plain(message), Place(path=self._url), hint)

    def _plain(self, text: str) -> str:
        """A text that may have come from NetBox, without the token."""
        return text.replace(self._token, "…") if self._token else text

    def _failure(self, error: Exception, what: str) -> QosforgeError:
        """What went wrong with a request: an answer of NetBox, the way to it, or an answer of an unknown shape, on
        which pynetbox fails with whatever exception it happens to be.
        """
        if isinstance(error, pynetbox.RequestError):
            return self._refusal(error, what)
        if isinstance(error, pynetbox.ContentError | requests.exceptions.InvalidJSONError):
            return self._error("what answers is no NetBox", "check 'url'")
        if isinstance(error, requests.exceptions.SSLError):
            hint = "let 'ca' name the file of the authority that issued it, or correct the host's name in 'url'"
            return self._error("its certificate is not trusted", hint)
        if isinstance(error, requests.exceptions.Timeout):
            return self._error(f"no answer about {what} in time", "try again, or narrow the filter")
        if isinstance(error, requests.exceptions.InvalidSchema | requests.exceptions.TooManyRedirects):
            hint = "let 'url' be the address that NetBox itself gives, scheme and port included"
            return self._error(f"its answer about {what} leads to another address", hint)
        if isinstance(error, requests.exceptions.RequestException):
            return self._error("it cannot be reached", "check 'url', and the way there")
        return self.unexpected(what)

    def _refusal(self, error: Any, what: str) -> QosforgeError:
        status = int(error.req.status_code)
        if status in (401, 403):
            hint = f"check the token; its user needs the permission to view {what}"
            return self._error(f"it does not let this token read {what} ({status})", hint)
        if status == 404:
            return self._error(f"it has no list of {what}", "check 'url': it is what stands before /api/")
        if status == 400 and isinstance(answer := _json(error.req), dict):
            return FilterRefused("NetBox does not take the filter", parameters=self._parameters(answer))
        return self._error(f"it could not answer about {what} ({status})", "look into its log, and try again")

    def _parameters(self, answer: Record) -> dict[str, str]:
        """What NetBox says of each parameter."""
        told = {}
        for name, words in answer.items():
            text = " ".join(map(str, words)) if isinstance(words, list) else str(words)
            told[str(name)[:60]] = self._plain(text)[:200]
        return told


@dataclass(eq=False)
class FilterRefused(InputError):
    """NetBox does not know a value of a filter; ``parameters`` has its words by the filters' names."""

    parameters: Mapping[str, str] = field(default_factory=dict)


def _json(answer: Any) -> Any:
    try:
        return answer.json()
    except ValueError:
        return None


def _as_it_is(request: Any) -> Any:
    """No authentication but the token's: requests would put what ``~/.netrc`` has in its place."""
    return request
