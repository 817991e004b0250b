"""Well-known encoders by their names on the Hugging Face hub: how each was trained to be used.

What is said here goes before what files beside the weights say, because prefixes and the other half of a pair are as a
rule in no file. Sources, by family:

* DPR: Karpukhin et al. 2020, sections 3.1 and 5: the first token's state, inner product, separate encoders for
  questions and passages; their code reads 256 tokens.
* SimCSE: Gao, Yao and Chen 2021, and the README of their code: the pooler's output for the supervised models, the first
  token's state without it for the unsupervised ones, cosine.
* E5: Wang et al. 2022, section 3: mean, cosine, "query: " and "passage: "; the multilingual ones likewise.
* RoBERTa: Thai et al. 2022, section 3.2: the state of ``<s>``, inner product. Without the training of that paper it
  is a floor rather than a retriever.
"""

from __future__ import annotations

import re
from typing import Any

_BERT_WINDOW = 254
_LONG_WINDOW = 510
"""Tokens, two special ones apart."""

_FIRST_DOT: dict[str, Any] = {"pooling": "first", "similarity": "dot", "spans": "alone"}

_FAMILIES: tuple[tuple[re.Pattern[str], dict[str, Any]], ...] = tuple(
    (re.compile(pattern), facts)
    for pattern, facts in (
        (
            r"facebook/dpr-(?:question|ctx)_encoder-(?P<trained_on>[\w-]+)",
            {
                **_FIRST_DOT,
                "window": _BERT_WINDOW,
                "query_model": "facebook/dpr-question_encoder-{trained_on}",
                "passage_model": "facebook/dpr-ctx_encoder-{trained_on}",
            },
        ),
        (r"princeton-nlp/sup-simcse-[\w-]+", {"pooling": "pooler", "spans": "alone", "window": _LONG_WINDOW}),
        (r"princeton-nlp/unsup-simcse-[\w-]+", {"pooling": "first", "spans": "alone", "window": _LONG_WINDOW}),
        (
            r"intfloat/(?:multilingual-)?e5-(?:small|base|large)(?:-v2)?",
            {"query_prefix": "query: ", "passage_prefix": "passage: ", "window": _LONG_WINDOW},
        ),
        (r"(?:FacebookAI/)?(?:xlm-)?roberta-(?:base|large)", {**_FIRST_DOT, "window": _LONG_WINDOW}),
    )
)


def family_facts(model: str) -> dict[str, Any]:
    """Say how a model of a known family is used; empty for one of none.

    Returns: values of an `EncoderCard`.

    >>> family_facts("facebook/dpr-ctx_encoder-multiset-base")["query_model"]
    'facebook/dpr-question_encoder-multiset-base'
    >>> family_facts("intfloat/e5-small-v2")["query_prefix"]
    'query: '
    >>> family_facts("somebody/something")
    {}
    """
    for pattern, facts in _FAMILIES:
        match = pattern.fullmatch(model)
        if match:
            named = {name: facts[name].format(**match.groupdict()) for name in facts if name.endswith("_model")}
            return {**facts, **named}
    return {}
