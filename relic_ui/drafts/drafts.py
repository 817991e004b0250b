"""What the page "Check a draft" asks for, the job that checks, and what becomes of the draft."""

from __future__ import annotations

from functools import partial

import streamlit as st

from relic_core.domain import Job
from relic_core.domain.drafts import Draft
from relic_core.drafts.service import ENDINGS, LONGEST, StoredDraft, read_draft
from relic_core.errors import BadRequest, NotFound
from relic_core.wiring import App
from relic_ui import buttons, jobs, links, person
from relic_ui.drafts import choosing
from relic_ui.drafts.marked_draft import STYLE, result_html
from relic_ui.find import find
from relic_ui.naming import many
from relic_ui.shell import literal, show_errors, warn_of_address

TITLE = "Check a draft"
_MEGABYTES = 20
LONGEST_DRAFT = 400_000
"""Characters that can be pasted: enough for as many words as are checked, and what a page's state may hold."""
_A_LOOK = 12_500
"""Characters of a draft that is being checked for each look at what was found, without drawing it anew."""
_FILES = (
    (".docx", "Word, with comments", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (".html", "Report", "text/html"),
    (".csv", "Table (CSV)", "text/csv"),
    (".json", "JSON", "application/json"),
)


def show(app: App) -> None:
    """Draw the form, or the draft that the address names with what was found in it."""
    st.html(STYLE)
    choosing.end()
    draft_id = st.query_params.get("draft", "")
    if draft_id:
        job = app.jobs.latest("check", draft_id)  # before the draft: of one that has ended the report is there
        try:
            stored = app.drafts.get(draft_id, person.current())
        except NotFound as error:
            warn_of_address(literal(str(error)))
        else:
            _show_draft(app, stored, job)
            return
    _ask(app)
    _show_kept(app)


def _ask(app: App) -> None:
    st.html(
        '<p class="relic-quiet">Nothing leaves this computer. A draft that you do not keep is deleted after a day.</p>'
    )
    with st.form("drafts_form", border=False):
        text = st.text_area(
            f"Your text, of {LONGEST:,} words at most",
            key="drafts_text",
            height=220,
            max_chars=LONGEST_DRAFT,
        )
        file = st.file_uploader(  # of any type: what cannot be read is refused in our words
            f"Or a file ({', '.join(ENDINGS)}; Markdown of 2 MB and LaTeX of 1 MB at most)",
            max_upload_size=_MEGABYTES,
            key="drafts_file",
        )
        sent = st.form_submit_button("Check the quotations", type="primary", icon=":material/fact_check:")
    if not sent:
        return
    if file is not None:
        draft, data = read_draft(file.getvalue(), file.name), file.getvalue()
    elif len(text) >= LONGEST_DRAFT:  # the browser has cut it
        raise BadRequest("The text is longer than what can be pasted. Give it as a file.")
    elif text.strip():
        draft, data = Draft(text), b""
    else:
        raise BadRequest("Paste a text or choose a file first.")
    original = data if draft.name.lower().endswith(".docx") else b""
    links.set_address(draft=app.drafts.start(draft, person.current(), original))
    st.rerun()


def _show_kept(app: App) -> None:
    if kept := app.drafts.kept(person.current()):
        st.header("Drafts you keep", anchor="kept")
        items = "".join(
            f"<li>{links.link('drafts', each.report.draft.name or 'A pasted draft', draft=each.id)} "
            f'<span class="relic-quiet">{each.report.summary}</span></li>'
            for each in kept
        )
        st.html(f"<ul>{items}</ul>")


def _show_draft(app: App, stored: StoredDraft, job: Job | None) -> None:
    st.html(f'<p class="relic-window-back">{links.link("drafts", "← Check another draft")}</p>')
    if not stored.done:
        if job is not None:
            jobs.show_job(app, job.id, doing="opening the library")
            if job.active:
                _show_so_far(app, stored)
                return
        _show_delete(app, stored)
        st.html(result_html(stored.report, marking=False))
        return
    does, to = buttons.pressed()
    if does == "find":
        _find(app, stored, to)
    if does == "take-away":
        start, work_id, at, length = to.split("/")
        app.drafts.choose(stored.id, int(start), work_id, at, int(length), person.current(), there=False)
        stored = app.drafts.get(stored.id, person.current())
    st.html(f'<h2 class="relic-source" id="draft-summary">{stored.report.summary}.</h2>')
    for notice in stored.report.notices:
        st.info(literal(notice), icon=":material/info:")
    _show_files(app, stored)
    marking = bool(stored.report.unquoted) and st.toggle(
        f"Mark {many(len(stored.report.unquoted), 'paragraph')} about a work, without a quotation",
        key="drafts_unquoted",
    )
    st.html(result_html(stored.report, marking=marking))


def _show_so_far(app: App, stored: StoredDraft) -> None:
    """Show what has been found while the job goes on; a long draft less often, since it is drawn whole each time."""
    html = ""
    passed_over = 0

    @st.fragment(run_every=0.5)
    def poll() -> None:
        nonlocal html, passed_over
        with show_errors():
            passed_over -= 1
            if passed_over < 0:
                report = app.drafts.get(stored.id, person.current()).report
                if report.checks:
                    html = result_html(report, marking=False)
                    passed_over = len(report.draft.text) // _A_LOOK
            if html:
                st.html(html)

    poll()


def _show_files(app: App, stored: StoredDraft) -> None:
    with st.container(horizontal=True, gap="small", key="drafts_do"):
        with st.popover("Save as …", icon=":material/download:"):
            for ending, label, mime in _FILES:
                name = f"{stored.report.draft.name.rpartition('.')[0] or 'draft'}, checked{ending}"
                buttons.save_button(
                    label, partial(_written, app, stored, ending), name, mime, key=f"drafts_save{ending}"
                )
        if not stored.kept and st.button(
            "Keep this draft", key="drafts_keep", type="tertiary", icon=":material/bookmark:"
        ):
            app.drafts.keep(stored.id, person.current())
            st.rerun()
        _show_delete(app, stored)
    if not stored.kept:
        st.caption("Not kept: deleted after a day; until then its address opens it.")


def _show_delete(app: App, stored: StoredDraft) -> None:
    if st.button("Delete it now", key="drafts_delete", type="tertiary", icon=":material/delete:"):
        app.drafts.delete(stored.id, person.current())
        links.set_address()
        st.rerun()


def _written(app: App, stored: StoredDraft, ending: str) -> str | bytes:
    original = stored.original.read_bytes() if stored.original and ending == ".docx" else b""
    return app.drafts.written(stored.report, ending, original)


def _find(app: App, stored: StoredDraft, to: str) -> None:
    """Search Find with the sentence of a quotation, or with a paragraph, in the one work that it names if it does."""
    kind, _, number = to.partition("-")
    report, at = stored.report, links.number(number)
    if kind == "quotation" and 0 < at <= len(report.checks):
        check = report.checks[at - 1]
        start, claim, named = check.at[0], check.claim, " ".join(check.named)
    elif kind == "paragraph" and 0 < at <= len(report.unquoted):
        start = report.unquoted[at - 1][0]
        claim = named = report.draft.text[slice(*report.unquoted[at - 1])]
    else:
        return
    works = [work.id for work in app.works.summaries() if work.title in named]
    choosing.begin(stored.id, stored.report.draft.name, start)
    find.ask_for(claim, works[0] if len(works) == 1 else "")
    st.switch_page("pages/find.py")
