"""Findings on what an intent includes point into the file where it stands."""

from __future__ import annotations

from pathlib import Path

from qosforge.compiler.compile import compile_intent
from qosforge.intent.loader import load_intent
from qosforge.inventory.loader import load_network
from qosforge.resources import root

LIBRARY = """\
parameters: {spare: 1}
classes:
  - name: voice
    match: {any: [{application: [rtp-audio]}]}
    treatment: {priority: {percent: 50}}
  - name: default
    treatment: {bandwidth: {remaining_percent: 100}}
link_efficiency:
  - {when: {rate_below: 768 kb/s}, header_compression: rtp, fragment: {blocking_delay: 16 ms}}
"""
SITE = """\
version: 1
intent: site
include: [classes.yaml]
apply:
  - {role: [edge, middle], interfaces: wan, direction: output}
"""


def test_every_finding_names_the_file_of_its_part(tmp_path: Path) -> None:
    library, site = tmp_path / "classes.yaml", tmp_path / "site.yaml"
    library.write_text(LIBRARY, encoding="utf-8")
    site.write_text(SITE, encoding="utf-8")

    compilation = compile_intent(load_intent(site), load_network(root() / "inventories" / "campus"))

    places = {(f.code, f.file, f.line) for f in compilation.findings if f.file is not None}
    assert ("parameter-unused", str(library), 1) in places
    assert ("recognised-again", str(library), 3) in places
    assert ("efficiency-not-needed", str(library), 9) in places
    assert all(file == str(library) for _, file, _ in places)
