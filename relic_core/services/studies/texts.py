"""What a study tells annotators where its owner says nothing else, and how long such texts may be."""

from __future__ import annotations

from relic_core.domain.studies import StudyTerms
from relic_core.errors import BadRequest

LONGEST_TEXT = 10_000
LONGEST_NAME = 100
MOST_WANTED = 1_000
LONGEST_COMMENT = 4_000
LONGEST_SECONDS = 86_400.0
"""A day: an item that was left open longer counts as so long."""

DEFAULT = StudyTerms(
    instructions=(
        "You will read a passage of criticism from which a quotation has been taken out, and three passages of the "
        "work that it speaks of. One of them is what the critic quoted. Choose the one that belongs in the gap. Go by "
        "what the critic says, not by words that happen to occur on both sides. If you cannot decide, say so. You may "
        "go back, and change an answer; the last one counts."
    ),
    wanted=3,
    consent=(
        "I take part of my own free will, and I can stop at any time. I agree that my answers, my comments and the "
        "time that each answer takes are kept and evaluated for this study, and that figures and answers may be "
        "published without my name."
    ),
    privacy=(
        "Kept are the name or code that you give, your choices, your comments, and how long each item was before you. "
        "They are kept in one file on the computer that runs this program, and the program sends them nowhere. Your "
        "browser remembers who answers until it is closed, and a comment that you have not sent until you send it. A "
        "code does as well as a name. Whoever runs the study removes all of it from that file if you ask for it."
    ),
    revealed=False,
)


def checked_text(what: str, text: str) -> str:
    """Check one of the texts of a study.

    Raises BadRequest: it is too long.
    """
    if len(text) > LONGEST_TEXT:
        raise BadRequest(
            f"The {what} of a study may have {LONGEST_TEXT:,} characters, and this has {len(text):,}. Shorten it."
        )
    return text


def checked_wanted(wanted: int) -> int:
    """Check how many annotators are wanted for each item.

    Raises BadRequest: fewer than none, or more than can be.
    """
    if not 0 <= wanted <= MOST_WANTED:
        raise BadRequest(
            f"{wanted} annotators for each item cannot be: give a number up to {MOST_WANTED:,}, or 0 to give everybody "
            "every item."
        )
    return wanted


def checked_name(what: str, name: str) -> str:
    """Check the name of a study or an annotator, without the spaces around it; kept to the letter else.

    Raises BadRequest: it is empty, too long, or holds line breaks or other characters that cannot be seen.
    """
    trimmed = name.strip()
    if not trimmed or len(trimmed) > LONGEST_NAME or not trimmed.isprintable():
        raise BadRequest(
            f"{what} needs a name or a code of 1 to {LONGEST_NAME} characters on one line, and {len(trimmed)} were "
            "given, or some that cannot be shown. Write another."
        )
    return trimmed
