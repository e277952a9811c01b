"""The sections of the service: where an address belongs, so that a page that is not there can lead on."""

from __future__ import annotations

from dataclasses import dataclass

from qosforge.web.documentation import PREFIX, documentation
from qosforge.web.pages import Page


@dataclass(frozen=True)
class Section:
    """A section by its first page and its name. ``admins``: who alone sees it, in words; empty where others do.

    ``public``: it is seen without a login.
    """

    address: str
    name: str
    admins: str = ""
    public: bool = False


def section_of(page: Page, path: str) -> Section | None:
    """The section that a path is in; ``None`` of the overview, and of what is in none."""
    every = page.text("administrators of every network")
    sections = (
        Section("/policies", page.text("Policies")),
        Section("/networks", page.text("Networks")),
        Section("/runs", page.text("Runs")),
        Section("/experiments", page.text("Simulator")),
        Section("/account", page.text("Your account")),
        Section("/users", page.text("Users"), every),
        Section("/webhooks", page.text("Webhooks"), every),
        Section("/calls", page.text("Audit log"), page.text("administrators")),
    )
    if path.startswith(f"{PREFIX}/") and documentation():
        return Section(f"{PREFIX}/", page.text("Documentation"), public=True)
    return next((one for one in sections if path == one.address or path.startswith(f"{one.address}/")), None)
