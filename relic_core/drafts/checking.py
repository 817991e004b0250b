"""Each quotation of a draft: to the letter or altered, where the draft says or elsewhere, or not found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from relic_core.domain import MASK, CitedWork, Offsets, Span, Work, WorkSummary
from relic_core.domain.drafts import CheckOutcome, Difference, Draft, FoundPlace, QuotationCheck
from relic_core.drafts.critics import Critics
from relic_core.drafts.naming import Named, Names, same_chapter
from relic_core.drafts.placing import LEAST_SHARE, Laid, QuotedWords, is_negation
from relic_core.errors import BadText
from relic_core.mining.matches import Aligner, matches_of, unbracketed
from relic_core.mining.pairs import is_no_quotation
from relic_core.mining.prose import Quotation, read_prose
from relic_core.mining.quotations import find_quotations
from relic_core.mining.quoted_works import QuotedWorks
from relic_core.mining.windows import LEAST_BITS_UNMARKED
from relic_core.reporting.citations.locators import locate
from relic_core.reporting.citations.styles import cite
from relic_core.text.languages import language
from relic_core.text.words import content_tokens

MOST_WORDS = 60_000
LEAST_CONTENT = 4
"""Content words from which a quotation is more than chance."""
_PHRASE = 5
"""Words from which a shorter quotation is looked for in a work that is named."""
CITED_IN = ("mla", "chicago-notes", "chicago-author-date")
_ROW = 8
"""Words from which one is looked for in all works."""
_NEW_ENDING = re.compile(r"[^\W\d_]\[[a-z]{1,3}\]")
_A_WORK = 0.5
"""Share of a draft's words that are in works, unmarked, from which on it is a work itself."""
_NEAR = 0.05
"""Shares by which a place may hold fewer words than the best, and still be the one that is meant."""
_NEAREST = 0.4
"""Share of its words from which a place is shown for a quotation that was not found, where no work is named."""
_NAMED = 0.15
"""What it is worth that the draft names the work."""
_LOOKED_AT = 8
_MANY, _HARDLY = 150, 30
"""Quotations from which on a draft is taken for a story, where so many times fewer are found."""
_WITHOUT_BLANKS = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
"""Letters of Thai, Japanese and Chinese, which set no blanks between words: each counts as a word."""
_MARKS = " “”\"‘’'„‚«»‹›"
_CITED = re.compile(
    r"\s?\((?=[\d*_“\"A-Z]|pp?\.|ch|vol|see |cf\.|qtd\.|quoted )"
    r"([^()]{0,80}(?:\d|\b[ivxlc]+\b|\bch)[^()]{0,40})\)\W{0,9}\Z"
)
_NOT_CITING = re.compile(
    r"\b(?!(?:from|with|quoted|chap|chapter|volume|book|part|letter|lines?|pages?|note|emphasis|original|added|mine"
    r"|edition|trans|[ivxlc]+)\b)[a-z]{4,}"
)
"""Words that a citation does not have outside a name or a title."""
_DENIED = 4
"""Words of the draft before a quotation among which its writer may deny it."""
_CLAIMS = 40
"""Words from which on a paragraph that quotes nothing is thought to claim something."""


@dataclass(frozen=True, slots=True)
class Library:
    """What drafts are checked against."""

    works: QuotedWorks
    summaries: Sequence[WorkSummary]
    load: Callable[[str], Work]
    cited: Mapping[str, CitedWork]
    critics: Critics


@dataclass(frozen=True, slots=True)
class _Candidate:
    laid: Laid
    differences: tuple[Difference, ...]
    named: bool
    cut: str = ""
    points: tuple[Difference, ...] = ()

    @property
    def exact(self) -> bool:
        return not self.differences and self.laid.share == 1.0

    @property
    def worth(self) -> float:
        return (1.0 if self.exact else 0.9 * self.laid.share - 0.01 * len(self.differences)) + _NAMED * self.named


def refuse_long(draft: Draft) -> None:
    """Raise BadText where a draft is too long to be checked at once."""
    words = len(draft.text.split()) + len(_WITHOUT_BLANKS.findall(draft.text))
    if words > MOST_WORDS:
        raise BadText(
            f"The draft has {words:,} words; up to {MOST_WORDS:,} are checked at once. Check it chapter by chapter."
        )


def _legible(text: str) -> str:
    """Turn German marks of quotation, »so«, about, and blank what begins quoted lines of Markdown; nothing moves."""
    text = re.sub(r"(?m)^(?:> ?)+(?!.*<<)", lambda found: " " * len(found[0]), text)
    german = 0 <= text.find("»") < text.find("«")
    return text.translate(str.maketrans("»«", "«»")) if german else text


class Checker:
    """Checks one draft. Raises BadText: it is a work itself."""

    def __init__(self, draft: Draft, library: Library) -> None:
        self._draft, self._library = draft, library
        self._prose = read_prose(_legible(draft.text), of_a_book=False)
        self._names = Names(library.summaries, library.works)
        self._critics_by = library.critics.sources_by()
        self._titles = {work.id: work.title for work in library.summaries}
        marked = [self._uncited(each) for each in find_quotations(self._prose) if each.closed and not each.nested]
        unmarked = self._unmarked(marked)
        self.quotations: list[tuple[Quotation, bool]] = sorted(
            [*((each, True) for each in marked), *((each, False) for each in unmarked)], key=lambda each: each[0].start
        )

    def _uncited(self, quotation: Quotation) -> Quotation:
        """Leave the citation out that ends a quotation set off, as in MLA: (Eliot 42)."""
        cited = _CITED.search(self._prose.text, quotation.start, quotation.end)
        if quotation.kind == "inline" or not cited or _NOT_CITING.search(cited[1]) or cited.start() <= quotation.start:
            return quotation
        return replace(quotation, end=cited.start())

    @cached_property
    def _language(self) -> str:
        return language(self._draft.text)

    def _unmarked(self, marked: Sequence[Quotation]) -> list[Quotation]:
        """Find what is quoted outside marks."""
        text, works = self._prose.text, self._library.works
        found: list[Quotation] = []
        outside = 0
        for match in matches_of(Aligner(text, works.read(text), works)):
            over = [each for each in (*marked, *found) if each.start < match.end and match.start < each.end]
            outside += match.end - match.start
            outside -= sum(min(each.end, match.end) - max(each.start, match.start) for each in over)
            if match.bits >= LEAST_BITS_UNMARKED and not over:
                found.append(Quotation(match.start, match.end, "inline"))
        if outside > _A_WORK * len(text):
            raise BadText(
                "Most of this draft is from a work of your library and without quotation marks: it seems to be a work, "
                "and no text about one. Give the essay or chapter that quotes it."
            )
        return found

    def check(self) -> Iterator[QuotationCheck]:
        """Check the quotations; what is a title or a list is passed over. What is found fast comes first."""
        waiting, nowhere, found = [], [], 0
        for quotation, marked in self.quotations:
            words, named, made = self._begun(quotation, marked=marked)
            quoted = QuotedWords(words, self._library.works)
            if len(content_tokens(words)) < LEAST_CONTENT or unbracketed(words) < LEAST_CONTENT:
                yield self._judged_short(quoted, named, made)
                continue
            laid = self._in_all_and_named(quoted.lay, named)
            if laid and laid[0].share >= LEAST_SHARE:
                found += 1
                yield self._judged(self._best(quoted, laid, named), named, made)
            else:
                waiting.append((quoted, laid, named, made))
        if len(waiting) > max(_MANY, _HARDLY * found):
            raise BadText(
                f"The draft has {found + len(waiting):,} quotations of some length, and your library hardly any: "
                "it seems to be a story, whose people speak. If it is none, add the works that it quotes, or check it "
                "chapter by chapter."
            )
        for quoted, fewer, named, made in waiting:
            laid = sorted([*fewer, *self._in_all_and_named(quoted.nearest, named)], key=lambda each: -each.share)
            if laid and laid[0].share >= LEAST_SHARE:
                yield self._judged(self._best(quoted, laid, named), named, made)
            elif not is_no_quotation(quoted.text, nouns=self._language == "de"):
                critic = self._critics_by.get(named.missing)
                check = made(outcome="not found", found=self._nearest(laid, named), critic=critic)
                nowhere.append(replace(check, named=()) if named.naming == "running" else check)
        in_criticism = self._library.critics.find([each.words for each in nowhere], self._library.works)
        for check, there in zip(nowhere, in_criticism, strict=True):
            if there is None:
                yield check
            else:
                yield replace(check, outcome="critic", found=None, critic=there[0], differences=there[1])

    def _begun(self, quotation: Quotation, *, marked: bool) -> tuple[str, Named, Callable[..., QuotationCheck]]:
        """Give the words of a quotation, what the draft names for it, and what makes its check."""
        at = self._prose.in_source(quotation.start, quotation.end)
        words = self._prose.text[quotation.start : quotation.end]
        as_typed = " ".join(self._draft.text[slice(*at)].split())
        if _NEW_ENDING.search(as_typed):  # prose has lost it: in scanned books it marks a note
            words = as_typed
        named = self._names.of(self._draft.text, at)
        made = partial(
            QuotationCheck,
            at=at,
            words=words,
            marked=marked,
            named=tuple(dict.fromkeys(self._titles[each] for each in named.works)),
            naming=named.naming,
            missing="" if named.missing in self._critics_by else named.missing,
            claim=self._claim(quotation),
        )
        return words, named, made

    def _judged_short(self, quoted: QuotedWords, named: Named, made: Callable[..., QuotationCheck]) -> QuotationCheck:
        """Judge words so few that they may be chance.

        A phrase counts to the letter in a work that the draft names, a longer row of words in the one that has it.
        """
        among, words = tuple(dict.fromkeys((*named.works, *named.last))), len(quoted.text.split())
        laid = [*quoted.lay(among=among), *quoted.nearest(among=among)] if among and words >= _PHRASE else []
        if words >= _ROW:
            every = [each for each in quoted.lay() if each.share == 1.0]
            alone = [each for each in every if not quoted.differences(each, self._library.load(each.work.id))]
            laid += alone if len({each.work.id for each in alone}) == 1 else []
        best = self._best(quoted, laid, named) if laid else None
        if best and best.exact:
            return self._judged(best, named, made)
        near = self._place(best.laid) if best and best.laid.share >= LEAST_SHARE else None
        return made(outcome="too short", found=near)

    def unquoted(self, checks: Sequence[QuotationCheck]) -> tuple[Offsets, ...]:
        """Find the paragraphs that say something of a work and quote nothing."""
        found = []
        for stretch in self._prose.stretches:
            at = self._prose.in_source(stretch.start, stretch.end)
            words = self._prose.text[stretch.start : stretch.end]
            quotes = any(check.at[0] < at[1] and at[0] < check.at[1] for check in checks)
            if stretch.kind == "prose" and not quotes and len(words.split()) >= _CLAIMS and self._names.mentions(words):
                found.append(at)
        return tuple(found)

    def notices(self, checks: Sequence[QuotationCheck]) -> tuple[str, ...]:
        """Say what has to be known of the draft as a whole."""
        foreign = any(check.outcome == "not found" for check in checks) and self._language not in {"", "en"}
        translated = (
            "The draft seems not to be in English. Quotations are compared word by word: a translation is found only "
            "where your library has it."
        )
        text = self._draft.text
        runs = len(_WITHOUT_BLANKS.findall(text)) > len(text.split())  # a few letters in an English draft are none
        runs = runs or any(_WITHOUT_BLANKS.search(check.words) for check in checks)
        unparted = (
            "Words that are set without blanks between them are compared as a whole, so a quotation in Chinese, "
            "Japanese or Thai is often passed over or too short to tell."
        )
        return tuple(filter(None, (self._draft.notice, translated * foreign, unparted * runs)))

    def _in_all_and_named(self, lay: Callable[..., list[Laid]], named: Named) -> list[Laid]:
        laid = lay()
        if named.works and not any(each.work.id in named.works for each in laid):
            laid += lay(among=named.works)
        return sorted(laid, key=lambda each: -each.share)

    def _best(self, quoted: QuotedWords, laid: Sequence[Laid], named: Named) -> _Candidate:
        """Choose the place that is meant: the most words, to the letter, in the work and chapter that is named."""
        most = max(each.share for each in laid)
        near = [each for each in laid if each.share >= most - _NEAR][:_LOOKED_AT]
        near += [each for each in laid if each.work.id in named.works and each.share >= LEAST_SHARE][:_LOOKED_AT]
        candidates = [
            _Candidate(each, quoted.differences(each, self._library.load(each.work.id)), each.work.id in named.works)
            for each in near
        ]
        if named.chapter:  # of places that are as good, the one in the chapter that the draft names
            candidates.sort(key=lambda each: not self._in_chapter(each.laid, named.chapter))
        best = max(candidates, key=lambda each: each.worth)
        work = self._library.load(best.laid.work.id)
        return replace(best, cut=quoted.cut_after(best.laid, work), points=quoted.points(best.laid, work))

    def _judged(self, best: _Candidate, named: Named, made: Callable[..., QuotationCheck]) -> QuotationCheck:
        outcome: CheckOutcome = "to the letter" if best.exact else "altered"
        other_work = named.sure and bool(named.works) and not best.named
        other_chapter = bool(named.chapter) and not other_work and not self._in_chapter(best.laid, named.chapter)
        if other_work or other_chapter:
            outcome = "elsewhere"
        before = made(outcome=outcome).claim.partition(MASK)[0].rpartition(":")[2].split()[-_DENIED:]
        return made(
            outcome=outcome,
            found=self._place(best.laid),
            **({} if self._library.cited[best.laid.work.id].author else {"missing": ""}),
            differences=best.differences,
            chapter=named.chapter if other_chapter else "",
            cut="" if any(map(is_negation, before)) else best.cut,
            points=best.points,
        )

    def _in_chapter(self, laid: Laid, given: str) -> bool:
        work = self._library.load(laid.work.id)
        sentence = self._library.works.sentence_of(laid.blocks[0].there) - laid.work.first_sentence
        chapter = work.chapters[work.sentences[sentence].chapter]
        return same_chapter(given, chapter.number, chapter.index + 1)

    def _nearest(self, laid: Sequence[Laid], named: Named) -> FoundPlace | None:
        """Give what comes nearest to words that were not found, in the works that the draft names for them if any."""
        ours = [each for each in laid if each.work.id in named.works or (not named.works and each.share >= _NEAREST)]
        return self._place(ours[0]) if ours else None

    def _place(self, laid: Laid) -> FoundPlace:
        works, work = self._library.works, self._library.load(laid.work.id)
        first = min(block.there for block in laid.blocks)
        last = max(block.there_end for block in laid.blocks) - 1
        offsets = works.offsets(first, last)
        span = work.span_between(*offsets)
        assert span is not None  # noqa: S101 - words of a work are in its sentences
        return found_place(work, self._library.cited[work.id], span, offsets)

    def _claim(self, quotation: Quotation) -> str:
        """Give the sentence of a quotation with a gap in its place."""
        text, touched = self._prose.text, self._prose.sentences_of(quotation.start, quotation.end)
        if not touched:
            return ""
        start, end = self._prose.sentences[touched.start][0], self._prose.sentences[touched.stop - 1][1]
        before, behind = text[start : quotation.start], text[quotation.end : end]
        if not before.strip(_MARKS) and touched.start and text[:start].rstrip().endswith(":"):
            before = text[self._prose.sentences[touched.start - 1][0] : quotation.start]
        return f"{before.rstrip(_MARKS)} {MASK} {behind.lstrip(_MARKS)}".strip()


def found_place(work: Work, cited: CitedWork, span: Span, offsets: Offsets | None = None) -> FoundPlace:
    """Say where sentences of a work stand, or the `offsets` in them, and how they are cited."""
    place, details, locator = work.place(span), cited.details, locate(work, span)
    year = details.year or cited.year
    return FoundPlace(
        work_id=work.id,
        title=work.title,
        edition=", ".join(filter(None, (details.publisher or details.container, str(year or "")))),
        at=str(place.address),
        length=span.length,
        place=place.label,
        offsets=offsets or work.span_offsets(span),
        words=" ".join(work.span_text(span).split()),
        citation={style: cite(cited, style, locator)[0].text for style in CITED_IN},
    )
