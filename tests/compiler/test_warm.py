"""What computing processes are forks of has made all that compiling makes once."""

from __future__ import annotations

import subprocess
import sys

from qosforge.resources import root

FIRST_COMPILATION = """
import sys
import qosforge.compiler.warm
from pathlib import Path
from qosforge.compiler.compile import compile_intent
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network

intent = load_intent(Path("policies/campus-collaboration.yaml"))
network = load_network(Path("inventories/campus"))
fetched = []
sys.addaudithook(lambda event, args: fetched.append(args[0]) if event in ("open", "import") else None)
assert len(compile_intent(intent, network).devices) == len(network.devices)
print(*(what for what in fetched if "qosforge" in str(what) or str(what).startswith(str(Path.cwd()))))
"""


def test_the_first_compilation_loads_no_platform_and_reads_no_file() -> None:
    command = [sys.executable, "-c", FIRST_COMPILATION]
    done = subprocess.run(command, cwd=root(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "\n"), done.stderr
