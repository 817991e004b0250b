"""What a visit keeps from run to run, by its keys: one record, so that a misspelt key is an error of types."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypedDict, cast

import streamlit as st

from relic_core.domain import SearchRequest
from relic_core.domain.attribution import AttributionRequest
from relic_core.services.dataset import SplitSummary
from relic_core.services.search import SearchResult

FoundAnswer = tuple[SearchRequest, frozenset[Hashable], SearchResult, str]
"""What was asked, what was ready then, what was found, and the search's id."""


class Visit(TypedDict, total=False):
    """The keys that pages write out, those of widgets included; others have a name in their module, or a number."""

    page: str | None
    came_from: str | None
    pressed: bool
    from_press: bool
    brought: tuple[str, str]
    losses_read: Sequence[str]
    part: str
    help_words: str
    relic_view: Any
    gap_button: Any

    attribution_answer: Any
    attribution_asked: AttributionRequest | None
    attribution_by: Any
    attribution_span: str
    attribution_text: str
    attribution_works: list[str]

    collection_removed: tuple[str, str]
    note_removed: tuple[str, str]
    search_removed: tuple[str, str]
    sources_removed: tuple[str, str]
    study_removed: tuple[str, str]
    training_removed: tuple[str, str]
    library_removed: tuple[str, str]

    compare_first: str
    compare_second: str
    history_address: Any
    history_page: int
    history_then: Any
    history_words: str
    history_work: str

    concordance_case: bool
    concordance_forms: bool
    concordance_only: str
    concordance_page: int
    concordance_sort: Any
    concordance_variants: bool
    concordance_voice: Any
    concordance_with: str | None
    concordance_word: str
    concordance_work: str

    critics_claim: str | None
    critics_query: tuple[str, str]
    critics_sent: bool
    critics_work: str
    sources_label: bool
    sources_more: int
    sources_round: int
    sources_shown: Any

    echoes_address: Any
    echoes_chapter: int
    echoes_chart: Any
    echoes_method: Any
    echoes_most: Any
    echoes_others: list[str]
    echoes_top: int
    echoes_work: str

    find_answer: FoundAnswer | None
    find_ask: bool
    find_asked: SearchRequest | None
    find_authors: list[str]
    find_chapters: list[Any]
    find_chapters_of: str
    find_chapters_wanted: tuple[str, tuple[int, ...]]
    find_claim: str
    find_claim_first: str
    find_first: int
    find_first_year: Any
    find_heard: bool
    find_job_done: str
    find_jobs: dict[str, Any]
    find_last: int
    find_last_year: Any
    find_length: int
    find_more: str
    find_quoted: bool
    find_results: int
    find_retrievers: list[str]
    find_rows: int
    find_say_more: str | None
    find_search: str | None
    find_unit: Any
    find_unkept: Any
    find_view: str
    find_voice: Any
    find_within: Any
    find_work: str
    find_works: list[str]

    library_all: bool
    library_correcting: str
    library_filter: str
    library_led: str
    library_next: str
    own_asked: list[str]
    own_done: set[str]
    own_here: set[str]
    own_read: dict[str, Any]
    own_round: int
    own_messages: Any
    shelf_asked: tuple[list[str], bool]
    shelf_job: tuple[str, frozenset[str]]
    shelf_message: tuple[str, str]
    work_clicked: list[Any]
    work_correcting: str
    work_jobs: dict[str, str]

    notebook_address: tuple[str, str]
    notebook_counts_changed: bool
    notebook_files: int
    notebook_new_name: str
    notebook_next: str
    notebook_not_taken_in: str
    notebook_refused: dict[str, dict[str, str]]
    notebook_message: tuple[str, str]
    notebook_taken_in: str

    proxy_file_round: int
    proxy_labelled: str
    proxy_making: str
    proxy_making_trouble: str
    proxy_managed: Any
    proxy_others_round: int
    proxy_place: Any
    proxy_removing: str
    proxy_spoilt: bool
    proxy_taken_in: Any

    read_answer: tuple[str, SearchResult]
    read_offer: str | None
    read_places: dict[str, Any]
    read_work: str

    recall_beside: bool
    recall_benchmark: str
    recall_height: Any
    recall_least: int
    recall_metric: Any
    recall_page: int
    recall_part: str
    recall_runs: list[str]
    recall_show: Any
    recall_sort: Any
    recall_view: Any

    training_parted: SplitSummary


def visit() -> Visit:
    """Give what this visit keeps."""
    return cast(Visit, st.session_state)
