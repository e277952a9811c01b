"""What the documentation's build adds: pages made from the code, and no script inside a page.

The service's Content Security Policy lets pages load scripts of its own and run none that stand in them, so those
of the theme become files.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from qosforge.api.reference import page as calls_page
from qosforge.cli.reference import page as commands_page

_ROOT = Path(__file__).parents[1]
_TAKEN_OVER = {"twin/SCENARIO.md": "twin-scenario.md", "SECURITY.md": "reporting.md", "CHANGELOG.md": "changes.md"}
"""Pages of the repository outside ``docs`` that the site has, too."""

_OUTSIDE = re.compile(r"\[([^]]*)\]\(\.\./([^)#]+)(#[^)]*)?\)")
_INTO_DOCS = re.compile(r"\]\(docs/")
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_ALIGNED = re.compile(r' style="text-align: (left|right|center);?"')
_FOLDER = "assets/javascripts"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is written by the code itself."""
    files.append(File.generated(config, "every-command.md", content=commands_page()))
    files.append(File.generated(config, "every-call.md", content=calls_page()))
    for source, name in _TAKEN_OVER.items():
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

    return _ALIGNED.sub(r' align="\1"', _INLINE.sub(as_file, output))


def on_post_build(config: MkDocsConfig) -> None:
    """Leave out the theme's page for what is not found: the service has its own."""
    Path(config.site_dir, "404.html").unlink(missing_ok=True)
