"""What came of studies: models answer beside people, and results are counted once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from relic_core.config import provenance
from relic_core.domain import Job, Judgement, Span, Work
from relic_core.domain.figures import Table
from relic_core.domain.runs import ECHOES
from relic_core.domain.studies import ID_LENGTH, ItemResult, ModelAnswers, Study, StudyResults, too_fast
from relic_core.echoes.measuring import KnownEchoes
from relic_core.errors import BadRequest, BadWeights
from relic_core.evaluation.diagnosis import Diagnosis, diagnose_item
from relic_core.evaluation.labels import label_key
from relic_core.ports import Progress, Retriever
from relic_core.retrieval import registry
from relic_core.store.mined_windows import WindowRows
from relic_core.store.studies import StudyRows
from relic_core.store.study_answers import StudyAnswerRows
from relic_core.studies import spans
from relic_core.studies.counting import compute, proxy_table
from relic_core.studies.proxy_task import ask, check_not_chooser, may_answer
from relic_core.studies.service import Studies

__all__ = ["Results", "StudyModels", "diagnosed", "label_windows", "proxy_table", "span_retrieval"]


class StudyModels:
    """What retrievers and rerankers answer to studies; each answer is kept with what made it."""

    def __init__(
        self,
        studies: Studies,
        rows: StudyRows,
        load_work: Callable[[str], Work],
        retriever: Callable[[str], Retriever],
        start: Callable[..., Job],
    ) -> None:
        self._studies = studies
        self._rows = rows
        self._load_work = load_work
        self._retriever = retriever
        self._start = start

    def kept(self, study_id: str) -> tuple[ModelAnswers, ...]:
        """List what was answered: of each retriever the last."""
        last = {each.retriever: each for each in self._rows.models(study_id)}
        return tuple(last[card.name] for card in registry.cards() if card.name in last)

    def due(self, study_id: str) -> tuple[str, ...]:
        """Name the retrievers that have not answered a study as they now are; those without a model are passed over."""
        study = self._studies.study(study_id)
        if not study.kind.is_proxy:
            return ()
        known = {each.id for each in self._rows.models(study_id)}
        due = []
        for name in may_answer(study.making.chooser):
            try:
                answers_id = _id(study, self._retriever(name))
            except BadWeights:  # nothing can be done about it here
                continue
            if answers_id not in known:
                due.append(name)
        return tuple(due)

    def start(self, study_id: str, names: Sequence[str] = ()) -> Job:
        """Have retrievers (all where empty) answer a study in the background, those that have not as they are now."""
        study = self._studies.study(study_id)
        arguments = {"study_id": study_id, "names": list(_checked(study, names))}
        self._studies.find_works(study).check(study)
        return self._start("study-models", title=f"Models answer {study.label}", subject=study_id, arguments=arguments)

    def run(self, arguments: dict[str, Any], progress: Progress) -> str:
        """Do the job that `start` began."""
        answers, silent = self.answer(**arguments, progress=progress)
        return " ".join([f"Answered by: {', '.join(each.label for each in answers)}.", *silent])

    def answer(
        self, study_id: str, names: Sequence[str] = (), *, again: bool = False, progress: Progress
    ) -> tuple[tuple[ModelAnswers, ...], tuple[str, ...]]:
        """Have retrievers answer a study, here and now; each is kept as soon as it has answered.

        Returns: what was answered now or before, in the order of the names; and for each retriever that could not
        answer a sentence that says why.
        """
        study = self._studies.study(study_id)
        checked, found = _checked(study, names), self._studies.find_works(study)
        found.check(study)
        items = tuple(replace(item, work_id=found.stored[item.book]) for item in study.items)
        known = {each.id: each for each in self._rows.models(study_id)}
        answers: list[ModelAnswers] = []
        silent: list[str] = []
        for number, name in enumerate(checked):
            label = registry.card(name).label

            def within(done: int, total: int, note: str = "", first: int = number) -> None:  # noqa: ARG001 - as every report is called
                progress(first * len(items) + done, len(checked) * len(items), note)

            within(0, 0, label)
            try:
                retriever = self._retriever(name)
                answers_id = _id(study, retriever)
                if answers_id in known and not again:
                    answers.append(known[answers_id])
                    continue
                chosen = ask(items, self._load_work, retriever, progress=within)
            except BadWeights as error:
                silent.append(f"{label} could not answer: {error}")
                continue
            made = ModelAnswers(
                id=answers_id,
                study_id=study_id,
                retriever=name,
                label=label,
                configuration=dict(retriever.configuration),
                choices=chosen.choices,
                ranks=chosen.ranks,
                code=provenance.code(),
                created=datetime.now(UTC),
            )
            self._rows.add_models(made)
            answers.append(made)
        return tuple(answers), tuple(silent)


def _checked(study: Study, names: Sequence[str]) -> tuple[str, ...]:
    if not study.kind.is_proxy:
        raise BadRequest(f"{study.label} is not a study of the proxy task: models choose among three passages alone.")
    if not names:
        return may_answer(study.making.chooser)
    checked = tuple(dict.fromkeys(registry.card(name).name for name in names))
    check_not_chooser(checked, study.making.chooser)
    return checked


def _id(study: Study, retriever: Retriever) -> str:
    """Digest what decides a retriever's answers. Raises BadWeights where its model is not there."""
    facts = [study.id, retriever.name, sorted(retriever.configuration.items())]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:ID_LENGTH]


class Results:
    """The results of studies; kept in memory until the store is written."""

    def __init__(
        self,
        studies: Studies,
        models: StudyModels,
        rows: StudyAnswerRows,
        judged: Callable[[str], Sequence[tuple[str, str, tuple[str, ...]]]],
        stamp: Callable[[], object],
    ) -> None:
        self._studies = studies
        self._models = models
        self._rows = rows
        self._judged = judged
        self._stamp = stamp
        self._kept: tuple[object, dict[str, StudyResults]] = (None, {})

    def of(self, study_id: str) -> StudyResults:
        """Compute the results of a study, also of one that is not finished."""
        now = self._stamp()
        stamp, kept = self._kept
        if stamp == now and study_id in kept:
            return kept[study_id]
        study = self._studies.study(study_id)
        found = compute(
            study,
            annotators=[each.annotator for each in self._studies.annotators(study_id)],
            answers=self._rows.latest(study_id),
            models=self._models.kept(study_id),
            stored=self._studies.find_works(study).stored,
            hasty=too_fast(study, self._rows.all(study_id)),
            judged=self._judged(study_id),
        )
        self._kept = (now, {**(kept if stamp == now else {}), study_id: found})
        return found


def diagnosed(
    results: StudyResults, some: Iterable[ItemResult], load_work: Callable[[str], Work], windows: WindowRows
) -> dict[str, Diagnosis]:
    """Say by item why what chose the options missed its quotation; those whose work is not here are left out.

    What critics quote is counted in the windows mined here, else among the items of the study.
    """
    here = [each for each in some if each.work_id]
    quoted = {}
    for work_id in {each.work_id for each in here}:
        golds = [other.item.gold.span for other in results.items if other.work_id == work_id]
        quoted[work_id] = [Span(at, n) for _, at, n in windows.golds(work_id)] or golds
    found = {each.item.id: diagnose_item(each.item, load_work(each.work_id), quoted[each.work_id]) for each in here}
    return {item_id: case for item_id, case in found.items() if case is not None}


def label_windows(results: StudyResults, windows: WindowRows) -> str:
    """Label quotations as most readers did: for tables by kind, the page Criticism and exports; say what came of it.

    Raises BadRequest: it is not a study of kinds of evidence, or nobody agrees yet.
    """
    study, kind, now = results.study, results.study.kind, datetime.now(UTC)
    if not kind.labels:
        raise BadRequest(f"{study.label} asks for no label of a quotation: make a study of the kind evidence.")
    mined = not study.making.benchmark
    agreed = {}
    for each in results.items:
        if each.majority:
            item = each.item
            key = item.id if mined else label_key(item.id, study.work(item.book).sha256, item.gold.at)
            agreed[key] = kind.labels[each.majority - 1]
    if not agreed:
        raise BadRequest(f"{study.label} has no quotation to which two readers gave the same label yet.")
    here = {each.window.id for each in windows.some(list(agreed))} if mined else set(agreed)
    facts: dict[str, Any] = {"question": "evidence", "judge": study.label, "comment": "", "created": now}
    windows.judge(*(Judgement(window_id=key, answer=agreed[key], **facts) for key in agreed if key in here))
    words = f"{len(here):,} quotations have the label on which most readers agree."
    if undecided := len(results.items) - len(agreed):
        words += f" On {undecided:,} most readers do not agree, or not two have answered yet."
    if gone := len(agreed) - len(here):
        words += (
            f" {gone:,} are not here any more, since their source or work was removed or mined anew: their labels stay "
            "in the study alone."
        )
    return words


def span_retrieval(results: StudyResults, known: Callable[[], KnownEchoes], method: str = "tf-idf") -> Table:
    """Compare the spans that readers marked with windows as queries; see `spans.retrieval`.

    - `known`: gives the known echoes, whose verses are chosen from where the study is of them.

    Raises BadRequest: it is not a study of spans, or as `spans.retrieval`.
    Raises NotFound, BadBenchmark: as reading the known echoes.
    """
    study = results.study
    if not study.kind.marks_spans:
        raise BadRequest(f"{study.label} is not a study in which spans are marked.")
    verses = known().b if study.making.benchmark == ECHOES else None
    texts = [verses.sentence_text(at) for at in range(len(verses.sentences))] if verses else []
    return spans.retrieval(results.items, texts, method)
