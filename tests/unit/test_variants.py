"""Spelling variants: what counts as the same word, and above all what does not."""

from __future__ import annotations

import re

import pytest

from relic_core.text.variants import COMPOUNDS, one_spelling
from relic_core.text.words import fold

SAME = """
    honour honor; honours honors; honoured honored; honourable honorable; dishonour dishonor; honour's honor's
    neighbourhood neighborhood; colourless colorless; labourer laborer; authour author; governour governor
    realise realize; realised realized; realising realizing; realisation realization; recognisable recognizable
    organisers organizers; advertisement advertizement; surprise surprize; surprised surprized; exercise exercize
    analyse analyze; paralysed paralyzed; grey gray; greyish grayish; gaol jail; gaoler jailer
    theatre theater; theatres theaters; amphitheatre amphitheater; centre center; centred centered; centring centering
    kilometre kilometer; sombre somber; meagre meager; manoeuvre maneuver; manoeuvring maneuvering
    travelled traveled; travelling traveling; traveller traveler; quarrelled quarreled; marvellous marvelous
    jewellery jewelry; woollen woolen; tranquillity tranquility; unravelled unraveled; councillor councilor
    defence defense; defenceless defenseless; offences offenses; licence license; practise practice
    connexion connection; reflexions reflections; shew show; shewn shown; shewed showed; judgement judgment
    encyclopaedia encyclopedia; mediaeval medieval; aesthetic esthetic; archaeology archeology
    skilful skillful; skilfully skillfully; fulfil fulfill; fulfils fulfills; fulfilment fulfillment; dulness dullness
    dialogue dialog; catalogues catalogs; plough plow; ploughed plowed; mould mold; mouldy moldy; sceptic skeptic
    gipsies gypsies; waggon wagon; enquire inquire; despatch dispatch; moustaches mustaches; cosy cozy
    publick public; musick music; chusing choosing; compleat complete; lov'd loved; stopp'd stopped; stopt stopped
    o'er over; ne'er never; burnt burned; learnt learned; unpractised unpracticed
"""

DIFFERENT = """
    prise prize; prises prizes; apprise apprize; four for; our or; hour hor; tire tier; tire tyre; tour tor; pour por
    flour flor; sour sor; devour devor; contour contor; story storey; check cheque; curb kerb; draft draught
    ensure insure; counsellor councillor; council counsel; weed we'd; heed he'd; quick quic; stick stic; kick kic
    gravely gravelly; metre metier; lusting lustring; maize maise; size sise; seize seise; raise raize; rise rize
    wise wize; noise noize; assise assize; villa villain; rogue rog; vogue vog; fatigue fatig; poem pem; shoe she
    string ster; tree ter; acre acer; desire desier; practical practicel; greyhound grayhound; expensed expenced
    advice advise; affect effect; aural oral; bear bare; breath breathe; canvas canvass; cloth clothe; councils counsels
    desert dessert; device devise; diary dairy; die dye; elicit illicit; ere err; fair fare; father farther
    formerly formally; hoard horde; loath loathe; lose loose; moral morale; passed past; patience patients
    personal personnel; plain plane; pray prey; precede proceed; principal principle; profit prophet; quiet quite
    rain reign; road rode; sole soul; stair stare; steal steel; through threw; waist waste; weak week; whether weather
"""


def pairs(text):
    return [tuple(pair.split()) for pair in re.split(r"[;\n]", text) if pair.strip()]


@pytest.mark.parametrize(("one", "other"), pairs(SAME))
def test_spellings_of_one_word_are_variants(one, other):
    assert one_spelling(one) == one_spelling(other)


@pytest.mark.parametrize(("one", "other"), pairs(DIFFERENT))
def test_false_friends_and_words_that_look_alike_stay_two(one, other):
    assert one_spelling(one) != one_spelling(other)


@pytest.mark.parametrize("word", sorted({word for pair in pairs(SAME) + pairs(DIFFERENT) for word in pair}))
def test_the_one_spelling_of_the_one_spelling_is_itself(word):
    assert one_spelling(one_spelling(word)) == one_spelling(word)


def test_to_day_needs_its_hyphen_and_every_body_none():
    assert ("to", "day") in COMPOUNDS["hyphen"]
    assert ("every", "body") in COMPOUNDS["space"]
    assert ("to", "day") not in COMPOUNDS["space"]


@pytest.mark.corpus
def test_in_seventy_three_novels_no_frequent_words_fall_together_but_those_meant_to(shared):
    """Every pair that the rules join among frequent words was read; a new one is read here before it is let in."""
    counts: dict[str, int] = {}
    for path in sorted((shared / "corpus" / "primary").glob("*.txt")):
        for word in re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)*", path.read_text(encoding="utf-8", errors="replace")):
            counts[word] = counts.get(word, 0) + 1
    folded: dict[str, int] = {}
    for word, count in counts.items():
        folded[fold(word)] = folded.get(fold(word), 0) + count
    joined: dict[str, list[str]] = {}
    for word, count in folded.items():
        if count >= 400:
            joined.setdefault(one_spelling(word), []).append(word)
    assert {frozenset(words) for words in joined.values() if len(words) > 1} == {
        frozenset(pair) for pair in [("grey", "gray"), ("honour", "honor")]
    }
