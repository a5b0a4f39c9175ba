"""Formulas of the pages on mathematics, which are written in Unicode, as LaTeX: the site typesets them.

The pages stay readable as text: ``Σ_j w_ij (δ_ij − d_ij)²`` in a code span becomes a formula of the site. Spans that
are code, with names of more than one letter that are no function, are left as they are.
"""

import re
import unicodedata

_LONG = 100  # characters of a line of formulas beyond which each has a line of its own
SIGNS = {
    "−": "-", "·": r"\cdot ", "×": r"\times ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ", "≈": r"\approx ",
    "∈": r"\in ", "∩": r"\cap ", "∪": r"\cup ", "∝": r"\propto ", "∇": r"\nabla ", "∂": r"\partial ",
    "∫": r"\int ", "∞": r"\infty ", "←": r"\leftarrow ", "→": r"\to ", "…": r"\dots ", "∣": r"\mid ",
    "⟨": r"\langle ", "⟩": r"\rangle ", "‖": r"\|", "±": r"\pm ", "¾": r"\tfrac34 ", "¼": r"\tfrac14 ",
    "½": r"\tfrac12 ", "≪": r"\ll ", "≫": r"\gg ", "⊤": r"\top ", "°": r"^\circ ", "#": r"\#", "%": r"\%",
    "′": "'", "ε": r"\varepsilon ", "ϕ": r"\phi ", "φ": r"\varphi ", "∖": r"\setminus ", "≡": r"\equiv ",
    "⊗": r"\otimes ", "⊙": r"\odot ", "∘": r"\circ ", "ℓ": r"\ell ", "∅": r"\emptyset ", "⌈": r"\lceil ",
    "⌉": r"\rceil ", "⌊": r"\lfloor ", "⌋": r"\rfloor ", "≲": r"\lesssim ", "~": r"\sim ", "∼": r"\sim ",
}  # fmt: skip
GREEK = dict(zip("αβγδζηθικλμνξπρστυχψω", (
    "alpha", "beta", "gamma", "delta", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi", "pi",
    "rho", "sigma", "tau", "upsilon", "chi", "psi", "omega",
), strict=True)) | dict(zip("ΓΔΘΛΞΠΦΨΩ", (
    "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Phi", "Psi", "Omega",
), strict=True))  # fmt: skip
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ᵀᵗᵏⁿ", [*"0123456789-+", r"\top ", "t", "k", "n"], strict=True))
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ᵢⱼₖₙ", "0123456789+-ijkn", strict=True))
HATS = {"\u0302": "hat", "\u0304": "bar", "\u0303": "tilde", "\u0307": "dot"}
OWN = {  # functions that LaTeX has
    "arg", "cos", "det", "exp", "ln", "log", "max", "min", "sin", "tan", "tanh",
}  # fmt: skip
NAMED = {  # other functions
    "Cov", "IQR", "KL", "MAD", "NX", "Var", "arctan", "argmax", "argmin", "corr", "cov", "diag", "logit",
    "mean", "median", "off", "prox", "range", "rank", "rk", "sd", "sign", "softmax", "span", "sum", "tr",
    "trace", "var", "vec",
}  # fmt: skip
SHORT = {"as", "at", "by", "if", "in", "is", "no", "of", "on", "or", "to"}  # words, not two letters side by side
CODE = re.compile(
    r"\(…\)|\[…\]|=…|=\[|\w\.\w*[a-z]{2}|\"|'[a-z]|__|\w\(\w+=|^\W*$|->|[\\@$&;:]\d|(?:cpp|docs|benchmarks)/"
)
NAME = re.compile(r"[A-Za-z]+(?:_[a-z]{3,}|_[a-z]+_)\w*|[a-z]{2,}_[a-z]{2,}\w*|[a-z]{2,}_$")
_FUNCTION = r"\b(?:log|exp|max|min|ln|tr|diag|Var|KL)\b"
_LETTER = r"(?<![A-Za-z_])(?:[A-Za-z](?:_[A-Za-z0-9]{1,2})?'?|[a-z]{2}(?= ?[-+*/]))(?![A-Za-z_=\"])"
PLAIN = re.compile(rf"(?:{_FUNCTION}|{_LETTER}|\d|[-+*/()<>=.,|' ]|_\{{)+")
ONES = re.compile(r"1(?=1?ᵀ|[A-Za-z]ᵀ|\([a-z]ᵀ|K)|(?<=[KM])1|(?<=[½¹] )1$|(?<=[^0-9]1)1(?=ᵀ)")  # a vector of ones


class NotMathematicsError(ValueError):
    """The text is code or prose."""


def latex(text: str) -> str | None:
    r"""A formula in LaTeX; None if the text is code.

    >>> print(latex("(δ_ij − d_ij)²"))
    (\delta _{ij} - d_{ij})^{2}
    >>> latex("n_jobs=2") is None, latex("fit") is None
    (True, True)
    """
    text = unicodedata.normalize("NFD", text.strip()).replace("=\u0338", "≠")
    if not text or CODE.search(text):
        return None
    plain = text.isascii() and "^" not in text
    if plain and (not PLAIN.fullmatch(text) or not re.search("[A-Za-z]", text)):
        return None
    try:
        return _Reader(text).whole()
    except NotMathematicsError:
        return None


class _Reader:
    """Reads a formula from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def whole(self) -> str:
        parts = []
        while self.at < len(self.text):
            parts.append(self.item())
        made = re.sub(r" {2,}", " ", re.sub(r"(?:\\ +){2,}", r"\\ ", "".join(parts)))
        if made.count("{") - made.count(r"\{") != made.count("}") - made.count(r"\}"):
            raise NotMathematicsError(self.text)
        return made.strip()

    def rest(self) -> str:
        return self.text[self.at :]

    def item(self) -> str:
        """One sign or word with what is raised, lowered or written above it."""
        gap = re.match(r" {2,}", self.rest())
        if gap:
            self.at += len(gap[0])
            return r"\qquad "
        c = self.text[self.at]
        if c == " ":
            self.at += 1
            return " "
        if c == "√":
            self.at += 1
            return r"\sqrt{" + self.operand() + "}" + self.scripts()
        return self.base() + self.scripts()

    def operand(self) -> str:
        """What a root covers: a group without its brackets, or one sign with its index."""
        if self.rest().startswith("("):
            inside = self.group("(", ")")
            return _Reader(inside).whole()
        number = re.match(r"\d+(\.\d+)?", self.rest())
        if number:
            self.at += len(number[0])
            return number[0]
        base = self.base()
        lowered = re.match(r"_(\{[^}]*\}|[A-Za-z0-9]+)", self.rest())
        if lowered:
            self.at += len(lowered[0])
            base += "_{" + _Reader(lowered[1].strip("{}")).whole() + "}"
        return base

    def group(self, left: str, right: str) -> str:
        """What is between brackets that match; the reader stands after them."""
        depth, start = 0, self.at
        while self.at < len(self.text):
            depth += {left: 1, right: -1}.get(self.text[self.at], 0)
            self.at += 1
            if depth == 0:
                return self.text[start + 1 : self.at - 1]
        raise NotMathematicsError(self.text)

    def base(self) -> str:
        c = self.text[self.at]
        if ONES.match(self.text, self.at):
            self.at += 1
            return r"\mathbf{1}"
        small = re.match(r"(\d+(?:\.\d+)?)e(-?\d+)", self.rest())
        if small:
            self.at += len(small[0])
            return ("" if small[1] == "1" else small[1] + r"\cdot ") + "10^{" + small[2] + "}"
        name = NAME.match(self.rest())
        if name and not re.match(r"(?:argmax|argmin|mean|Cov|Var|log)_", name[0]):
            self.at += len(name[0])
            return r"\texttt{" + name[0].replace("_", r"\_") + "}"
        word = re.match(r"[A-Za-z]{2,}", self.rest())
        if word:
            return self.word(word[0])
        self.at += 1
        if c == "Σ" and self.text == c:
            return r"\Sigma "
        if c == "Σ":
            before, after = self.text[: self.at - 1].rstrip()[-1:], self.rest().lstrip()[:1]
            matrix = before.isalpha() and (after == "^" or after.isupper()) and not self.rest().startswith("_")
            return r"\Sigma " if matrix else r"\sum "
        if c in GREEK:
            return self.under("\\" + GREEK[c] + " ")
        if c in SIGNS:
            return SIGNS[c]
        if c in RAISED:
            self.at -= 1
            return "{}"
        if c in "{}":
            return "\\" + c
        if c.isascii():
            return self.under(c)
        raise NotMathematicsError(self.text)

    def under(self, letter: str) -> str:
        """A letter with the hat that follows it."""
        if self.at < len(self.text) and self.text[self.at] in HATS:
            self.at += 1
            return "\\" + HATS[self.text[self.at - 1]] + "{" + letter.strip() + "}"
        return letter

    def word(self, word: str) -> str:
        """A function, a word, or letters side by side."""
        if word in OWN:
            self.at += len(word)
            return "\\" + word + " "
        if word in NAMED:
            self.at += len(word)
            return r"\operatorname{" + word + "}"
        if word in SHORT or (len(word) > 2 and not word.isupper()):
            before = r"\ " if re.search(r"[\w)}\]] $", self.text[: self.at]) else ""
            self.at += len(word)
            return before + r"\text{" + word + "}" + (r"\ " if self.rest().startswith(" ") else "")
        self.at += 1
        return self.under(word[0])

    def scripts(self) -> str:
        """Raised and lowered parts, in either spelling."""
        up, down, primes = "", "", ""
        while self.at < len(self.text):
            c = self.text[self.at]
            if c in RAISED:
                up += RAISED[c]
                self.at += 1
            elif c in LOWERED:
                down += LOWERED[c]
                self.at += 1
            elif c in "'′":
                primes += "'"
                self.at += 1
            elif c == "½" and up:  # as in D⁻½
                up += "1/2"
                self.at += 1
            elif c == "_":
                self.at += 1
                down += self.script()
            elif c == "^":
                self.at += 1
                up += self.script()
            else:
                break
        return ("_{" + down + "}" if down else "") + (
            "^{" + primes.replace("'", r"\prime ") + up + "}" if up or primes else ""
        )

    def script(self) -> str:
        """What ``_`` and ``^`` apply to."""
        for left, right in ("{}", "()"):
            if self.rest().startswith(left):
                return _Reader(self.group(left, right)).whole()
        found = re.match(r"[−-]?(?:½|[A-Za-z]+|\d+|\w)", self.rest())
        if not found:
            raise NotMathematicsError(self.text)
        self.at += len(found[0])
        if re.fullmatch(r"[a-z]{3,}", found[0]):
            return r"\mathrm{" + found[0] + "}"
        if found[0] == "NX":
            return r"\mathrm{NX}"
        return "".join({"½": "1/2", "−": "-"}.get(c) or _Reader(c).whole() for c in found[0])


def display(text: str) -> str | None:
    """Lines of formulas as one block; None if one of them is code."""
    written = [line for line in text.rstrip().split("\n") if line.strip()]
    lines = [
        latex(part) for line in written for part in ([line] if len(line) < _LONG else re.split(r" {4,}", line.strip()))
    ]
    if not lines or any(line is None for line in lines):
        return None
    return r"\begin{gathered}" + r" \\[4pt] ".join(line or "" for line in lines) + r"\end{gathered}"
