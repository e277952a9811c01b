"""Crawl breadth first from seed devices: each device is read once, then its neighbours, up to a limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace

from qosforge.discovery.facts import DeviceFacts, Neighbour, Note, Topic
from qosforge.discovery.names import label
from qosforge.discovery.readers import READERS
from qosforge.discovery.readers.problems import NotAnswered, UnknownPlatform
from qosforge.discovery.session import DiscoverySession
from qosforge.errors import InputError, QosforgeError
from qosforge.platforms.device_text import DeviceText

WORKERS = 8
"""Sessions at once."""


@dataclass(frozen=True)
class CrawlProgress:
    """How far a crawl is: devices read, those under way and waiting, and the one that this is about."""

    read: int
    waiting: int
    address: str
    outcome: str


@dataclass
class Visit:
    """A device that was read: under which addresses it was reached, and where each neighbour is (None: nowhere)."""

    addresses: list[str]
    facts: DeviceFacts
    neighbours: list[tuple[Neighbour, str | None]] = field(default_factory=list)


@dataclass(frozen=True)
class Crawl:
    """The devices that were read, in the order in which they were found, and what went wrong on the way."""

    visits: tuple[Visit, ...]
    notes: tuple[Note, ...]


def crawl(
    session: DiscoverySession,
    seeds: Iterable[str],
    at_most: int,
    progress: Callable[[CrawlProgress], None] | None = None,
    workers: int = WORKERS,
) -> Crawl:
    """Read the seeds, what they announce, and so on; a device that fails is a note, never an abort.

    ``at_most`` bounds how many addresses a session is opened to, seeds and failures included.

    Raises:
        InputError: there is no seed, or the bound lets none in.
    """
    first = list(dict.fromkeys(seeds))
    if not first or at_most < 1:
        raise InputError("nowhere to begin", hint="name at least one seed device, and a bound of one or more")
    return _Crawler(session, at_most, progress, workers).run(first)


class _Crawler:
    def __init__(
        self,
        session: DiscoverySession,
        at_most: int,
        progress: Callable[[CrawlProgress], None] | None,
        workers: int,
    ) -> None:
        self._session = session
        self._at_most = at_most
        self._progress = progress
        self._workers = workers
        self._visits: list[Visit] = []
        self._notes: list[Note] = []
        self._asked: dict[str, str] = {}  # addresses that were opened or waited, and who announced them

    def run(self, seeds: list[str]) -> Crawl:
        level = seeds
        self._asked = dict.fromkeys(seeds, "")
        left = self._at_most
        while level:
            now, beyond = level[:left], level[left:]
            self._notes += [self._beyond(address) for address in beyond]
            left -= len(now)
            level = list(self._next(self._read_all(now, len(beyond))))
        return Crawl(tuple(self._visits), tuple(self._notes))

    def _beyond(self, address: str) -> Note:
        by = self._asked[address]
        message = f"{address} was not read: the bound of {self._at_most} devices is reached"
        return Note(Topic.BOUND, by, address, message, "give a higher bound, or begin there in another discovery")

    # -- one level ---------------------------------------------------------------------------------------

    def _read_all(self, addresses: list[str], beyond: int) -> list[Visit]:
        """The devices of one level that were not known, in the order of their addresses."""
        answers: dict[str, DeviceFacts | Note] = {}
        with ThreadPoolExecutor(self._workers, thread_name_prefix="discovery") as pool:
            waiting = {pool.submit(self._read, address): address for address in addresses}
            for done in as_completed(waiting):
                address = waiting[done]
                answers[address] = done.result()
                self._tell(address, answers, len(addresses) - len(answers) + beyond)
        found = []
        for address in addresses:
            answer = answers[address]
            if isinstance(answer, Note):
                self._notes.append(answer)
            elif (visit := self._visited(address, answer)) is not None:
                found.append(visit)
        return found

    def _tell(self, address: str, answers: dict[str, DeviceFacts | Note], waiting: int) -> None:
        if self._progress is not None:
            answer = answers[address]
            read = len(self._visits) + sum(isinstance(one, DeviceFacts) for one in answers.values())
            outcome = answer.message if isinstance(answer, Note) else f"{answer.hostname}: {answer.platform}"
            self._progress(CrawlProgress(read, waiting, address, outcome))

    def _read(self, address: str) -> DeviceFacts | Note:
        by = self._asked[address]
        answers: list[DeviceText] = []

        def ask(command: str) -> str:
            answers.append(self._session.run(address, command))
            return answers[-1].unmasked

        def shown(words: str) -> str:
            """What quotes the device, as people may have it."""
            return answers[-1].saying(words).in_message() if answers else words

        try:
            line = self._session.platform(address)
            reader = READERS.get(line)
            if reader is None:
                raise UnknownPlatform(f"a command line that is called {line!r}")
            facts = reader(ask)
            return replace(facts, notes=tuple(_mask_note(note, shown) for note in facts.notes))
        except UnknownPlatform as error:
            hint = "leave it out, or describe it in hosts.yaml with a platform of its own"
            message = f"{address} is of no known platform: {shown(str(error))}"
            return Note(Topic.UNKNOWN_PLATFORM, by, address, message, hint)
        except NotAnswered as error:
            hint = "check that the command line is of the kind that the session says"
            return Note(Topic.NOT_UNDERSTOOD, by, shown(str(error)), f"{address} does not answer as expected", hint)
        except (ValueError, LookupError, TypeError) as error:
            hint = "describe the device in hosts.yaml by hand; send its answers to whoever maintains the reader"
            message = f"the answers of {address} cannot be read"
            return Note(Topic.NOT_UNDERSTOOD, by, shown(f"{type(error).__name__}: {error}"), message, hint)
        except QosforgeError as error:
            hint = error.hint or "check the address, the credentials and the host key"
            return Note(Topic.UNREACHABLE, by, address, f"{address} cannot be read: {error.message}", hint)

    def _visited(self, address: str, facts: DeviceFacts) -> Visit | None:
        """A new visit; None where the device was read under another address."""
        for known in self._visits:
            if _identity(known.facts) == _identity(facts) and any(_identity(facts)[2:]):
                message = f"{facts.hostname} was reached by {known.addresses[0]} and by {address}: one device"
                hint = "nothing, if that is so; else give the devices names of their own"
                self._notes.append(Note(Topic.TWO_NAMES, facts.hostname, address, message, hint))
                known.addresses.append(address)
                return None
        visit = Visit([address], facts)
        self._visits.append(visit)
        return visit

    # -- from one level to the next ----------------------------------------------------------------------

    def _next(self, visits: Iterable[Visit]) -> Iterator[str]:
        """Addresses of neighbours that nobody asked yet."""
        for visit in visits:
            stations = [neighbour for neighbour in visit.facts.neighbours if neighbour.station]
            if stations:
                message = "stations by their own account: no session is opened to them"
                hint = "describe those that matter in links.yaml"
                line = "; ".join(map(str, stations))
                self._notes.append(Note(Topic.LEFT_OUT, visit.facts.hostname, line, message, hint))
            for neighbour in visit.facts.neighbours:
                if neighbour.station:
                    continue
                address = self._located(visit, neighbour)
                visit.neighbours.append((neighbour, address))
                if address is not None and address not in self._asked:
                    self._asked[address] = visit.facts.hostname
                    yield address

    def _located(self, visit: Visit, neighbour: Neighbour) -> str | None:
        """Where a neighbour is reached; a device that was read is known by its own addresses and MAC."""
        for known in self._visits:
            if known.facts.addresses & set(neighbour.addresses) or (
                neighbour.mac and neighbour.mac == known.facts.mac
            ):
                return known.addresses[0]
        try:
            return self._session.locate(neighbour)
        except QosforgeError as error:
            message = f"a neighbour cannot be reached: {error.message}"
            hint = error.hint or "name it among the seeds, by an address that can be reached"
            note = Note(Topic.UNREACHABLE, visit.facts.hostname, str(neighbour), message, hint)
            self._notes.append(note)
            return None


def _identity(facts: DeviceFacts) -> tuple[object, ...]:
    """What tells devices apart: the platform and name alone are not enough to take two for one."""
    return facts.platform, label(facts.hostname), facts.serial, facts.mac, facts.addresses


def _mask_note(note: Note, mask: Callable[[str], str]) -> Note:
    return replace(note, line=mask(note.line), message=mask(note.message), hint=mask(note.hint))
