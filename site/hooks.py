"""What the documentation's build adds: pages made from the code, and no script inside a page.

The service's Content Security Policy lets pages load scripts of its own and run none that stand in them, so those
of the theme become files.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import change_log
import searched
import theme_scripts
import weights
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils.templates import TemplateContext

from qosforge.api.reference import OVERVIEW
from qosforge.api.reference import pages as call_pages
from qosforge.cli.reference import page as commands_page

_ROOT = Path(__file__).parents[1]
_CHANGES = "CHANGELOG.md"
_TAKEN_OVER = {"twin/SCENARIO.md": "twin-scenario.md", "SECURITY.md": "reporting.md", _CHANGES: change_log.FIRST}
"""Pages of the repository outside ``docs`` that the site has, too; the change log is several."""

_OUTSIDE = re.compile(r"\[([^]]*)\]\(\.\./([^)#]+)(#[^)]*)?\)")
_INTO_DOCS = re.compile(r"\]\(docs/")
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_ALIGNED = re.compile(r' style="text-align: (left|right|center);?"')
_CELL = re.compile(r"<td[^>]*>.*?</td>", re.DOTALL)
_CODE = re.compile(r"<code>[^<]*</code>")
_JOINT = re.compile(r"(?<=[\w=}])(/|\?|&amp;)(?=\w)")
_OPTION = re.compile(r"\[?--[a-z][a-z-]*")
_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
_ROW = re.compile(r"<tr>.*?</tr>", re.DOTALL)
_HEAD = re.compile(r"<th(?: [^>]*)?>(.*?)</th>", re.DOTALL)
_DATUM = re.compile(r"<td(?=[ >])")
_TAG = re.compile(r"<[^>]+>")
_LONG_WORD = re.compile(r"[^\s&;]{25,}")
_MANY_COLUMNS = 6
_SEARCH = '<div class="md-search" data-md-component="search" role="dialog"'
"""A dialog of the theme to which it gives no name."""
_FOLDER = "assets/javascripts"

_SHOWN: dict[str, str] = {}
"""Pages by their file, as they are shown, while the search looks at them."""


@cache
def _calls() -> dict[str, tuple[str, str]]:
    """By the file of each page of REST's calls its title in the menu and its text."""
    return {one.file: (one.title, one.text) for one in call_pages()}


@cache
def _changes() -> dict[str, tuple[str, str]]:
    """The same of the pages of changes."""
    text = _INTO_DOCS.sub("](", (_ROOT / _CHANGES).read_text(encoding="utf-8"))
    return {one.file: (one.title, one.text) for one in change_log.pages(text)}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the pages that the code writes into the menu, each family where its first page stands."""
    families = {OVERVIEW: _calls(), change_log.FIRST: _changes()}
    config.nav = _with_families(config.nav, families)
    return config


def _with_families(entry: Any, families: dict[str, dict[str, tuple[str, str]]]) -> Any:
    if isinstance(entry, list):
        return [_with_families(one, families) for one in entry]
    if isinstance(entry, dict):
        return {title: _with_families(one, families) for title, one in entry.items()}
    return [{title: file} for file, (title, _) in families[entry].items()] if entry in families else entry


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is written by the code itself."""
    files.append(File.generated(config, "every-command.md", content=commands_page()))
    for name, (_, text) in (_calls() | _changes()).items():
        files.append(File.generated(config, name, content=text))
    for source, name in _TAKEN_OVER.items():
        if source == _CHANGES:
            continue
        text = _INTO_DOCS.sub("](", (_ROOT / source).read_text(encoding="utf-8"))
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Have links to files of the repository as names: a reader of the site has no checkout.

    Raises:
        PluginError: there is no such file.
    """

    def as_page(found: re.Match[str]) -> str:
        text, target, anchor = found[1], found[2], found[3] or ""
        if not (_ROOT / target).exists():
            raise PluginError(f"{page.file.src_uri} links to {target}, which the repository does not have")
        return f"[{text}]({_TAKEN_OVER[target]}{anchor})" if target in _TAKEN_OVER else text

    return _OUTSIDE.sub(as_page, markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Say how much the page counts in the search, and give the search, which looks at it next, what is searched."""
    page.meta.setdefault("search", {})["boost"] = weights.weight(page.file.src_uri)
    _SHOWN[page.file.src_uri] = html
    return searched.text(html, page.file.src_uri)


def on_page_context(context: TemplateContext, page: Page, config: MkDocsConfig, nav: Navigation) -> TemplateContext:
    """Have rows of tables found by themselves, by entries after those of headings, and show the whole page.

    The theme takes the first entry of a page for the page itself.
    """
    file, shown = page.file.src_uri, _SHOWN.pop(page.file.src_uri)
    index = config.plugins["material/search"].search_index
    index.entries.extend(searched.entries(shown, file, page.url))
    page.content = searched.with_anchors(shown, file)
    return context


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Have the scripts and alignments of a page as files and attributes that the policy allows."""
    above = "../" * page.url.count("/")

    def as_file(found: re.Match[str]) -> str:
        text = found[1]
        name = f"{_FOLDER}/page-{hashlib.sha256(text.encode()).hexdigest()[:12]}.js"
        target = Path(config.site_dir, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return f'<script src="{above}{name}"></script>'

    output = output.replace(_SEARCH, f'{_SEARCH} aria-label="Search"')
    allowed = _ALIGNED.sub(r' align="\1"', _INLINE.sub(as_file, output))
    return _TABLE.sub(_for_phones, _CELL.sub(_with_joints, allowed))


def _with_joints(cell: re.Match[str]) -> str:
    """A table's cell whose addresses may break where parts meet, as names and options do not."""

    def broken(code: re.Match[str]) -> str:
        return _OPTION.sub(r'<span class="whole">\g<0></span>', _JOINT.sub(r"\1<wbr>", code[0]))

    return _CODE.sub(broken, cell[0])


def _for_phones(table: re.Match[str]) -> str:
    """A table that says of itself how a phone shows it: as it is, with heads upright, or each row as a list.

    Of a list each cell has the head of its column; roles tell that it is a table, also where it looks like none.
    """
    heads = [_TAG.sub("", head).strip() for head in _HEAD.findall(table[0])]
    names = [_TAG.sub("", row.partition("</td>")[0]) for row in _ROW.findall(table[0])]
    if len(heads) > _MANY_COLUMNS:
        return table[0].replace("<table>", "<table data-many>", 1)
    if len(heads) < 3 and not any(_LONG_WORD.search(name) for name in names):
        return table[0]

    def with_heads(row: re.Match[str]) -> str:
        column = iter(heads)
        cells = _DATUM.sub(lambda cell: f'{cell[0]} role="cell" data-head="{next(column, "")}"', row[0])
        return cells.replace("<tr>", '<tr role="row">', 1).replace("<th", '<th role="columnheader"')

    return _ROW.sub(with_heads, table[0]).replace("<table>", '<table role="table" data-stacked>', 1)


def on_post_build(config: MkDocsConfig) -> None:
    """Leave out the theme's page for what is not found, as the service has its own, and change the theme's scripts.

    Raises:
        PluginError: the theme's scripts are others than those that are changed.
    """
    Path(config.site_dir, "404.html").unlink(missing_ok=True)
    theme_scripts.change(Path(config.site_dir, _FOLDER))
