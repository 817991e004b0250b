"""The door: who has to sign in, who is let in, and that nobody is let in by mistake."""

from __future__ import annotations

import os

import pytest
import streamlit as st
from streamlit import config
from streamlit.runtime.secrets import Secrets
from streamlit.testing.v1 import AppTest

from relic_core.domain import SearchRequest
from relic_core.errors import BadRequest
from relic_ui import person, shell, signing_in
from relic_ui.notebook import notebook_save
from relic_ui.notebook.notebook_note import opening
from tests.app.conftest import APP
from tests.app.reading import html
from tests.approved import says

SAYS = says("signing_in")

AUTH = {"client_id": "relic", "client_secret": "x", "redirect_uri": "http://localhost/oauth2callback"} | {
    "cookie_secret": "x" * 32
}
ADA = {"is_logged_in": True, "iss": "https://login", "sub": "8", "name": "Ada <i>", "email": "ada@example.org"}


@pytest.fixture
def visit(app, monkeypatch):
    """Visit the home page as somebody; gives what stands on it."""

    def visit(user=None, *, auth=None, allow=""):
        monkeypatch.setenv("RELIC_SIGN_IN_ALLOW", allow)
        at = AppTest.from_file(str(APP), default_timeout=60)
        if auth is not None:
            at.secrets["auth"] = auth
        at.user = user or {}
        at.run()
        assert [each.message for each in at.exception] == []
        return at

    return visit


@pytest.mark.parametrize("signed_in", [False, True])
def test_where_people_sign_in_the_larger_model_does_not_come_by_itself(visit, monkeypatch, signed_in):
    opened, really = [], shell._open
    monkeypatch.setattr(shell, "_open", lambda settings, at: opened.append(dict(settings)) or really(settings, at))
    visit(ADA if signed_in else None, auth=AUTH if signed_in else None)
    assert {each["RELIC_FETCH_LARGER"] for each in opened} == {"no" if signed_in else "yes"}


def test_where_nothing_is_set_up_nobody_signs_in(visit):
    at = visit()
    assert "sign-out" not in [button.key for button in at.button]
    assert len(at.sidebar.get("page_link")) > 5


def test_a_list_of_people_without_a_provider_lets_nobody_in(visit):
    at = visit(allow="ada@example.org")
    assert SAYS["no provider"] in at.error[0].value
    assert len(at.sidebar.get("page_link")) == 0


def test_a_part_auth_that_names_no_provider_lets_nobody_in(visit):
    at = visit(auth={"cookie_secret": "x"})
    assert SAYS["provider unnamed"] in at.error[0].value


@pytest.mark.parametrize("secret", [{"cookie_secret": "x" * 31}, {"cookie_secret": ""}, {}])
def test_a_secret_that_can_be_guessed_lets_nobody_in(visit, secret):
    at = visit(ADA, auth={key: value for key, value in AUTH.items() if key != "cookie_secret"} | secret)
    assert SAYS["secret short"] in at.error[0].value
    assert len(at.sidebar.get("page_link")) == 0


def test_where_people_signed_in_before_nobody_is_let_in_without_a_provider_until_the_door_is_taken_away(visit, app):
    visit({"is_logged_in": False}, auth=AUTH)
    at = visit()
    assert SAYS["provider gone"] in at.error[0].value
    assert len(at.sidebar.get("page_link")) == 0
    (app.bench.settings.data / ".sign-in").unlink()
    assert len(visit().sidebar.get("page_link")) > 5


@pytest.mark.parametrize(
    ("held", "open_to_all"),
    [
        ('key = "of another program"', True),
        ('[spotify]\nclient_id = "x"', True),
        ("", False),
        ("# [auth]", False),
        ("[auth]", False),
        ("auth = 1", False),
        ("[auth", False),
        ('[atuh]\nclient_id = "relic"\ncookie_secret = "x"', False),
        ('client_id = "relic"\nredirect_uri = "x"', False),
        (None, False),
    ],
)
def test_a_file_of_secrets_opens_the_door_only_where_it_speaks_of_something_else(
    tmp_path, monkeypatch, held, open_to_all
):
    file = tmp_path / "secrets.toml"
    file.mkdir() if held is None else file.write_text(held, encoding="utf-8")
    given = st.get_option
    monkeypatch.setattr(st, "get_option", lambda name: [str(file)] if name == "secrets.files" else given(name))
    monkeypatch.setattr(config, "get_option", st.get_option)
    monkeypatch.setattr(st, "secrets", Secrets())
    if open_to_all:
        assert person.providers() == ()
    else:
        with pytest.raises(BadRequest):
            person.providers()


def test_nothing_is_shown_before_somebody_signs_in(visit):
    at = visit({"is_logged_in": False}, auth=AUTH)
    assert [title.value for title in at.title] == ["Sign in"]
    assert [button.label for button in at.button] == ["Sign in"]
    assert len(at.sidebar.get("page_link")) == 0


def test_several_providers_have_a_button_each(visit):
    at = visit({"is_logged_in": False}, auth={"cookie_secret": "x" * 32, "library": AUTH, "orcid": AUTH})
    assert [button.label for button in at.button] == ["Sign in with Library", "Sign in with Orcid"]


def test_somebody_who_is_not_on_the_list_is_told_so_and_sees_nothing_else(visit):
    at = visit(ADA, auth=AUTH, allow="example.edu")
    assert "not on the list" in at.title[0].value
    assert [button.key for button in at.button] == ["sign-out"]
    assert len(at.sidebar.get("page_link")) == 0


def test_somebody_on_the_list_is_named_in_the_menu_to_the_letter(visit):
    at = visit(ADA, auth=AUTH, allow="Example.org")
    assert "Ada &lt;i&gt;" in "".join(each.value for each in at.sidebar.get("html"))
    assert "sign-out" in [button.key for button in at.button]


def test_who_signs_in_is_found_by_their_address_from_then_on(visit, app):
    visit(ADA, auth=AUTH)
    assert app.bench.people.find("ada@example.org") == person.identity("https://login", "8")


@pytest.mark.parametrize("said", [{"email_verified": "false"}, {"email": ""}])
def test_an_address_that_the_provider_does_not_vouch_for_is_nobodys(visit, app, said):
    visit(ADA | said, auth=AUTH)
    assert [each.name for each in app.bench.people.known()] == []


@pytest.mark.parametrize(
    "email", ["ada@example.org,x@evil.net", "ada@example.org@evil.net", "ad\u212a@example.org", "x"]
)
def test_what_is_no_single_address_is_nobodys_and_turned_away_by_a_list(visit, app, email):
    visit(ADA | {"email": email}, auth=AUTH)
    assert [each.name for each in app.bench.people.known()] == []
    at = visit(ADA | {"email": email}, auth=AUTH, allow="evil.net,example.org")
    assert [button.key for button in at.button] == ["sign-out"]


def test_what_was_kept_before_is_theirs_once_it_is_handed_over(visit, app):
    app.bench.history.keep(SearchRequest(work_id="", claim_text="Asked before anybody signed in"))
    at = visit(ADA, auth=AUTH).switch_page("pages/history.py").run()
    assert "Asked before" not in html(at)
    app.bench.people.transfer_ownership("ada@example.org")
    assert "Asked before" in html(at.run())


@pytest.mark.parametrize(
    ("said", "allowed", "told"),
    [
        ({"sub": "1"}, ["a@b.org"], SAYS["no address"]),
        ({"email": "a@b.org"}, [], "did not say who you are"),
        ({"sub": "1", "email": "a@b.org", "email_verified": False}, ["a@b.org"], SAYS["unconfirmed"]),
        ({"sub": "1", "email": "a@b.org", "email_verified": "false"}, ["a@b.org"], SAYS["unconfirmed"]),
        ({"sub": "1", "email": "a@b.org", "email_verified": "true"}, ["a@b.org"], ""),
        ({"sub": "1", "email": "a@evil.b.org"}, ["b.org"], SAYS["not allowed"]),
        ({"sub": "1", "email": "a@b.org@evil.net"}, ["b.org", "a@b.org"], SAYS["not allowed"]),
        ({"sub": "1", "email": "b.org"}, ["x.org"], SAYS["not allowed"]),
        ({"sub": "1", "email": " A@B.org ", "email_verified": True}, ["a@b.org"], ""),
        ({"sub": "1"}, [], ""),
        ({"sub": "1", "email": "a@evil.org,x@b.org"}, ["b.org", "x@b.org"], SAYS["not allowed"]),
        ({"sub": "1", "email": "x@evil.org@b.org"}, ["b.org"], SAYS["not allowed"]),
        ({"sub": "1", "email": '"@b.org'}, ["b.org"], SAYS["not allowed"]),
        ({"sub": "1", "email": '"a@b.org"@b.org'}, ["b.org"], SAYS["not allowed"]),
        ({"sub": "1", "email": "a b@b.org"}, ["b.org"], SAYS["not allowed"]),
        ({"sub": "1", "email": "a@b.org\n"}, ["b.org"], SAYS["not allowed"]),
        ({"sub": "1", "email": "a\0@b.org"}, ["b.org"], SAYS["not allowed"]),
        ({"sub": "1", "email": "a\u200b@b.org"}, ["b.org"], SAYS["not allowed"]),
        ({"sub": "1", "email": "<a@b.org>"}, ["b.org"], SAYS["not allowed"]),
        ({"sub": "1", "email": "@b.org"}, ["b.org"], SAYS["not allowed"]),
        ({"sub": "1", "email": "a@boo\u212a.org"}, ["book.org"], SAYS["not allowed"]),
        ({"sub": "1", "email": ["a@b.org"]}, ["b.org"], SAYS["not allowed"]),
        ({"sub": "1", "email": "a@b.org", "email_verified": None}, ["b.org"], SAYS["unconfirmed"]),
        ({"sub": "1", "email": "a@b.org", "email_verified": 0}, ["b.org"], SAYS["unconfirmed"]),
        ({"sub": "1", "email": "O'Neill+relic@B.Org"}, ["b.org"], ""),
        ({"sub": "1", "email": "a@M\u00dcNCHEN.de"}, ["m\u00fcnchen.de"], ""),
    ],
)
def test_the_list_is_held_to_whole_addresses_and_whole_domains(said, allowed, told):
    why = person.refused(said, allowed)
    assert told in why
    assert bool(why) is bool(told)


@pytest.mark.parametrize(("field", "button"), [("library_path", "Add"), ("sources_path", "Find quotations")])
def test_nobody_who_signed_in_reads_the_servers_files_by_their_path(visit, app, tmp_path, field, button):
    app.run_jobs()
    (tmp_path / ".streamlit").mkdir()
    for path in (secrets := tmp_path / ".streamlit" / "secrets.toml", letter := tmp_path / "letter.txt"):
        path.write_text("cookie_secret = 'It signs what keeps people signed in, and whoever has it is anybody.'\n" * 9)
    (link := tmp_path / "link.txt").symlink_to(secrets)
    for path in (secrets, link, letter):
        at = visit(ADA, auth=AUTH).switch_page("pages/library.py").run()
        at.text_input(key=field).set_value(str(path))
        next(each for each in at.button if each.label == button).click().run()
        assert SAYS["not by path"] in at.error[0].value
    assert [work.title for work in app.bench.works.summaries()] == ["High Water at Averhythe"]
    assert not app.bench.sources.all()


# ---- struck off the list --------------------------------------------------------------------------------------------


@pytest.fixture
def ada_in(visit, app):
    """Ada's visit to a page, let in by the list."""
    return lambda page: visit(ADA, auth=AUTH, allow="example.org").switch_page(page).run()


def turned_away(at):
    assert [each.message for each in at.exception] == []
    return "not on the list" in at.title[0].value and [button.key for button in at.button] == ["sign-out"]


def test_who_is_struck_off_the_list_saves_nothing_more_through_the_page_that_is_open(app, ada_in, monkeypatch):
    (work,) = app.bench.works.summaries()
    ada = person.identity(ADA["iss"], ADA["sub"])
    note = app.bench.notebook.keep(work.id, "1.1.1", claim_text="The bolt", person=ada)
    at = ada_in("pages/notebook.py")
    at.session_state[opening(note.id)] = True
    at.run()
    words = at.text_area(key=f"notebook_words_{note.id}")
    words.set_value("Saved while she may.").run()
    monkeypatch.setenv("RELIC_SIGN_IN_ALLOW", "example.edu")
    words.set_value("Saved when she may no more.").run()
    (view,) = app.bench.notebook.notes(person=ada)
    assert view.note.words == "Saved while she may."
    assert turned_away(at)


def test_who_is_struck_off_the_list_stops_no_job_through_a_page_that_is_open(app, ada_in, monkeypatch):
    job = app.bench.indexes.start(app.bench.works.summaries()[0].id)
    at = ada_in("pages/library.py")
    stop = next(each for each in at.button if each.key and each.key.endswith(f"stop-{job.id}"))
    monkeypatch.setenv("RELIC_SIGN_IN_ALLOW", "example.edu")
    assert turned_away(stop.click().run())
    assert app.bench.jobs.get(job.id).note != "Stopping."


def test_who_signed_out_is_asked_anew_and_comes_back_with_a_new_cookie(visit, monkeypatch):
    monkeypatch.setenv("RELIC_SIGN_IN_ALLOW", "example.org")
    signing_in._end({})
    signing_in._end(ADA)  # of a provider that does not say when: it would be the last time
    assert not signing_in.refused_now(ADA)
    now = ADA | {"iat": 1, "nonce": "a"}
    assert not signing_in.refused_now(now)
    signing_in._end(now)
    assert "signed out" in signing_in.refused_now(now)
    at = visit(now, auth=AUTH)
    assert [button.key for button in at.button] == ["sign-in-default"]
    assert not signing_in.refused_now(now | {"iat": 2, "nonce": "b"})


def test_what_is_past_every_cookie_is_not_kept(app):
    old = app.bench.settings.data / ".signed-out" / "old"
    old.parent.mkdir(exist_ok=True)
    old.touch()
    os.utime(old, (0, 0))
    signing_in._end(ADA | {"iat": 3})
    assert not old.exists()


@pytest.mark.parametrize("allow", ["example.edu", "no address and no domain"])
def test_the_app_gives_nothing_to_who_may_not_use_it_any_more(app, monkeypatch, allow):
    monkeypatch.setenv("RELIC_SIGN_IN_ALLOW", "example.org")
    held = signing_in.Admitted(app.bench, ADA)
    assert held.works.summaries()
    monkeypatch.setenv("RELIC_SIGN_IN_ALLOW", allow)
    with pytest.raises(BadRequest):  # as a download meets it, which has no page to draw anew
        held.works.summaries()


def test_what_is_saved_as_a_file_is_made_for_who_may_have_it_then(app, monkeypatch):
    monkeypatch.setenv("RELIC_SIGN_IN_ALLOW", "example.org")
    held = signing_in.Admitted(app.bench, ADA)
    makers = [make for _, make in notebook_save.forms(held, "", "")]
    assert all(make() for make in makers)
    monkeypatch.setenv("RELIC_SIGN_IN_ALLOW", "example.edu")
    for make in makers:
        with pytest.raises(BadRequest):
            make()


def test_two_providers_do_not_share_people():
    ids = {person.identity(issuer, subject) for issuer in ("https://a", "https://b") for subject in ("1", "2")}
    assert len(ids) == 4
