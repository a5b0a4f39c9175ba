"""The verdict: a summary of the measures in sentences."""

from typing import TYPE_CHECKING

from lowdim.comparison.measures import BY_NAME, CLASSES, FAR, NEAR

if TYPE_CHECKING:
    from lowdim.comparison.result import Comparison

# For each question the measure that answers it, and the words of the summary.
_ANSWERS = {
    NEAR: ("trustworthiness", "preserves neighbourhoods"),
    FAR: ("shepard_correlation", "preserves distances"),
    CLASSES: ("knn_accuracy", "separates classes"),
}
_CLOSE = 0.005  # measures closer than this are called equal


def tell(comparison: "Comparison") -> str:
    """Sentences on neighbourhoods, distances, classes, components and intrinsic dimension."""
    led: dict[str, list[str]] = {}  # what each method is best at
    for name, words in _ANSWERS.values():
        kind = BY_NAME[name]
        values = comparison.values(kind)
        leader = comparison.leader(kind)
        if leader is None:
            continue
        equal = [_title(comparison, m) for m, v in values.items() if m != leader and values[leader] - v < _CLOSE]
        also = f", {_listed(equal)} equally well" if equal else ""
        led.setdefault(_title(comparison, leader), []).append(f"{words} best ({_short(values[leader])}{also})")
    if len(comparison.outcomes) == 1:
        led = {title: [words.replace(" best", "") for words in all_words] for title, all_words in led.items()}
    sentences = ["; ".join(f"{title} {_listed(words)}" for title, words in led.items()) + "."] if led else []
    facts = comparison.facts
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


def _title(comparison: "Comparison", name: str) -> str:
    """Name of a method in a sentence: its class, or the name it was given."""
    outcome = next(outcome for outcome in comparison.outcomes if outcome.name == name)
    return outcome.candidate.title.replace("TSNE", "t-SNE") if outcome.candidate.named else name


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _short(value: float) -> str:
    """Two digits, more where they would round up to 1."""
    return f"{value:.2f}" if value == 1 or value < 0.995 else f"{value:.4f}".rstrip("0")
