"""The site as a process, people who can log in, and a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from qosforge.access.passwords import hash_password, set_password
from qosforge.access.roles import EVERY_NETWORK, Role
from qosforge.access.users import add_user, find_user, grant
from qosforge.api.backend import Backend, open_backend
from qosforge.runs.record.store import RunStore
from qosforge.settings import Settings
from qosforge.web.site import create_site
from tests.api.served import Served, serving
from tests.parts import need
from tests.patience import PATIENCE
from tests.web.browser import DESKTOP, Tab, chromium
from tests.web.people import PASSWORD, Persons


@dataclass(frozen=True)
class Site:
    """A service with pages, in a process of its own, and its database."""

    served: Served
    settings: Settings

    @property
    def url(self) -> str:
        """Where the pages are."""
        return self.served.url.removesuffix("/api/v1")

    def person(self, name: str, role: Role, network: str = EVERY_NETWORK) -> str:
        """A new user with the common password; returns the name."""
        now = datetime.now(UTC)
        with RunStore(self.settings.database_url) as store:

            def write(connection: object) -> None:
                add_user(connection, name, now)  # type: ignore[arg-type]
                grant(connection, name, network, role)  # type: ignore[arg-type]
                user = find_user(connection, name)  # type: ignore[arg-type]
                set_password(connection, user, hash_password(PASSWORD), now)  # type: ignore[arg-type]

            store.database.transact(write)
        return name


@pytest.fixture(scope="module", autouse=True)
def quiet() -> Iterator[None]:
    """A log that is not set up renders tracebacks with all variables, which takes many seconds."""
    with capture_logs():
        yield


@pytest.fixture(scope="module")
def var_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the service keeps everything."""
    return tmp_path_factory.mktemp("site") / "var"


@pytest.fixture(scope="module")
def site(var_dir: Path) -> Iterator[Site]:
    """One service for all tests of a module; a browser asks it, and without one it is not begun."""
    need("browser")
    with serving(var_dir, fork=True) as served:
        yield Site(served, Settings(var_dir=var_dir))


@pytest.fixture
def idle_site(var_dir: Path, postgres_url: str) -> Iterator[Site]:
    """A service that carries out no run, for a test that pretends one is under way: PostgreSQL, and no worker.

    On SQLite a service takes up every run that nothing carries.
    """
    need("browser")
    with serving(var_dir, fork=True, database_url=postgres_url) as served:
        yield Site(served, Settings(var_dir=var_dir, database_url=postgres_url))


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    """The parts of a service in this process."""
    with open_backend(Settings(var_dir=tmp_path / "var", compute_processes=1, request_seconds=PATIENCE)) as made:
        yield made


@pytest.fixture
def client(backend: Backend) -> Iterator[TestClient]:
    """Calls the site in this process, and keeps its cookies."""
    with TestClient(create_site(backend)) as made:
        yield made


@pytest.fixture
def persons(backend: Backend) -> Persons:
    """Makes people who can log in there."""
    return Persons(backend)


@pytest.fixture(scope="module")
def chromium_browser() -> Iterator[Browser]:
    """One browser for all tests of a module; every tab has a profile of its own."""
    need("browser")
    with chromium() as made:
        yield made


@pytest.fixture
def tab(chromium_browser: Browser, site: Site) -> Iterator[Callable[..., Tab]]:
    """Opens tabs: ``tab()``, or ``tab(PHONE)``; they are closed with the test."""
    opened: list[Tab] = []

    def make(size: dict[str, int] = DESKTOP, **options: object) -> Tab:
        made = Tab.of(chromium_browser, site.url, size, **options)
        opened.append(made)
        return made

    yield make
    for each in opened:
        each.context.close()
