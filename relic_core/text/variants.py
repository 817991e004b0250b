"""Spelling variants: words that older, British and American editions spell in several ways, brought to one spelling.

Two words are variants of one another when `one_spelling` gives the same for both. The one spelling is a key for
comparing, no recommendation: mostly the American form, since its rules have the fewest exceptions. Every rule goes by a
list of stems of our own, but for -ise and -ize, where all verbs vary and the list holds what does not. Words are given
as `fold` makes them: in lower case, without accents, æ and œ written out.

Left alone on purpose, since both spellings are words of their own: prise and prize, apprise and apprize, tire and tyre,
story and storey, check and cheque, curb and kerb, draft and draught, ensure and insure, whisky and whiskey.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import product

_OUR = """
    honour colour favour labour harbour neighbour humour rumour flavour vapour savour odour parlour ardour vigour rigour
    valour candour clamour splendour endeavour behaviour saviour demeanour misdemeanour armour rancour fervour succour
    tumour arbour dolour enamour
    errour horrour terrour emperour governour authour inferiour superiour exteriour interiour warriour ambassadour
    stupour torpour tenour mirrour oratour traitour
"""
_OUR_STEM = re.compile(rf"((?:dis|un|mis|re|be|over|out)?(?:{'|'.join(word[:-3] for word in _OUR.split())}))our")

_RE = """
    theat cent met lit fib sab somb spect lust scept sepulch meag och calib accout mit nit saltpet philt goit reconnoit
    manoeuv maneuv
"""
_RE_STEM = re.compile(
    rf"((?:amphi|epi|con|bi|kilo|centi|milli|dia|peri|baro|lack)?(?:{'|'.join(_RE.split())}))"
    r"(?:re(s?)|(re)d|(r)ing)('s)?"
)

_DOUBLED = """
    travel cancel counsel quarrel level model label marvel jewel libel rival signal total equal fuel duel dial grovel
    gravel shovel shrivel snivel revel ravel unravel tunnel channel kennel panel pencil stencil peril imperil cudgel
    chisel tassel trammel pommel pummel parcel swivel spiral medal metal pedal bevel carol cavil devil drivel dishevel
    apparel enamel barrel laurel marshal towel trowel victual yodel gambol pistol tranquil wool council
    parallel
"""
_DOUBLED_STEM = re.compile(
    rf"((?:un|out|fellow)?(?:{'|'.join(_DOUBLED.split())}))"
    r"l(ed|ing|ings|er|ers|or|ors|ous|ously|ist|ists|ity|en|ens)('s)?"
)
_DOUBLED_ELSE = {"worshipp": "worship", "kidnapp": "kidnap", "focuss": "focus", "biass": "bias", "benefitt": "benefit"}

_SINGLE = {  # where the American form is the longer one
    "skilful": "skillful", "wilful": "willful", "fulfil": "fulfill", "enrol": "enroll", "instal": "install",
    "enthral": "enthrall", "distil": "distill", "appal": "appall", "befal": "befall", "recal": "recall",
    "instil": "instill", "fulness": "fullness", "dulness": "dullness", "farewel": "farewell", "alright": "allright",
    "downfal": "downfall", "unskilful": "unskillful",
}  # fmt: skip

_OGUE = re.compile(r"(catal|dial|anal|monol|prol|epil|travel|ped|demag|synag)og(?:ue)?(s?|d|r|rs)('s)?")
_YSE = re.compile(r"((?:psycho)?(?:anal|paral|catal|electrol))ys(e|ed|er|ers|ing)('s)?")
_ISE = re.compile(r"(\w{3,}?)i[sz](e|ed|er|ers|es|ing|ingly|edly|ement|ements|able|ation|ations|ational)('s)?")
_VOWEL = re.compile(r"[aeiouy]")
_NEVER_Z = frozenset(
    """
    advert adv appra ar chast circumc comprom compr conc dem desp dev disgu enterpr exc exerc franch enfranch
    disenfranch improv inc merchand mort otherw likew paradise paradi prec prem prom repr rev sunr moonr superv
    surm surpr telev treat upra unsurpr unadv misadv unprom undisgu tort porpo turquo expert lengthw lou den
    """.split()  # noqa: SIM905 - a list that a person can read and mend
)
"""What stands before -ise in words whose s is not a suffix: a z in an old edition (surprize) is the variant."""
_TWO_WORDS = frozenset({"appr", "pr", "s", "se", "gu", "ma", "ba", "ass", "caps", "outs", "overs", "unders", "poss"})
"""What stands before -ise or -ize in words that have only the one spelling, or two meanings for the two."""

_STEMS = {
    "grey": "gray", "gaol": "jail", "connexion": "connection", "inflexion": "inflection", "reflexion": "reflection",
    "deflexion": "deflection", "defence": "defense", "offence": "offense", "pretence": "pretense", "licence": "license",
    "practise": "practice", "practising": "practicing", "expence": "expense", "suspence": "suspense",
    "recompence": "recompense", "programme": "program", "plough": "plow", "sceptic": "skeptic", "mould": "mold",
    "moult": "molt", "smoulder": "smolder", "cosy": "cozy", "cosily": "cozily", "cosier": "cozier", "pyjama": "pajama",
    "jewellery": "jewelry", "moustach": "mustach", "sulphur": "sulfur", "waggon": "wagon", "ancle": "ankle",
    "chuse": "choose", "chusing": "choosing", "cloaths": "clothes", "croud": "crowd", "compleat": "complete",
    "intire": "entire", "encreas": "increas", "antient": "ancient", "controul": "control", "gipsy": "gypsy",
    "gipsies": "gypsies", "gypsey": "gypsy", "scissars": "scissors", "despatch": "dispatch", "enquir": "inquir",
    "artefact": "artifact", "carcase": "carcass", "cyder": "cider", "chearful": "cheerful", "teaze": "tease",
    "teazing": "teasing", "stedfast": "steadfast", "sylvan": "silvan", "syren": "siren", "lacquey": "lackey",
    "ageing": "aging", "likeable": "likable", "loveable": "lovable", "moveable": "movable", "immoveable": "immovable",
    "encyclopaed": "encycloped", "cyclopaed": "cycloped", "mediaeval": "medieval", "aesthet": "esthet",
    "anaesthe": "anesthe", "anaem": "anem", "archaeolog": "archeolog", "foetus": "fetus", "haemorrh": "hemorrh",
    "diarrhoea": "diarrhea", "paediatr": "pediatr", "gynaecolog": "gynecolog", "aeon": "eon", "aether": "ether",
    "daemon": "demon", "faeces": "feces", "hyaena": "hyena", "primaeval": "primeval", "praeter": "preter",
    "oeconom": "econom", "oecumenic": "ecumenic", "chimaera": "chimera", "foetid": "fetid", "manoeuvr": "maneuver",
    "anapaest": "anapest", "caesura": "cesura", "shew": "show", "villan": "villain", "holyday": "holiday",
}  # fmt: skip
_STEM = re.compile(rf"(un|re|in|dis|over)?({'|'.join(sorted(_STEMS, key=len, reverse=True))})(?P<rest>\w*(?:'s)?)")
_NO_STEM = re.compile(
    r"grey(?:hound|friar|stoke|beard)|moulin|aeoni?an|aeoli|villan(?:elle|ella|ova|ueva)|expences?d|shewbread"
)

_ICK = re.compile(
    r"((?:un)?(?:publ|mus|mag|log|phys|polit|crit|arithmet|rhetor|domest|fantast|romant|cathol|hero|trag|com|lunat|"
    r"rust|emphat|frant|majest|poet|prosa|angel|gen|class|angl|gall|ecclesiast|metaphys|epidem|academ|topic?|metr))ick(s?)"
)
_JUDGEMENT = re.compile(r"(judg|acknowledg|abridg|lodg|misjudg)e?ment(s?)('s)?")
_ELIDED = re.compile(r"(\w{3,})'d")
_WHOLE = {
    "o'er": "over", "ne'er": "never", "e'er": "ever", "e'en": "even", "ev'ry": "every", "heav'n": "heaven",
    "pow'r": "power", "flow'r": "flower", "'tis": "tis", "axe": "ax", "phantasy": "fantasy", "burnt": "burned",
    "learnt": "learned", "dreamt": "dreamed", "leapt": "leaped", "leant": "leaned", "spelt": "spelled",
    "spilt": "spilled", "spoilt": "spoiled", "knelt": "kneeled", "stopt": "stopped", "dropt": "dropped",
    "fixt": "fixed", "mixt": "mixed", "wrapt": "wrapped", "tost": "tossed", "blest": "blessed", "curst": "cursed",
    "drest": "dressed", "addrest": "addressed", "prest": "pressed", "opprest": "oppressed", "confest": "confessed",
    "possest": "possessed", "gayly": "gaily", "gayety": "gaiety", "dryly": "drily", "slyly": "slily",
    "tyger": "tiger", "tygers": "tigers", "potatoe": "potato", "dutchess": "duchess", "surprizal": "surprisal",
    "woollens": "woolens", "councillor": "councilor", "councillors": "councilors",
}  # fmt: skip

COMPOUNDS: dict[str, tuple[tuple[str, str], ...]] = {
    "hyphen": (("to", "day"), ("to", "night"), ("to", "morrow"), ("good", "bye")),
    "space": tuple(product(("every", "any", "some", "no"), ("body", "thing", "where"))),
}
"""Words printed in one or in two (to-day, every body), by what may part the two. "To day" without a hyphen is left
alone: it occurs in "from day to day"."""


@lru_cache(maxsize=1 << 17)
def one_spelling(word: str) -> str:
    """Bring a word, as `fold` gives it, to the spelling that its variants share.

    >>> [one_spelling(word) for word in ("honour", "honor", "realising", "realizing", "surprized", "theatres")]
    ['honor', 'honor', 'realizing', 'realizing', 'surprised', 'theaters']
    >>> [one_spelling(word) for word in ("prise", "prize", "four", "our", "tier", "wise", "devour")]
    ['prise', 'prize', 'four', 'our', 'tier', 'wise', 'devour']
    """
    if word in _WHOLE:
        return _WHOLE[word]
    if elided := _ELIDED.fullmatch(word):
        word = f"{elided[1]}ed"
    for rule in _RULES:
        word = rule(word)
    return word


def _stem(word: str) -> str:
    found = _STEM.fullmatch(word)
    if found is None or _NO_STEM.match(word):
        return word
    new = _STEMS[found[2]]
    rest = found["rest"]
    if found[2] == "manoeuvr":  # manoeuvre, manoeuvres, manoeuvred, manoeuvring
        rest = rest.removeprefix("e")
        rest = f"e{rest}" if rest.startswith("d") else rest
    return f"{found[1] or ''}{new}{rest}"


def _our(word: str) -> str:
    return _OUR_STEM.sub(r"\1or", word, count=1) if _OUR_STEM.match(word) else word


def _re(word: str) -> str:
    found = _RE_STEM.fullmatch(word)
    if found is None:
        return word
    stem, plural, past, running, possessive = found.groups()
    ending = "ed" if past else "ing" if running else plural or ""
    return f"{stem.replace('oeuv', 'euv')}er{ending}{possessive or ''}"


def _doubled(word: str) -> str:
    for double, single in _DOUBLED_ELSE.items():
        if word.startswith(double):
            return single + word[len(double) :]
    return _DOUBLED_STEM.sub(r"\1\2\3", word) if _DOUBLED_STEM.fullmatch(word) else word


def _single(word: str) -> str:
    for short, long in _SINGLE.items():
        if word.startswith(short) and not word.startswith(long):
            rest = word[len(short) :]
            if rest in {"", "s", "ly", "ness", "ment", "ments", "ing", "ed", "l"}:
                return word if rest in {"ing", "ed"} else long + rest
    return word


def _ise(word: str) -> str:
    found = _ISE.fullmatch(word)
    if found is None:
        return word
    before, ending, possessive = found.groups()
    if before in _TWO_WORDS or not _VOWEL.search(before) or before[-1] in "aou":
        return word
    return f"{before}i{'s' if before in _NEVER_Z else 'z'}{ending}{possessive or ''}"


_RULES = (
    _stem,
    _our,
    _re,
    _doubled,
    _single,
    lambda word: _OGUE.sub(r"\1og\2\3", word) if _OGUE.fullmatch(word) else word,
    lambda word: _YSE.sub(r"\1yz\2\3", word) if _YSE.fullmatch(word) else word,
    lambda word: _ICK.sub(r"\1ic\2", word) if _ICK.fullmatch(word) else word,
    lambda word: _JUDGEMENT.sub(r"\1ment\2\3", word) if _JUDGEMENT.fullmatch(word) else word,
    _ise,
)
