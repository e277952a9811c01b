"""A browser without scripts at a site in this process: it follows links and sends forms as HTML says."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from httpx2 import Response
from starlette.testclient import TestClient

Fields = list[tuple[str, str]]


@dataclass
class Button:
    """What sends a form: its words, the form's id, and what of the form it changes."""

    form: str
    attributes: dict[str, str]
    words: str = ""


@dataclass
class Form:
    """A form with what its fields are filled with."""

    attributes: dict[str, str]
    fields: Fields = field(default_factory=list)


class Page(HTMLParser):
    """The forms and buttons of a page. What stands in ``noscript`` is there."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.forms: dict[str, Form] = {}
        self.buttons: list[Button] = []
        self._form = ""
        self._of_others: list[tuple[str, str, str]] = []
        self._select: dict[str, Any] | None = None
        self._area: dict[str, str] | None = None
        self._button: Button | None = None
        self.feed(text)
        for form, name, value in self._of_others:
            self.forms[form].fields.append((name, value))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take a form, or something in one, down."""
        of = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._form = of.get("id") or f"form-{len(self.forms)}"
            self.forms[self._form] = Form(of)
        elif tag == "button" and of.get("type", "submit") == "submit" and "disabled" not in of:
            self._button = Button(of.get("form", self._form), of)
        elif tag == "input" and "disabled" not in of:
            ticked = of.get("type") in ("checkbox", "radio")
            if not ticked or "checked" in of:
                self._fill(of, of.get("value", "on" if ticked else ""))
        elif tag == "select":
            self._select = {"of": of, "values": []}
        elif tag == "option" and self._select is not None and "disabled" not in of:
            self._select["values"].append((of.get("value"), "selected" in of, ""))
        elif tag == "textarea":
            self._area = {**of, "text": ""}

    def handle_data(self, data: str) -> None:
        """The words of a button, the value of an option, the text of an area."""
        if self._button is not None:
            self._button.words += data
        if self._area is not None:
            self._area["text"] += data
        if self._select is not None and self._select["values"]:
            value, chosen, words = self._select["values"][-1]
            self._select["values"][-1] = (value, chosen, words + data)

    def handle_endtag(self, tag: str) -> None:
        """What it has been filled with is known."""
        if tag == "form":
            self._form = ""
        elif tag == "button" and self._button is not None:
            self.buttons.append(self._button)
            self._button = None
        elif tag == "textarea" and self._area is not None:
            self._fill(self._area, self._area["text"].removeprefix("\n"))
            self._area = None
        elif tag == "select" and self._select is not None:
            values = self._select["values"]
            for value, _, words in [one for one in values if one[1]] or values[:1]:
                self._fill(self._select["of"], words.strip() if value is None else value)
            self._select = None

    def _fill(self, of: dict[str, str], value: str) -> None:
        form = of.get("form", self._form)
        if form and of.get("name"):
            self._of_others.append((form, of["name"], value))


class PlainBrowser:
    """Where somebody is who is logged in."""

    def __init__(self, client: TestClient) -> None:
        self._client = client
        self._shown: Response | None = None

    @property
    def text(self) -> str:
        """The page that is shown."""
        assert self._shown is not None
        return self._shown.text

    @property
    def status(self) -> int:
        """How it was answered."""
        assert self._shown is not None
        return self._shown.status_code

    @property
    def path(self) -> str:
        """Where it is."""
        assert self._shown is not None
        return urlsplit(str(self._shown.url)).path

    def open(self, address: str) -> PlainBrowser:
        """Go there."""
        self._shown = self._client.get(address, follow_redirects=True)
        return self

    def press(self, words: str, **filled: str | list[str]) -> PlainBrowser:
        """Press the only button with these words; ``filled`` fields are typed, or ticked where it is a list."""
        assert self._shown is not None
        page = Page(self._shown.text)
        said = [(" ".join(one.words.split()), one) for one in page.buttons]
        (button,) = [one for text, one in said if text == words or text.endswith(f" {words}")]
        form = page.forms[button.form]
        known = {name for name, _ in form.fields}
        fields = [(name, value) for name, value in form.fields if name not in filled]
        for name, value in filled.items():
            assert isinstance(value, list) or name in known, name
            fields += [(name, one) for one in ([value] if isinstance(value, str) else value)]
        if "name" in button.attributes:
            fields.append((button.attributes["name"], button.attributes.get("value", "")))
        here = str(self._shown.url)
        address = urljoin(here, button.attributes.get("formaction") or form.attributes.get("action") or here)
        if form.attributes.get("method", "get") == "get":
            return self.open(f"{address}?{urlencode(fields)}")
        self._shown = self._client.post(
            address,
            content=urlencode(fields),
            headers={"Content-Type": "application/x-www-form-urlencoded", "Referer": here},
            follow_redirects=True,
        )
        return self
