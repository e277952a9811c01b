"""Wheels: one installs them with pip alone, outside a checkout, and has a product that works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

import httpx2
import pytest

from .containers import ROOT

PROJECTS = {
    "qosforge": ".",
    "qosforge_browser": "browser",
    "qosforge_client": "clients/python",
    "qosforge_napalm_drivers": "drivers",
    "qoslab": "lab",
}
"""Distributions by the folders they are built from, beside the twin."""
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")
LISTENS = re.compile(r"http://127\.0\.0\.1:\d+")

pytestmark = pytest.mark.needs("git")


def process(*command: object, folder: Path, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Wheels of the working tree: by way of the source distribution where one of Python alone is made."""
    folder = tmp_path_factory.mktemp("wheels")
    source = folder / "source"
    source.mkdir()
    tree = process("git", "stash", "create", folder=ROOT).strip() or "HEAD"  # as Git would commit it now
    process("git", "archive", "--output", folder / "tree.tar", tree, folder=ROOT)
    process("tar", "-xf", folder / "tree.tar", "-C", source, folder=ROOT)
    process(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder / "sdist", folder=source)
    sources = [next((folder / "sdist").iterdir()), *(source / name for name in PROJECTS.values() if name != ".")]
    # The twin's compiled parts are those of `make setup`: the checkout keeps them.
    without = ("wheel", "-q", "--no-build-isolation", "--no-deps", "-w", folder / "wheels")
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))  # where maturin is
    process(*PIP, *without, *sources, ROOT / "twin", folder=folder, environment={**os.environ, "PATH": path})
    return folder / "wheels"


@pytest.fixture(scope="module")
def installed(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment of nothing but the wheels and what they ask for, in the versions that are tested."""
    env = tmp_path_factory.mktemp("installed") / "env"
    venv.create(env, symlinks=True)
    # Nothing is compiled; two that NAPALM asks for have no wheels, and are of Python alone.
    binary = ("--only-binary", ":all:", "--no-binary", "ncclient", "--no-binary", "pyeapi")
    versions = ("--constraint", ROOT / "requirements-runtime.lock", "--find-links", wheels)
    install = (Path(sys.executable).parent / "uv", "pip", "install", "-q", "--python", env / "bin" / "python")
    process(*install, *binary, *versions, "qosforge", folder=env)
    return env


@pytest.fixture
def elsewhere(installed: Path, tmp_path: Path) -> dict[str, str]:
    """The environment of a user who has Python alone."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "QOSFORGE_"))}
    kept.pop("VIRTUAL_ENV", None)
    return kept | {"PATH": f"{installed / 'bin'}:/usr/bin:/bin", "QOSFORGE_VAR_DIR": str(tmp_path / "var")}


def data(installed: Path) -> Path:
    return next((installed / "lib").glob("python3*")) / "site-packages" / "qosforge" / "data"


def test_every_data_file_is_in_the_wheel(wheels: Path) -> None:
    with ZipFile(next(wheels.glob("qosforge-*.whl"))) as wheel:
        packed = set(wheel.namelist())
    folders = ("app/qosforge", "inventories", "policies", "requirements-runtime.lock", "templates")
    tracked = process("git", "ls-files", *folders, folder=ROOT).splitlines()
    assert len(tracked) > 1000
    names = {name.removeprefix("app/") if name.startswith("app/") else f"qosforge/data/{name}" for name in tracked}
    assert names <= packed
    strangers = {name for name in packed - names if ".dist-info/" not in name}
    assert {name for name in strangers if not name.startswith("qosforge/documentation/")} == set()


def test_each_distribution_stands_alone(wheels: Path) -> None:
    """Its page says what it is, its classifiers are said, and nothing points into a checkout."""
    found = {path.name.split("-")[0]: path for path in wheels.iterdir()}
    assert set(found) == {*PROJECTS, "qosforge_twin"}
    for path in found.values():
        with ZipFile(path) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
            metadata = message_from_bytes(wheel.read(name))
        assert metadata["Summary"]
        assert metadata["Requires-Python"] == ">=3.11"
        assert metadata["Description-Content-Type"].startswith("text/markdown")
        assert str(metadata.get_payload()).startswith("# ")
        assert "Programming Language :: Python :: 3" in metadata.get_all("Classifier", ())
        if not path.name.startswith("qosforge-"):  # whose README is the repository's front page
            assert not re.search(r"\]\((?!https?:|#)", str(metadata.get_payload()))


def test_the_twin_is_for_every_python(wheels: Path) -> None:
    twin = next(wheels.glob("qosforge_twin-*.whl"))
    assert "-cp311-abi3-" in twin.name


def test_distributions_ask_for_each_other_in_their_own_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    versions = {
        document["project"]["name"]: document["project"].get("version")
        for document in (tomllib.loads((ROOT / name / "pyproject.toml").read_text()) for name in PROJECTS.values())
    }
    versions["qosforge-twin"] = tomllib.loads((ROOT / "twin" / "Cargo.toml").read_text())["package"]["version"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["lab"]]
    own = dict(entry.split("==") for entry in wanted if entry.startswith(("qosforge-", "qoslab")))
    assert own == {
        name: version for name, version in versions.items() if name not in {"qosforge", "qosforge-client"}
    }
    assert versions["qosforge-client"] == versions["qosforge"]


IMPORTED = """
import ast, importlib.util, pathlib, sys
names = set()
for package in sys.argv[1:]:
    for file in pathlib.Path(importlib.util.find_spec(package).origin).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names.add(node.module)
roots = {name.partition(".")[0] for name in names}
print(*sorted(root for root in roots if importlib.util.find_spec(root) is None))
"""
"""Prints what the modules of packages import that is not installed, also where they import it late."""


def test_the_wheels_ask_for_all_that_they_import(installed: Path, elsewhere: dict[str, str]) -> None:
    """All but optional parts: the lab and Parquet files."""
    packages = (
        "qosforge",
        "qosforge_browser",
        "qosforge_twin",
        "napalm_ers",
        "napalm_force10",
        "napalm_ios_legacy",
    )
    command = (installed / "bin" / "python", "-I", "-c", IMPORTED, *packages)
    assert process(*command, folder=installed, environment=elsewhere).split() == ["pyarrow", "qoslab"]


def test_the_command_compiles_and_predicts(installed: Path, elsewhere: dict[str, str], tmp_path: Path) -> None:
    assert shutil.which("qosforge", path=elsewhere["PATH"]) == str(installed / "bin" / "qosforge")
    policies, networks = data(installed) / "policies", data(installed) / "inventories"
    compiled = process(
        "qosforge", "compile", policies / "campus-collaboration.yaml", folder=tmp_path, environment=elsewhere
    )
    assert "policy-map" in compiled
    policy = tmp_path / "remote-control.yaml"
    shutil.copy(ROOT / "examples" / "policies" / "remote-control.yaml", policy)
    predict = ("qosforge", "predict", policy, "--network", networks / "infn-fnal")
    assert "Remote control" in process(*predict, folder=tmp_path, environment=elsewhere)
    checks = ("qosforge", "doctor", "packages", "data files", "twin", "--json")
    assert str(data(installed)) in process(*checks, folder=tmp_path, environment=elsewhere)


@pytest.fixture
def service(installed: Path, elsewhere: dict[str, str], tmp_path: Path) -> Iterator[str]:
    """The address of a service of the installed command."""
    assert installed.is_dir()
    command = ["qosforge", "serve", "--port", "0"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=elsewhere, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as serving:
        try:
            assert serving.stderr is not None
            lines: list[str] = []
            for line in serving.stderr:
                lines.append(line)
                if found := LISTENS.search(line):
                    yield found.group()
                    break
            else:
                raise AssertionError("".join(lines))
        finally:
            serving.terminate()


def test_the_service_has_pages_and_rest(service: str, elsewhere: dict[str, str], tmp_path: Path) -> None:
    process("qosforge", "user", "add", "root", "--role", "admin", folder=tmp_path, environment=elsewhere)
    create = ("qosforge", "token", "create", "root", "--role", "admin", "--days", "1")
    token = process(*create, folder=tmp_path, environment=elsewhere).strip().splitlines()[-1]
    with httpx2.Client(base_url=service) as client:
        page = client.get("/login")
        assert page.status_code == 200
        assert page.headers["Content-Type"].startswith("text/html")
        for address in re.findall(r'(?:src|href)="(/static/[^"]+)"', page.text):
            assert client.get(address).status_code == 200
        networks = client.get("/api/v1/networks", headers={"Authorization": f"Bearer {token}"})
        assert networks.status_code == 200
        assert "campus" in networks.text


def test_without_the_emulated_devices_a_lab_says_what_is_missing(
    installed: Path, elsewhere: dict[str, str], tmp_path: Path
) -> None:
    up = ["qosforge", "lab", "up", "--network", str(data(installed) / "inventories" / "campus")]
    without = subprocess.run(up, cwd=tmp_path, env=elsewhere, capture_output=True, text=True, check=False)
    assert without.returncode == 3
    assert "pip install 'qosforge[lab]'" in without.stderr.replace("\n", " ")
