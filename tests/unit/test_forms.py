"""Word forms: which dictionary words a printed word may be a form of."""

from __future__ import annotations

import pytest

from relic_core.text.forms import lemmas

FORMS = {
    "go": "go goes went gone going goeth",
    "think": "think thinks thought thinking thinkest",
    "thought": "thought thoughts",
    "leave": "leave leaves left leaving",
    "be": "be am is are was were been being wert",
    "have": "have has had having hath hast",
    "find": "find finds found",
    "lamp": "lamp lamps lamp's",
    "man": "man men man's men's",
    "good": "good better best",
    "lie": "lie lies lay lain lying",
    "speak": "speak spoke spoken spake speaking speaks speakest",
    "honour": "honour honours honoured honouring",
    "love": "love loves loved loving loveth",
    "begin": "begin began begun beginning",
    "child": "child children",
    "happy": "happy happier happiest",
}


@pytest.mark.parametrize(("lemma", "form"), [(lemma, form) for lemma, forms in FORMS.items() for form in forms.split()])
def test_a_form_leads_to_its_word(lemma, form):
    assert lemma in lemmas(form)


@pytest.mark.parametrize(
    ("word", "lemma"),
    [
        ("princess", "prince"), ("honest", "hone"), ("earnest", "earn"), ("tempest", "temp"), ("wealth", "weal"),
        ("youth", "you"), ("forest", "fore"), ("gone", "gan"), ("brass", "bra"), ("news", "new"), ("lambeth", "lamb"),
        ("princess", "princes"), ("dying", "dye"), ("during", "dure"), ("evening", "even"), ("harvest", "harv"),
    ],
)  # fmt: skip
def test_what_only_looks_like_a_form_is_none(word, lemma):
    assert lemma not in lemmas(word)


@pytest.mark.parametrize("word", ["gandalf", "zzyzx", "1851", "d'artagnan", "a"])
def test_an_unknown_word_has_a_lemma_all_the_same(word):
    assert lemmas(word)
    assert all(lemmas(word))
