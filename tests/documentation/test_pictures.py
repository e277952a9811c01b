"""Every picture of the documentation is one that `make docs-pictures` makes, and every one it makes is shown."""

from __future__ import annotations

import re

from qosforge.resources import root
from tests.documentation.pictures import FOLDER, MOST_KB, PAGES, SCHEMES, file_name

_PICTURE = re.compile(r"!\[([^]]*)\]\(([^)\s]+)\)")


def test_what_pages_show_is_what_the_script_makes() -> None:
    made = {f"pictures/{file_name(name, scheme)}": scheme for name in PAGES for scheme in SCHEMES}
    shown = [found for page in root().glob("docs/*.md") for found in _PICTURE.findall(page.read_text("utf-8"))]
    assert {address for _, address in shown} == {f"{path}#only-{scheme}" for path, scheme in made.items()}
    assert all(len(words) > 30 for words, _ in shown), "what is seen, for those who do not see it"


def test_each_is_there_and_light() -> None:
    files = {path.name: path.stat().st_size for path in FOLDER.iterdir()}
    assert set(files) == {file_name(name, scheme) for name in PAGES for scheme in SCHEMES}
    assert max(files.values()) <= MOST_KB * 1000
