"""Formulas in Unicode become LaTeX, and code stays code."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_site"))
from notation import display, latex  # noqa: E402

SPAN = re.compile(r"(?<!`)`([^`\n]+)`")


@pytest.mark.parametrize(
    ("written", "made"),
    [
        ("λ_i", r"\lambda _{i}"),
        ("(δ_ij − d_ij)²", r"(\delta _{ij} - d_{ij})^{2}"),
        ("√(n − 1) V", r"\sqrt{n - 1} V"),
        ("√λ_s", r"\sqrt{\lambda _{s}}"),
        ("D^−½", r"D^{-1/2}"),
        ("L⁻ᵀ", r"L^{-\top }"),
        ("x̂ = m", r"\hat{x} = m"),
        ("Y = P Σ Wᵀ", r"Y = P \Sigma W^{\top }"),  # a matrix
        ("Σ_{j ∈ N_i} W_j", r"\sum _{j \in N_{i}} W_{j}"),  # a sum
        ("I − 11ᵀ/n", r"I - \mathbf{1}\mathbf{1}^{\top }/n"),  # vectors of ones, not eleven
        ("11 − x²", r"11 - x^{2}"),
        ("1e-6 λ_1", r"10^{-6} \lambda _{1}"),
        ("q_ij = f(s_ij)/Z", r"q_{ij} = f(s_{ij})/Z"),
        ("(1 + s/ν)^(−(ν+1)/2)", r"(1 + s/\nu )^{-(\nu +1)/2}"),
    ],
)
def test_formulas_are_translated(written, made):
    assert latex(written) == made


@pytest.mark.parametrize(
    "code",
    ["fit", "n_jobs=2", "mean_", "transform(X)", "Moments.scatter / n", '"auto"', "nearest(…).distances", "lu", "None",
     "cpp/src/guttman.cpp", "fit(X, weights=…)", "10001-1234", "python -m benchmarks.maps", "TSNE(exaggeration=ρ)"],
)  # fmt: skip
def test_code_is_left_alone(code):
    assert latex(code) is None


def test_every_formula_of_the_pages_on_mathematics_is_translated():
    """Spans with signs of mathematics are formulas; those that are not are code with the name of a function."""
    pages = sorted((ROOT / "docs" / "maths").glob("*.md"))
    spans = {span for page in pages for span in SPAN.findall(page.read_text(encoding="utf-8"))}
    left = [one for one in spans if re.search("[^\x00-\x7f…]", one) and latex(one) is None]
    assert [one for one in left if not re.match(r"[A-Z]+\(", one)] == []
    made = [latex(one) or "" for one in spans]
    assert sum(map(bool, made)) > 500
    for one in made:
        depth = 0
        for sign in re.sub(r"\\\\[{}]", "", one):
            depth += {"{": 1, "}": -1}.get(sign, 0)
            assert depth >= 0
        assert depth == 0, one


def test_blocks_have_a_line_for_each_formula():
    assert display("S v = λ v          F = Z Vᵀ").count(r"\qquad") == 1
    long = "S = S_a + S_b + (w_a w_b / w)(m_a − m_b)(m_a − m_b)ᵀ ,    m = m_a + (w_b / w)(m_b − m_a) ,    w = w_a + w_b"
    assert display(long).count(r"\\[4pt]") == 2
    assert display("pip install lowdim") is None
    assert display("") is None
