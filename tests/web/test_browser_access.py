"""Login, a session that ends in the middle of work, tokens and people, in a browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Locator, ViewportSize, expect

from qosforge.access.roles import Role
from qosforge.access.sessions import end_sessions
from qosforge.access.users import find_user
from qosforge.runs.record.store import RunStore
from tests.web.browser import DESKTOP, PHONE, Tab
from tests.web.conftest import PASSWORD, Site


def end_all_sessions(site: Site, name: str) -> None:
    """As if they had not been used for an hour."""
    with RunStore(site.settings.database_url) as store:
        store.database.transact(
            lambda connection: end_sessions(connection, find_user(connection, name).id, datetime.now(UTC))
        )


def test_work_goes_on_after_a_new_login_in_another_tab(site: Site, tab: Callable[..., Tab]) -> None:
    ann = tab()
    site.person("ann", Role.OPERATOR)
    ann.log_in("ann", PASSWORD)
    ann.page.goto("/account")
    ann.page.get_by_text("Create a token", exact=True).focus()
    ann.page.get_by_label("What it is for").fill("kept over the login")
    end_all_sessions(site, "ann")
    ann.page.get_by_role("button", name="Create token").click()
    ann.page.get_by_text("nothing you entered is lost").wait_for()
    ann.complaints.clear()  # the browser itself tells of the 401
    ann.require_sound()
    with ann.context.expect_page() as opened:
        ann.page.get_by_role("link", name="Log in in another tab").click()
    other = opened.value
    other.get_by_label("Name").fill("ann")
    other.get_by_label("Password").fill(PASSWORD)
    other.get_by_role("button", name="Log in").click()
    other.get_by_role("button", name="Log out").wait_for()
    expect(ann.page.get_by_text("nothing you entered is lost")).to_have_count(0)
    expect(ann.page.get_by_label("What it is for")).to_have_value("kept over the login")
    ann.page.get_by_role("button", name="Create token").click()
    made = ann.page.get_by_label("Your new token")
    expect(made).to_have_value(re.compile("^qf_[0-9a-f]{16}_[0-9a-f]{64}$"))
    expect(made).to_be_focused()
    ann.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ann.page.get_by_role("button", name="Copy").click()
    ann.page.get_by_text("Copied.").wait_for()
    assert ann.page.evaluate("navigator.clipboard.readText()") == made.input_value()
    ann.require_sound()


def test_what_is_wrong_is_marked_where_it_was_entered(site: Site, tab: Callable[..., Tab]) -> None:
    bob = tab(PHONE, color_scheme="dark")
    site.person("bob", Role.VIEWER)
    bob.log_in("bob", PASSWORD)
    bob.page.goto("/account")
    bob.page.get_by_label("Current password").fill(PASSWORD)
    new = bob.page.get_by_label("New password")
    new.evaluate("field => field.removeAttribute('minlength')")  # the browser would not even send it
    new.fill("short")
    bob.page.get_by_role("button", name="Change the password").click()
    bob.page.get_by_text("New password: takes 15 characters at least").wait_for()
    expect(new).to_have_attribute("aria-invalid", "true")
    expect(new).to_be_focused()
    bob.complaints.clear()
    bob.require_sound()
    new.fill("another good password")
    expect(new).not_to_have_attribute("aria-invalid", "true")
    bob.page.get_by_role("button", name="Change the password").click()
    bob.page.get_by_text("Your password is changed.").wait_for()
    bob.require_sound()


def test_an_admin_adds_somebody_by_the_keyboard(site: Site, tab: Callable[..., Tab]) -> None:
    root = tab()
    site.person("root", Role.ADMIN)
    root.log_in("root", PASSWORD)
    root.page.goto("/users")
    root.page.keyboard.press("Tab")
    expect(root.page.get_by_role("link", name="Skip to the content")).to_be_focused()
    root.page.keyboard.press("Enter")
    expect(root.page.locator("main")).to_be_focused()
    root.page.locator("#add > summary").focus()
    root.page.keyboard.press("Enter")
    root.page.keyboard.press("Tab")
    expect(root.page.get_by_label("Name")).to_be_focused()
    root.page.keyboard.type("carla")
    root.page.keyboard.press("Enter")
    root.page.get_by_role("heading", name="carla").wait_for()
    root.page.get_by_label("Role", exact=True).select_option("approver")
    root.page.get_by_role("button", name="Give this role").click()
    expect(root.page.get_by_text("Choose where it counts.")).to_be_visible()
    root.page.get_by_label("Where", exact=True).select_option("every network")
    root.page.get_by_role("button", name="Give this role").click()
    told = root.page.get_by_text("The role is given")
    expect(told).to_be_focused()  # the button is another one now
    root.page.on("dialog", lambda dialog: dialog.accept())
    root.page.goto("/users/root")
    root.page.get_by_role("button", name="Deactivate").click()
    root.page.get_by_text("the last admin of every network").wait_for()
    root.complaints.clear()
    root.page.get_by_role("button", name="Light or dark").click()
    expect(root.page.locator("html")).to_have_attribute("data-theme", "dark")
    root.require_sound()
    root.page.goto("/calls")
    expect(root.page.locator("html")).to_have_attribute("data-theme", "dark")
    root.page.get_by_text("Disable user root").wait_for()
    root.require_sound()
    root.page.emulate_media(media="print")
    expect(root.page.get_by_role("navigation")).to_be_hidden()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_what_is_wrong_stands_at_the_field_and_nowhere_else(
    site: Site, tab: Callable[..., Tab], size: ViewportSize
) -> None:
    one, dora = tab(size), f"dora-{size['width']}"
    one.log_in(site.person(dora, Role.ADMIN), PASSWORD)
    page = one.page

    def told(field: Locator, words: str) -> None:
        under = page.locator(f"#{(field.get_attribute('aria-describedby') or '').split()[0]}")
        expect(under).to_have_text(words)
        expect(under).to_be_in_viewport()
        expect(field).to_be_focused()
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(page.locator("#messages")).to_be_empty()

    page.goto("/account")
    current = page.get_by_label("Current password")
    current.fill("not the right password")
    page.get_by_label("New password").fill("another good password")
    page.get_by_role("button", name="Change the password").click()
    told(current, "the current password is wrong: give the one that you log in with")
    one.complaints.clear()  # the browser itself tells of the 403
    one.require_sound()
    current.fill(PASSWORD)
    expect(page.locator("#current-wrong")).to_be_empty()

    purpose = page.get_by_label("What it is for")
    for empty in ("", "  "):
        purpose.fill(empty)
        page.get_by_role("button", name="Create token").click()
        told(purpose, "Say what uses it: later, only that tells which token to revoke.")
    expect(page.get_by_text("You have no token.")).to_be_visible()
    one.require_sound()

    page.goto("/users")
    page.locator("#add > summary").click()
    name = page.get_by_label("Name")
    name.fill("Ann B")
    page.get_by_role("button", name="Add").click()
    told(name, "This is no name: lower-case letters, digits and . _ @ - only, beginning with a letter or a digit.")
    name.fill(dora)
    page.get_by_role("button", name="Add").click()
    told(name, f"there is a user {dora} already, or one of this subject: choose another name")
    one.complaints.clear()

    page.goto("/webhooks")
    name, url = page.get_by_label("Name"), page.get_by_label("URL")
    name.fill("chat")
    url.fill("ftp://chat.example.net/")
    page.get_by_role("button", name="Add").click()
    told(url, "This is no address that events can be sent to: it begins with https://.")
    one.require_sound()


def test_a_token_is_made_once_however_often_it_is_pressed(site: Site, tab: Callable[..., Tab]) -> None:
    one = tab()
    one.log_in(site.person("finn", Role.OPERATOR), PASSWORD)
    page = one.page
    page.goto("/account")
    page.get_by_label("What it is for").fill("pipeline")
    page.get_by_role("button", name="Create token").dblclick()
    expect(page.get_by_label("Your new token")).to_be_visible()
    page.goto("/account")
    expect(page.locator("#tokens tbody tr")).to_have_count(1)
