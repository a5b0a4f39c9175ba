"""The verdict: a summary of the measures in sentences, with the names and the ranking of the table."""

from typing import TYPE_CHECKING

import numpy as np

from lowdim.comparison.measures import BY_NAME, CLASSES, FAR, NEAR, Kind

if TYPE_CHECKING:
    from lowdim.comparison.result import Comparison

# For each question the measure that answers it, unless the ranking is by another one, and the words of the summary.
_ANSWERS = {
    NEAR: ("rnx_auc", "preserves neighbourhoods"),
    FAR: ("shepard_correlation", "preserves distances"),
    CLASSES: ("knn_accuracy", "separates classes"),
}
_CLOSE = 0.005  # measures closer than this are called equal
_NAMED = 2  # of the equal ones, others are counted
_DOUBT = 0.05  # p-value from which a difference from chance is called none


def tell(comparison: "Comparison") -> str:
    """Sentences on neighbourhoods, distances, classes, noise, components and intrinsic dimension."""
    led: dict[str, list[str]] = {}  # what each method is best at
    sentences = []
    for question, (name, words) in _ANSWERS.items():
        kind = BY_NAME[comparison.by if BY_NAME[comparison.by].question == question else name]
        leader = comparison.leader(kind)
        if leader is None:
            continue
        if kind.name in comparison.chance and not _beats_chance(comparison, kind, leader):
            sentences.append(
                f"No map separates classes better than chance ({kind.title} {_short(comparison.values(kind)[leader])} "
                f"at best, by {leader}; chance is {_short(comparison.chance[kind.name])})."
            )
            continue
        led.setdefault(leader, []).append(f"{words} best ({_told(comparison, kind, leader)})")
    if len(comparison.outcomes) == 1:
        led = {title: [words.replace(" best", "") for words in all_words] for title, all_words in led.items()}
    if led:
        sentences.insert(0, "; ".join(f"{name} {_listed(words)}" for name, words in led.items()) + ".")
    facts = comparison.facts
    if facts.noise is not None and facts.noise >= _DOUBT:
        sentences.append(
            "The data have no more neighbourhood structure than with their columns shuffled independently "
            f"(p = {facts.noise:.2f}): what the maps show may be noise."
        )
    if facts.enough is not None:
        hold = "1 component explains" if facts.enough == 1 else f"{facts.enough:,} components explain"
        sentences.append(f"{hold} 90 % of the variance.")
    if facts.dimension:
        spread = sorted(facts.dimension.values())
        low, high = round(spread[0]), round(spread[-1])
        about = f"{low}" if low == high else f"{low} to {high}"
        sentences.append(f"The intrinsic dimension is about {about}.")
    if facts.drowned and not comparison.scale and facts.spread is not None:
        ratio = facts.spread[1] / facts.spread[0]
        sentences.append(
            f"Columns differ {ratio:,.0f}-fold in scale: consider scaling them, or a few columns dominate the maps."
        )
    if comparison.failed:
        sentences.append(f"{_listed(list(comparison.failed))} failed; the reasons are below.")
    return " ".join(sentences)


def _told(comparison: "Comparison", kind: Kind, leader: str) -> str:
    """The leader's value, chance, and who is equally good."""
    values = comparison.values(kind)
    parts = [f"{kind.title} {_short(values[leader])}"]
    if kind.name in comparison.chance:
        held_out = next(one.found.held_out for one in comparison.outcomes if one.name == leader)
        parts[0] += " on held-out rows" if held_out else ""
        parts.append(f"chance is {_short(comparison.chance[kind.name])}")
    equal = [name for name, value in values.items() if name != leader and abs(values[leader] - value) < _CLOSE]
    if equal:
        others = len(equal) - _NAMED
        named = [*equal[:_NAMED], f"{others} other{'s' if others > 1 else ''}"] if others > 0 else equal
        parts.append(f"{_listed(named)} equally well")
    return ", ".join(parts)


def _beats_chance(comparison: "Comparison", kind: Kind, leader: str) -> bool:
    """Whether the best of all maps is above chance by more than the best of as many guesses would be."""
    from scipy.stats import norm

    chance, value = comparison.chance[kind.name], comparison.values(kind)[leader]
    error = next(one.found.errors[kind.name] for one in comparison.outcomes if one.name == leader)
    guess = (max(chance * (1 - chance), 0) / comparison.facts.rows) ** 0.5
    return bool(value - chance > norm.isf(_DOUBT / len(comparison.outcomes)) * np.fmax(error, guess))


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _short(value: float) -> str:
    """Two digits, more where they would round up to 1."""
    return f"{value:.2f}" if value == 1 or value < 0.995 else f"{value:.4f}".rstrip("0")
