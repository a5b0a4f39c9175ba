"""Spelling variants of one level: "Male", "male " and "MALE"."""

from collections.abc import Iterable, Mapping, Sequence

from lowdim.data.answer_scales import plain_answer

CASE, ANSWERS = "case", "answers"  # how levels are compared: without case and double spaces; as answers of a scale too
_SHORT = 2  # letters of codes in which case may matter, such as the alleles AA, Aa and aa


def folded(text: str) -> str:
    """Text without double spaces, and in lower case unless it is a code of two letters.

    >>> folded(" New  York "), folded("Aa")
    ('new york', 'Aa')
    """
    text = " ".join(text.split())
    return text if len(text) == _SHORT else text.casefold()


def places_of(levels: Sequence[str], found: Iterable[str], matching: str) -> dict[str, int]:
    """Index into ``levels`` of each of the texts ``found`` that is one of them, exactly or as ``matching`` says.

    >>> places_of(["Male", "Female"], ["male ", "Female", "x"], CASE)
    {'male ': 0, 'Female': 1}
    """
    plain = plain_answer if matching == ANSWERS else folded
    exact = {level: i for i, level in enumerate(levels)}
    near = {plain(level): i for i, level in reversed(list(enumerate(levels)))} if matching else {}
    places = {text: exact.get(text, near.get(plain(text), -1) if matching else -1) for text in found}
    return {text: place for text, place in places.items() if place >= 0}


def variants(counts: Mapping[str, int]) -> dict[str, str]:
    """The most frequent spelling of each text that has several, for its other spellings.

    >>> variants({"Male": 5, "male": 2, "Female": 4})
    {'male': 'Male'}
    """
    best: dict[str, str] = {}
    for text, _ in sorted(counts.items(), key=lambda pair: (-pair[1], len(pair[0]), pair[0].isupper(), pair[0])):
        best.setdefault(folded(text), text)
    return {text: best[folded(text)] for text in sorted(counts) if best[folded(text)] != text}
