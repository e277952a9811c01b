"""Every text of ours on a page goes through gettext: templates have none beside it, and a catalogue shows."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from jinja2 import Environment, nodes
from starlette.testclient import TestClient

from qosforge.api.backend import open_backend
from qosforge.finding_codes import OR_PREFER, PREFERS, SOURCE, has_words, load_codes
from qosforge.note import note
from qosforge.resources import read_text, root
from qosforge.runs.record.summaries import ValidateSummary
from qosforge.settings import Settings
from qosforge.web import language, pages
from qosforge.web.finding_texts import translate_finding
from qosforge.web.site import create_site
from tests.principals import somebody
from tests.web.furnished import ADMIN, DOWNLOADS, NETWORK, NOT_THERE_YET, POLICY, SAMPLES, furnish
from tests.web.people import Persons

TEMPLATES = root() / "app" / "qosforge" / "web" / "templates"
TEXT_ATTRIBUTES = {"aria-label", "title", "placeholder", "alt", "hx-confirm", "aria-description"}
DATA = "\N{WHITE SQUARE}"
"""Stands for what an expression gives."""

NOT_OURS = frozenset(
    {"qosforge", "UTC", "YAML", "DSCP", "CoS", "WRED", "ECN", "kb/s", "Mb/s", "ms", "%", "B", "kB", "ΔQ"}
)
"""Names and units, the same in every language."""

GETTEXT = {"_", "gettext", "ngettext", "pgettext"}


class Texts(HTMLParser):
    """What people read of a template: texts and attributes, without what expressions give."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._code = 0
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._code += tag == "code"
        given = dict(attrs)
        self.found += [value or "" for name, value in attrs if name in TEXT_ATTRIBUTES]
        if tag == "input" and given.get("type") in ("submit", "button", "reset"):
            self.found.append(given.get("value") or "")

    def handle_endtag(self, tag: str) -> None:
        self._code -= tag == "code"

    def handle_data(self, data: str) -> None:
        if not self._code:
            self.found.append(data)


def as_written(node: nodes.Node) -> str:
    """The output of a template with `DATA` in the place of expressions, both sides of choices after each other.

    Texts that an expression gives as they stand (``"yes" if good else "no"``) are kept.
    """
    if isinstance(node, nodes.TemplateData):
        return str(node.data)
    if isinstance(node, nodes.Output):
        return "".join(as_written(one) for one in node.nodes)
    if isinstance(node, nodes.Const):
        return f" {node.value} " if isinstance(node.value, str) else DATA
    if isinstance(node, nodes.CondExpr):
        return as_written(node.expr1) + (as_written(node.expr2) if node.expr2 is not None else "")
    if isinstance(node, nodes.Concat | nodes.Or):
        parts = node.nodes if isinstance(node, nodes.Concat) else [node.left, node.right]
        return "".join(as_written(one) for one in parts)
    if isinstance(node, nodes.Expr):
        return DATA
    return "".join(as_written(one) for one in node.iter_child_nodes() if not isinstance(one, nodes.Expr))


def untranslated(source: str) -> list[str]:
    """Texts of a template that do not go through gettext."""
    tree = Environment(extensions=["jinja2.ext.i18n"], autoescape=True).parse(source)
    texts = (re.sub(r'[\w-]+="[^"]*"', " ", text) for text in Texts(as_written(tree)).found)  # macros of attributes
    words = (re.sub(f"[\\W\\d_{DATA}]+", " ", text) for text in texts)
    known = {word for name in NOT_OURS for word in re.sub(r"[\W\d_]+", " ", name).split()}
    return [text.strip() for text in words if set(text.split()) - known]


def test_the_check_sees_what_is_not_translated() -> None:
    assert untranslated('<p title="{{ _("x") }}">{{ _("Good") }} 5 ms <code>show</code> {{ name }}</p>') == []
    assert untranslated("<p>Bad</p>") == ["Bad"]
    assert untranslated('<p aria-label="Bad">–</p>') == ["Bad"]
    assert untranslated('<p class="good">{{ "Bad" if x else _("good") }}</p>') == ["Bad"]
    assert untranslated('<p class="{{ "fine" if x }}">{% if x %}Bad{% else %}{{ y }}{% endif %}</p>') == ["Bad"]
    assert untranslated("{% for x in y %}<b>Bad</b>{% endfor %}{% macro m() %}<i>Too</i>{% endmacro %}") == [
        "Bad",
        "Too",
    ]


@pytest.mark.parametrize("name", sorted(str(path.relative_to(TEMPLATES)) for path in TEMPLATES.rglob("*.j2")))
def test_every_text_of_a_template_is_translated(name: str) -> None:
    assert untranslated((TEMPLATES / name).read_text(encoding="utf-8")) == []


@pytest.fixture(scope="module")
def messages(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """The catalogue that translators begin from, as the Makefile makes it."""
    made = tmp_path_factory.mktemp("messages") / "pages.pot"
    command = [
        sys.executable,
        "-m",
        "babel.messages.frontend",
        "--quiet",
        "extract",
        "-F",
        "app/qosforge/web/babel.cfg",
    ]
    command += ["-k", "text", "-o", str(made), "app/qosforge/web", "app/qosforge/finding_codes.yaml"]
    subprocess.run(command, cwd=root(), check=True, timeout=60)
    with made.open("rb") as file:
        return read_po(file)


def test_the_catalogue_has_the_texts_of_templates_and_routes(messages: Catalog) -> None:
    ids = {one for message in messages for one in ([message.id] if isinstance(message.id, str) else message.id)}
    assert {"Skip to the content", "Log in", "Too many logins failed. Try again in %(seconds)s seconds."} <= ids
    assert {"The token is revoked.", "is needed"} <= ids  # of Python
    in_templates = set()
    for path in TEMPLATES.rglob("*.j2"):
        tree = Environment(extensions=["jinja2.ext.i18n"], autoescape=True).parse(path.read_text(encoding="utf-8"))
        for call in tree.find_all(nodes.Call):
            if isinstance(call.node, nodes.Name) and call.node.name == "_":
                assert isinstance(call.args[0], nodes.Const), f"{path.name}:{call.lineno}: no text is translated"
                in_templates.add(call.args[0].value)
    assert in_templates <= ids


@pytest.fixture
def pseudo(messages: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A language in which every text of ours stands in brackets."""
    catalogue = Catalog(locale="la")
    for message in messages:
        if message.id and message.id != "English":
            one = message.id if isinstance(message.id, str) else message.id[0]
            text = f"⟦{one}⟧"
            catalogue.add(message.id, text if isinstance(message.id, str) else (text, text))
    catalogue.add("English", "Latina")
    for name in ("la", "pt_BR"):
        folder = tmp_path / "locale" / name / "LC_MESSAGES"
        folder.mkdir(parents=True)
        with (folder / "pages.mo").open("wb") as file:
            write_mo(file, catalogue)
    monkeypatch.setattr(language, "_FOLDER", tmp_path / "locale")
    caches = (language.available, language.translations, pages._environment)
    for cache in caches:
        cache.cache_clear()
    yield "la"
    for cache in caches:
        cache.cache_clear()


def test_a_catalogue_shows_on_every_page(pseudo: str, tmp_path: Path) -> None:
    with open_backend(Settings(var_dir=tmp_path / "var", compute_processes=1)) as backend:
        places = furnish(backend)
        with TestClient(create_site(backend), headers={"Accept-Language": "la-VA, en;q=0.5"}) as client:
            assert "⟦Log in⟧" in client.get("/login").text
            session = Persons(backend).find(ADMIN).log_in(client)
            for path in set(SAMPLES) - DOWNLOADS - NOT_THERE_YET:
                answer = client.get(SAMPLES[path].format(**places))
                assert "⟦" in answer.text or not answer.text, path  # a part may have nothing to show
                if answer.text.startswith("<!doctype"):
                    assert '<html lang="la">' in answer.text
                    assert "⟦Skip to the content⟧" in answer.text
            assert "⟦There is no such page⟧" in client.get("/nothing").text
            account = client.get("/account").text
            assert '<option value="en" lang="en">English</option>' in account
            assert '<option value="la" lang="la" selected>Latina</option>' in account
            chosen = client.post("/account/language", data={"language": "en"}, headers=session)
            assert chosen.headers["hx-refresh"] == "true"
            assert "Your account" in client.get("/account").text
            client.post("/account/language", data={"language": "../../etc"}, headers=session)
            assert "Your account" in client.get("/account").text


def test_the_catalogue_has_the_messages_and_hints_of_findings(messages: Catalog) -> None:
    for entry in load_codes().codes.values():
        for wording in entry.wordings.values():
            for text in (wording.message, wording.hint, wording.page_hint):
                assert not text or (text in messages) == has_words(text)
        assert entry.meaning in messages
    unused = messages["nothing refers to parameter {name!r}"]
    assert unused.auto_comments == ["finding parameter-unused"]
    source = read_text(SOURCE).splitlines()
    ((file, line),) = unused.locations
    assert (file, source[line - 1].strip()) == ("app/qosforge/finding_codes.yaml", "parameter-unused:")


def test_what_is_said_of_a_preference_is_translated_with_the_hint(messages: Catalog) -> None:
    def hint(preferred: bool) -> str | None:
        found = note("wred-unsupported", variant="tail-drop", preferred=preferred)
        return translate_finding(found, lambda text: f"⟦{text}⟧").hint

    assert hint(False) == "⟦⟦leave WRED out for this device⟧, or say 'prefer: true'⟧"
    assert hint(True) == (
        "⟦the policy prefers it and does without it here; for no warning, ⟦leave WRED out for this device⟧⟧"
    )
    assert all(frame in messages for frame in (OR_PREFER, PREFERS))


def test_findings_of_a_run_are_in_the_language_of_the_page(pseudo: str, tmp_path: Path) -> None:
    unused = note("parameter-unused", name="<voice>")
    changed = unused.model_copy(update={"message": "as it was said before", "hint": None, "line": 7})
    old = unused.model_copy(update={"message": "recorded without facts", "facts": {}, "line": 8})
    gone = unused.model_copy(update={"message": "of a code that is gone", "code": "gone", "line": 9})
    with open_backend(Settings(var_dir=tmp_path / "var", compute_processes=1)) as backend:
        run = furnish(backend)["run"]
        findings = [finding.model_dump(mode="json") for finding in (unused, changed, old, gone)]
        summary = ValidateSummary(findings=backend.artifacts.put_json(findings))
        with backend.run_requests.store.stage(run, "validate", summary):
            pass
        with TestClient(create_site(backend), headers={"Accept-Language": "la"}) as client:
            Persons(backend).find(ADMIN).log_in(client)
            shown = html.unescape(client.get(f"/runs/{run}?tab=findings").text)
            assert shown.count("⟦nothing refers to parameter '<voice>'⟧") == 2
            assert shown.count("⟦refer to it as ${<voice>}, or take it away⟧") == 1
            assert "as it was said before" not in shown
            assert "recorded without facts" in shown
            assert "of a code that is gone" in shown
            shown = html.unescape(client.get(f"/runs/{run}?tab=findings", headers={"Accept-Language": "en"}).text)
            assert "as it was said before" in shown
            assert shown.count("nothing refers to parameter '<voice>'") == 1


def test_findings_of_a_preview_are_in_the_language_of_the_page(pseudo: str, tmp_path: Path) -> None:
    with open_backend(Settings(var_dir=tmp_path / "var", compute_processes=1)) as backend:
        furnish(backend)
        text = backend.policies.seen_by(somebody(ADMIN)).get(POLICY).written().text
        form = {"network": NETWORK, "text": f"parameters:\n  spare: 5\n{text}", "name": "campus.yaml"}
        with TestClient(create_site(backend), headers={"Accept-Language": "la"}) as client:
            session = Persons(backend).find(ADMIN).log_in(client)
            shown = html.unescape(client.post("/preview", data=form, headers=session).text)
            assert "⟦nothing refers to parameter 'spare'⟧" in shown
            assert "→ ⟦refer to it as ${spare}, or take it away⟧" in shown


def test_a_translation_that_does_not_take_the_facts_is_not_used() -> None:
    finding = note("parameter-unused", name="voice")
    wrong = {"nothing refers to parameter {name!r}": "{nomen}", finding.hint or "": "{"}
    assert translate_finding(finding, lambda text: wrong.get(text, text)) == (finding.message, finding.hint)


def test_a_page_names_its_own_checkbox_where_the_command_line_has_an_option() -> None:
    finding = note("lines-unconfirmed", accepted=False)
    assert finding.hint is not None
    assert "--accept-unconfirmed" in finding.hint
    label = re.search(
        r'name="accept_unconfirmed"[^>]*> \{\{ _\("([^"]+)"\)', (TEMPLATES / "runs/new.html.j2").read_text()
    )
    assert label is not None
    for one in (finding, finding.model_copy(update={"variant": "refused"})):
        said = translate_finding(one, lambda text: text)
        assert f"“{label[1]}”" in (said.hint or "")
        assert "--" not in (said.hint or "")
    translated = translate_finding(finding, lambda text: f"⟦{text}⟧")
    assert (translated.hint or "").startswith("⟦try the lines on the device")


def test_where_there_is_english_alone_nothing_is_to_be_chosen(tmp_path: Path) -> None:
    with open_backend(Settings(var_dir=tmp_path / "var", compute_processes=1)) as backend:
        furnish(backend)
        with TestClient(create_site(backend)) as client:
            Persons(backend).find(ADMIN).log_in(client)
            assert "Language of these pages" not in client.get("/account").text


@pytest.mark.parametrize(
    ("accepted", "wished", "chosen"),
    [
        ("", "", "en"),
        ("la", "", "la"),
        ("en;q=0.5, la-VA;q=0.8", "", "la"),
        ("de, la;q=0", "", "en"),
        ("la;q=x, en", "", "en"),
        ("pt-br, en", "", "pt_BR"),
        ("pt, en", "", "en"),
        ("en", "la", "la"),
        ("en", "tlh", "en"),
    ],
)
def test_the_language_is_what_was_chosen_or_what_the_browser_prefers(
    pseudo: str, accepted: str, wished: str, chosen: str
) -> None:
    assert language.chosen_language(accepted, wished) == chosen
