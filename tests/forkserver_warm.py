"""What the tests' fork server does last: what each of its forks would else load or make, and find the same.

These are platforms with their tables of commands, templates and regular expressions: a second for a command that
compiles. What was computed is forgotten, so that each computes its own.
"""

from __future__ import annotations

from qosforge.compiler.candidate import make_candidate
from qosforge.compiler.compile import compile_intent
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.memoise import forget
from qosforge.reports.run_report import page_template
from qosforge.resources import root

_CAMPUS = load_network(root() / "inventories" / "campus")
for _device in compile_intent(load_intent(root() / "policies" / "campus-collaboration.yaml"), _CAMPUS).devices:
    make_candidate(_device, "")
page_template()
forget()
