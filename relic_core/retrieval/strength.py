"""Strong or weak: what a hit is worth as evidence, in words; something is always first.

Two questions are kept apart. How far does a hit stand out of its own work? A robust z answers: its score less the
median of the work's spans, over their median absolute deviation. And could another book have done as well? z does not
answer that: a claim about the work at hand raises all its spans, a claim about another book none. What answers it is
the score itself against a threshold that rises when the claim's words are not the work's, above all when the claim
names somebody whom the work never names.

The thresholds were set on 64 bare prompts, 16 single sentences and 21 passages of criticism with a masked quotation
(BIRCO's queries), each asked of its own novel and of 11 others (12 novels, 1 to 5 sentences, all-MiniLM-L6-v2). Area
under the curve of the best hit, own novel against the others (chance is 0.5), for prompts / sentences / passages, 2
sentences long; what is fitted was fitted leaving out the novel asked about:

    dense: z 0.62 / 0.50 / 0.29; cosine 0.95 / 0.90 / 0.98; cosine against its threshold 0.97 / 0.96 / 0.99
    BM25:  score 0.77 / 0.64 / 0.91; z 0.85 / 0.76 / 0.72; z against its threshold 0.91 / 0.95 / 0.95

With these thresholds the best dense hit is weak for 8 / 12 / 5% of claims asked of their own novel and for 91 / 96 /
98% of those asked of another; it is strong for about 70% and for at most 2%. BM25 finds fewer (47 / 38 / 24% weak) and
refuses as well (95 / 98 / 98%). Dense, BM25 and fusion are all weak for 6 / 12 / 5% and for 89 / 95 / 96%; other
lengths differ by a few points. Another encoder needs other thresholds: a hit of one that none were set for is called
fair, and its sentence says that nothing is known of other books.

That data holds two test works and 21 of BIRCO's queries, which nothing may be chosen on. Chosen again on the prompts
and novels of dev alone (24 prompts, 7 novels), the dense threshold comes out the same within 0.05; with those
set, 6% of the prompts are weak in their own novel and 90% in another. So the figures for passages above are a look, not
a test.

The thresholds of models are in their calibrations (`retrieval.calibration`), those for words here. Those of dense-RELiC
were set later and otherwise, by `tune strength public-relic-dev-short`: so that of the best hits that claims of dev
find in other works, 8% pass for fair and 1.5% for strong. Judged by thresholds that were set without its work, the best
hit of a critic's claim with four sentences on either side is weak in its own work for 43% and in another for 95%, of a
bare sentence for 34% and 88%; where it is strong, it is the critic's own quotation in 5% of cases, where weak in 1%.
Over the larger base it finds more, and tells own from other works less well: 62% and 96%, and 46% and 86%.

In a search of some chapters the background is the whole work all the same: what a hit is worth must not depend on how
many chapters were looked through, and a few hundred spans that are all about the claim would make a poor background. In
a search of many works a hit is judged in its own work, by the scores of that search. The thresholds for words were set
with words weighed within one work; a search of many works weighs them over all, so that its levels by words are near
to, not the same as, those of a search in the one work.

No thresholds were set for passages that others are to be like: passages of two novels are closer to each other than a
claim is to either. So no level is given there (it is "fair", as with an unknown encoder) and the sentence says only how
far the hit stands out of its work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from relic_core.domain import Claim, Hit, Ranking, Work
from relic_core.domain.calibration import Level, Threshold
from relic_core.text.words import CRITICS_WORDS, content_tokens, unknown_words, work_words

_ORDER: tuple[Level, ...] = ("weak", "fair", "strong")


@dataclass(frozen=True, slots=True)
class Strength:
    """What a hit is worth: weak where another book would have had as good a hit; `z` in robust standard deviations."""

    level: Level
    z: float
    sentence: str


_WORDS = Threshold(fair=2.0, strong=5.0, per_unknown=9.0, if_named=9.0, by_z=True, spread=1.0)
_BY_WORDS: Mapping[str, Threshold | None] = {"bm25": _WORDS, "bm25-reference": _WORDS}
"""By retriever."""

_BY_SCORE: Mapping[Level, str] = {
    "strong": "much closer to the claim than passages of unrelated books come",
    "fair": "somewhat closer to the claim than passages of unrelated books come",
    "weak": "no closer to the claim than passages of unrelated books come",
}
_BY_Z: Mapping[Level, str] = {
    "strong": "shares many more of the claim's words than passages of unrelated books do",
    "fair": "shares somewhat more of the claim's words than passages of unrelated books do",
    "weak": "shares no more of the claim's words than passages of unrelated books do",
}
_UNKNOWN = "; how close passages of unrelated books would come is not known"
_STANDING = ((4.0, "stands far above"), (3.0, "stands well above"), (2.0, "stands above"), (-np.inf, "is hardly above"))


@dataclass(frozen=True, slots=True)
class OutOfVocabulary:
    """How far a claim's words are not those of a work.

    - `share`: share of its different content words that the work never uses, 0 to 1; 1 where it has none. What critics
      say of any work (Victorian) counts as used: its absence says nothing of which work is meant.
    - `named`: it names somebody or something that the work never names.
    """

    share: float
    named: bool

    @classmethod
    def of(cls, claim: Claim, work: Work) -> OutOfVocabulary:
        """Hold a claim against the words of a work."""
        words = set(content_tokens(claim.words))
        vocabulary = work_words(work).vocabulary
        unknown = sum(word not in vocabulary and word not in CRITICS_WORDS for word in words)
        return cls(unknown / len(words) if words else 1.0, bool(unknown_words(claim.words, work)))


class StrengthClassifier:
    """Judges the hits of one ranking.

    A ranking of neither words nor vectors is judged by those that are: a fused hit by the kinder of its components.

    - `unknown_words`: how far the claim's words are not the work's. None where what was asked is a passage: then no
      threshold is known, and only how far a hit stands out is said.
    - `by_meaning`: thresholds by retriever, of those that compare vectors; None where none were set for the encoder.
    """

    def __init__(
        self,
        ranking: Ranking,
        rankings: Mapping[str, Ranking],
        *,
        unknown_words: OutOfVocabulary | None,
        by_meaning: Mapping[str, Threshold | None],
    ) -> None:
        known = {**rankings, ranking.retriever: ranking}
        thresholds = {**_BY_WORDS, **by_meaning}
        scored = [name for name in known if name in thresholds]
        names = [ranking.retriever] if ranking.retriever in scored or not scored else scored
        self._unknown_words = unknown_words
        self._sides = [(known[name], thresholds.get(name)) for name in names]
        self._backgrounds = [_background(ranking, threshold) for ranking, threshold in self._sides]

    def of(self, hit: Hit) -> Strength:
        """Judge one hit."""
        judged = []
        for (ranking, threshold), (middle, spread) in zip(self._sides, self._backgrounds, strict=True):
            score = float(ranking.scores[hit.span.start])
            z = (score - middle) / spread
            if self._unknown_words is None:
                judged.append(Strength("fair", z, _sentence(z)))
            elif threshold is None:
                judged.append(Strength("fair", z, _sentence(z, after=_UNKNOWN)))
            else:
                level = threshold.level(
                    z if threshold.by_z else score, self._unknown_words.share, self._unknown_words.named
                )
                comparison = (_BY_Z if threshold.by_z else _BY_SCORE)[level]
                judged.append(Strength(level, z, _sentence(z, before=comparison)))
        return max(judged, key=lambda strength: _ORDER.index(strength.level))


def _background(ranking: Ranking, threshold: Threshold | None) -> tuple[float, float]:
    scores = ranking.scores[ranking.scores != 0].astype(np.float64)
    if not len(scores):
        return 0.0, 1.0
    middle = float(np.median(scores))
    spread = 1.4826 * float(np.median(np.abs(scores - middle))) + (threshold.spread if threshold else 0.0)
    return middle, spread or 1.0


def _sentence(z: float, *, before: str = "", after: str = "") -> str:
    standing = next(words for least, words in _STANDING if z >= least)
    phrase = (
        f"{before}; within this work it {standing} the rest" if before else f"{standing} the rest of this work{after}"
    )
    return f"{phrase[0].upper()}{phrase[1:]}."
