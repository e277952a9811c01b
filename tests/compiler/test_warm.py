"""What computing processes are forks of has made all that compiling makes once."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

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

WITH_TEMPLATES_OF = """
import sys
from pathlib import Path
import qosforge.resources
qosforge.resources.root = lambda: Path(sys.argv[1])
import qosforge.compiler.warm
from qosforge.templating import render
print(render("common/fine.j2", name="voice"), end="")
try:
    render("common/half.j2")
except Exception as error:
    print(type(error).__name__)
"""


def test_the_first_compilation_loads_no_platform_and_reads_no_file() -> None:
    command = [sys.executable, "-c", FIRST_COMPILATION]
    done = subprocess.run(command, cwd=root(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "\n"), done.stderr


def test_files_that_are_no_templates_hinder_no_other(tmp_path: Path) -> None:
    """An editor's copy, a template of another encoding, and one that somebody is in the middle of writing."""
    shutil.copytree(root() / "templates", tmp_path / "templates")
    there = tmp_path / "templates" / "common"
    there.mkdir(exist_ok=True)
    (there / ".fine.j2.swp").write_bytes(b"\xff")
    (there / "latin.j2").write_bytes(b"\xff")
    (there / "half.j2").write_text("{% if mark %}")
    (there / "fine.j2").write_text("class {{ name }}\n")
    command = [sys.executable, "-c", WITH_TEMPLATES_OF, str(tmp_path)]
    done = subprocess.run(command, cwd=root(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "class voice\nTemplateSyntaxError\n"), done.stderr
