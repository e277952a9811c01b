"""What the product is made of: CycloneDX documents of Python, Rust and npm packages, and a list of their licences.

The Python packages are those of the runtime lock in an environment of their own, the Rust ones those that the twin
of ``make setup`` was linked from (maturin puts their document into the wheel), the npm ones those of the bundles.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "build" / "sbom"
TOOLS = ROOT / "build" / "tools" / "bin"
UNKNOWN = "not stated in its metadata"
_BUILT_IN = re.compile(r'file:///[^"#]*/(?=twin\b)')


def run(*command: object, folder: Path = ROOT) -> str:
    """What a command prints; it ends this program where it fails."""
    words = [str(word) for word in command]
    # Without PYTHONPATH: what stands in the checkout is in no environment of others.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"failed: {' '.join(words)}")
    return done.stdout


def python_packages() -> dict[str, Any]:
    """The document of an environment with the runtime lock alone."""
    env = FOLDER / "env"
    venv.create(env, clear=True)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", env / "bin" / "python")
    run(*pip, "install", "--quiet", "--no-deps", "--require-hashes", "-r", ROOT / "requirements-runtime.lock")
    made = run(TOOLS / "cyclonedx-py", "environment", "--output-reproducible", env / "bin" / "python")
    shutil.rmtree(env)
    return dict(json.loads(made))


def rust_packages() -> dict[str, Any]:
    """The document that the installed twin carries, without the folder where it was built."""
    files = distribution("qosforge-twin").files or ()
    found = [path for path in files if path.match("sboms/*.json")]
    if not found:
        raise SystemExit("the installed twin carries no list of its crates: make setup, with maturin 1.16 or newer")
    text = Path(str(found[0].locate())).read_text(encoding="utf-8")
    return dict(json.loads(_BUILT_IN.sub("", text)))


def npm_packages() -> dict[str, Any]:
    """The document of the packages that the bundles are made of."""
    npm = Path(sys.executable).parent / "npm"
    only = ("--package-lock-only", "--omit", "dev", "--loglevel", "error")
    os.environ["NODE_USE_SYSTEM_CA"] = "1"  # as pip and cargo do
    return dict(json.loads(run(npm, "sbom", "--sbom-format", "cyclonedx", *only, folder=ROOT / "browser")))


def licences(document: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Name, version and licences of each component."""
    for part in sorted(document["components"], key=lambda part: str(part["name"]).lower()):
        said = (entry.get("expression") or entry["license"] for entry in part.get("licenses", ()))
        named = {one if isinstance(one, str) else one.get("id") or one["name"] for one in said}
        short = sorted(" ".join(one.split())[:80] for one in named)
        group = f"{part['group']}/" if part.get("group") else ""
        yield f"{group}{part['name']}", part["version"], "; ".join(short) or UNKNOWN


def main() -> None:
    """Write the documents and the list into ``build/sbom``."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    lines = ["# Licences of the packages that qosforge is made of"]
    kinds = {"Python": python_packages, "Rust": rust_packages, "npm": npm_packages}
    for kind, packages in kinds.items():
        document = packages()
        name = f"{kind.lower()}.cdx.json"
        (FOLDER / name).write_text(json.dumps(document, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        rows = list(licences(document))
        lines += ["", f"## {kind} ({name})", "", "| package | version | licence |", "|---|---|---|"]
        lines += [f"| {name} | {version} | {said} |" for name, version, said in rows]
        print(f"{FOLDER / name}: {len(rows)} packages")
    (FOLDER / "licences.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(FOLDER / "licences.md")


if __name__ == "__main__":
    main()
