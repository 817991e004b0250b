"""Reranker cards: how a cross-encoder reads claim and passage, and the digest of the files they were written for."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal, get_args

from relic_core.encoders.cards import LEAST_WINDOW
from relic_core.encoders.weights import ModelFiles, find_model
from relic_core.errors import BadWeights

Reading = Literal["claim first", "together"]
HeadPooling = Literal["mean", "first", "likeness"]

RERANKER_CARD = "reranker.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerCard:
    """How a cross-encoder is used.

    - `reading`: "together": every token of claim and passage sees every other, and the claim is read anew with each
      passage. "claim first": the claim is read once, by itself; the tokens of each passage see it and one another in
      every layer. The claim's tokens do not see the passage.
    - `pooling`: what the score is made of: the mean of the states of the passage's own tokens, or the first token's,
      each through a head; or the cosine of the claim's mean and the passage's. Where the claim is read first its first
      token has seen no passage, so that it tells nothing. A likeness needs the claim read first: it begins as what a
      dual encoder says, and learns through gates how much a passage's tokens should see of the claim.
    - `mask`: what stands in a claim where the quotation was masked; empty for nothing.
    - `claim_tokens`: the most tokens of a claim; of a longer one those around the mask are kept.
    - `window`: the most tokens of claim and passage, special ones apart. Passages are cut to what the claim leaves of
      it.
    - `context`: sentences of the work read on either side of a span, within its chapter: 0 or 1.
    - `digest`: over configuration, tokenizer and weights, as of `ModelFiles`; empty before they are written.

    Raises BadWeights: a value is none of the allowed ones, or two do not go together.
    """

    name: str
    reading: Reading = "claim first"
    pooling: HeadPooling = "mean"
    mask: str = ""
    claim_tokens: int = 200
    window: int = 382
    context: int = 0
    digest: str = ""

    def __post_init__(self) -> None:
        """Check the values."""
        if not isinstance(self.name, str) or not self.name.strip():
            self._refuse("name", "a name")
        for name, allowed in (("reading", get_args(Reading)), ("pooling", get_args(HeadPooling)), ("context", (0, 1))):
            if getattr(self, name) not in allowed or isinstance(getattr(self, name), bool):
                self._refuse(name, " or ".join(json.dumps(value) for value in allowed))
        for name in ("mask", "digest"):
            if not isinstance(getattr(self, name), str):
                self._refuse(name, "a text in quotation marks")
        for name in ("claim_tokens", "window"):
            if type(getattr(self, name)) is not int or getattr(self, name) < LEAST_WINDOW:
                self._refuse(name, f"a whole number of tokens, {LEAST_WINDOW} or more")
        if self.window < self.claim_tokens + LEAST_WINDOW:
            self._refuse("window", f"at least {LEAST_WINDOW} more than claim_tokens, which is {self.claim_tokens}")
        if self.reading == "claim first" and self.pooling == "first":
            self._refuse("pooling", '"mean" or "likeness" where reading is "claim first"')
        if self.reading == "together" and self.pooling == "likeness":
            self._refuse("pooling", '"mean" or "first" where reading is "together"')

    def _refuse(self, name: str, allowed: str) -> None:
        given = json.dumps(getattr(self, name), ensure_ascii=False, default=str)
        raise BadWeights(f'The reranker card says "{name}": {given}; it must be {allowed}.')

    @property
    def facts(self) -> dict[str, str]:
        """What decides the scores beside the model's files, as words."""
        apart = {"name", "digest"}
        return {field.name: str(getattr(self, field.name)) for field in fields(self) if field.name not in apart}

    def to_json(self) -> dict[str, str | int]:
        """Write it as a JSON object."""
        return asdict(self)


def read_reranker(folder: str | Path) -> tuple[RerankerCard, ModelFiles]:
    """Find a cross-encoder and check its files against its card.

    - `folder`: as a training of a reranker makes it: ``reranker.json`` beside configuration, tokenizer and weights, or
      beside the layers of a compact model.

    Raises BadWeights: the folder or a file is missing, the card cannot be followed, or a file is not as it was written.
    """
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise BadWeights(
            f"There is no folder '{folder}' with a reranker. Name the folder that training one made "
            "(docs/reranking.md)."
        )
    card = _read_card(path / RERANKER_CARD)
    files = find_model(str(path))
    if files.digest != card.digest:
        raise BadWeights(
            f"The reranker in {path} is damaged: its configuration, tokenizer or weights are not those that "
            f"{RERANKER_CARD} was written for. Copy the folder again from where it was trained, or train it anew."
        )
    return card, files


def _read_card(path: Path) -> RerankerCard:
    known = [field.name for field in fields(RerankerCard)]
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadWeights(
            f"{path.parent} holds no {RERANKER_CARD}, so it is no reranker. An encoder does not become one by being "
            "named so: train one from it (docs/reranking.md)."
        ) from None
    except (OSError, ValueError) as error:
        raise BadWeights(f"The reranker card {path} cannot be read as JSON ({error}). Copy the folder again.") from None
    if not isinstance(given, dict) or "name" not in given:
        raise BadWeights(
            f"The reranker card {path} must be one JSON object with a name and the keys {', '.join(known)}."
        )
    unknown = [key for key in given if key not in known]
    if unknown:
        raise BadWeights(
            f"The reranker card {path} says '{unknown[0]}', which this version does not know. Known: "
            f"{', '.join(known)}. Take a newer version of this program, or train the reranker anew."
        )
    return RerankerCard(**given)
