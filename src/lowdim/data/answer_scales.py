"""Ordered answers of questionnaires: common scales in several languages, and numbers with words ("1 – never")."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

# From low to high; a bar separates other wordings of one level.
_SCALES = """
strongly disagree|disagree strongly|completely disagree|totally disagree; disagree; slightly disagree|somewhat disagree|rather disagree; neutral|neither|neither agree nor disagree|neither disagree nor agree|undecided|no opinion; slightly agree|somewhat agree|rather agree; agree; strongly agree|agree strongly|completely agree|totally agree
very dissatisfied|extremely dissatisfied; dissatisfied; somewhat dissatisfied|slightly dissatisfied; neutral|neither|neither satisfied nor dissatisfied; somewhat satisfied|slightly satisfied; satisfied; very satisfied|extremely satisfied
never; almost never|hardly ever; rarely|seldom; occasionally; sometimes; often|frequently; very often|usually|mostly|most of the time; almost always|nearly always; always
not at all; slightly|a little|a little bit; somewhat|moderately; very|quite a bit|very much|a lot; extremely
not important|not at all important|unimportant; slightly important|of little importance; moderately important|somewhat important; important; very important; extremely important
very unlikely|extremely unlikely; unlikely; somewhat unlikely; neutral|neither|neither likely nor unlikely; somewhat likely; likely; very likely|extremely likely
very poor; poor; fair; good; very good; excellent; outstanding
terrible; bad; ok|okay|average; good; great; excellent
very bad; bad; neither|neutral|average|ok|okay; good; very good
very low|lowest; low; medium|moderate|mid|middle|average; high; very high|highest
minimal; minor|mild; moderate; major|severe; critical|very severe|extreme
none|no; mild|slight; moderate; severe; very severe|extreme
xxs|2xs; xs|extra small; s|small; m|medium; l|large; xl|extra large; xxl|2xl; xxxl|3xl
small; medium; large
tiny; small; medium; large; huge
daily|every day; several times a week; weekly|every week; monthly|every month; quarterly; yearly|annually|every year; never
much worse; worse; slightly worse|somewhat worse; the same|same|about the same|no change; slightly better|somewhat better; better; much better
very difficult|very hard; difficult|hard; neutral|neither|medium; easy; very easy
beginner|novice; elementary|basic; intermediate; advanced; expert|proficient
child; teenager|teen; adult; senior
mon|monday; tue|tues|tuesday; wed|wednesday; thu|thur|thurs|thursday; fri|friday; sat|saturday; sun|sunday
jan|january; feb|february; mar|march; apr|april; may; jun|june; jul|july; aug|august; sep|sept|september; oct|october; nov|november; dec|december
stimme überhaupt nicht zu|stimme gar nicht zu|trifft überhaupt nicht zu|trifft gar nicht zu; stimme nicht zu|lehne ab|trifft nicht zu; stimme eher nicht zu|trifft eher nicht zu; teils teils|teils/teils|neutral|weder noch|unentschieden; stimme eher zu|trifft eher zu; stimme zu|trifft zu; stimme voll zu|stimme voll und ganz zu|stimme völlig zu|trifft voll zu|trifft völlig zu|trifft voll und ganz zu
sehr unzufrieden; unzufrieden; eher unzufrieden; neutral|weder noch|teils teils; eher zufrieden; zufrieden; sehr zufrieden
nie|niemals; fast nie; selten; gelegentlich; manchmal; häufig|oft; sehr oft|sehr häufig|meistens; fast immer; immer
gar nicht|überhaupt nicht; wenig|kaum|etwas; mittelmäßig|mäßig; ziemlich|stark; sehr|sehr stark
sehr schlecht; schlecht; mittel|mittelmäßig|durchschnittlich; gut; sehr gut; ausgezeichnet|hervorragend
mangelhaft; ausreichend; befriedigend; gut; sehr gut
sehr niedrig|sehr gering; niedrig|gering; mittel|mäßig; hoch; sehr hoch
klein; mittel; groß; sehr groß
pas du tout d'accord|tout à fait en désaccord|fortement en désaccord; pas d'accord|en désaccord; plutôt pas d'accord|plutôt en désaccord; neutre|ni d'accord ni pas d'accord|sans opinion; plutôt d'accord; d'accord; tout à fait d'accord|fortement d'accord
très insatisfait; insatisfait|pas satisfait; plutôt insatisfait; neutre; plutôt satisfait; satisfait; très satisfait
jamais; rarement; parfois|de temps en temps|quelquefois; souvent; très souvent; toujours
très mauvais; mauvais; moyen|passable; bon|bien; très bon|très bien; excellent
très faible; faible|bas; moyen; élevé|haut|fort; très élevé|très fort
petit; moyen; grand; très grand
totalmente en desacuerdo|muy en desacuerdo; en desacuerdo; algo en desacuerdo; neutral|ni de acuerdo ni en desacuerdo; algo de acuerdo; de acuerdo; totalmente de acuerdo|muy de acuerdo
muy insatisfecho; insatisfecho; neutral; satisfecho; muy satisfecho
nunca; casi nunca; raramente|rara vez; a veces|algunas veces; a menudo|frecuentemente; casi siempre; siempre
muy malo; malo; regular; bueno; muy bueno; excelente
muy bajo; bajo; medio; alto; muy alto
pequeño; mediano; grande; muy grande
fortemente in disaccordo|totalmente in disaccordo; in disaccordo; neutrale|né d'accordo né in disaccordo; d'accordo; molto d'accordo|fortemente d'accordo|totalmente d'accordo
mai; raramente; a volte|qualche volta; spesso; molto spesso; sempre
molto basso; basso; medio; alto; molto alto
discordo totalmente|discordo fortemente; discordo; neutro|nem concordo nem discordo; concordo; concordo totalmente|concordo fortemente
nunca; raramente; às vezes; frequentemente|muitas vezes; quase sempre; sempre
muito baixo; baixo; médio; alto; muito alto
helemaal mee oneens|zeer mee oneens; mee oneens|oneens; neutraal; mee eens|eens; helemaal mee eens|zeer mee eens
nooit; zelden; soms; vaak; altijd
"""  # noqa: E501  # one scale per line
_KNOWN = [[level.strip().split("|") for level in line.split(";")] for line in _SCALES.strip().splitlines()]
_MOST = 24  # distinct answers of a scale, spelling variants counted
_NUMBERED = re.compile(r"^(\d{1,2})\s*(?:[-–—=:.)]|\s\(?|\()\s*(.*?)\)?$|^(\d{1,2})$")
_IN_BRACKETS = re.compile(r"^(.*\S)\s*[(\[](\d{1,2})[)\]]$")
_STEPS = 11  # numbers of a scale at most, from 0 to 10


def plain_answer(text: str) -> str:
    """Text of an answer without case, hyphens, points and double spaces.

    >>> plain_answer(" Strongly-Agree. ")
    'strongly agree'
    """
    text = unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
    text = re.sub(r"(?<=\w)\s*[-_–]\s*(?=\w)", " ", text)
    return " ".join(text.split()).strip(" .!")


def order_of(values: Sequence[str]) -> list[str] | None:
    """Levels in order, if the values are answers of one known scale, or numbers with words; otherwise None.

    Levels between those found are filled in. ``values`` are distinct; of spelling variants the first is kept.

    >>> order_of(["agree", "Strongly disagree", "strongly agree"])  # doctest: +ELLIPSIS
    ['Strongly disagree', 'disagree', 'neutral', 'agree', 'strongly agree']
    >>> order_of(["5 - always", "1 - never", "3"])
    ['1 - never', '2', '3', '4', '5 - always']
    """
    if not 2 <= len(values) <= _MOST:
        return None
    spelled: dict[str, str] = {}
    for value in values:
        spelled.setdefault(plain_answer(value), value)
    if len(spelled) < 2:
        return None
    return _numbered(spelled.values()) or _worded(spelled)


def _worded(spelled: dict[str, str]) -> list[str] | None:
    """Levels of the shortest known scale that has all answers, each as it is spelled in the data."""
    for scale in sorted(_KNOWN, key=len):
        place = {plain_answer(word): i for i, words in enumerate(scale) for word in words}
        if not spelled.keys() <= place.keys() or len({place[word] for word in spelled}) < len(spelled):
            continue
        own = {place[word]: value for word, value in spelled.items()}
        # degrees between the ends, such as "slightly agree", are levels only where the data have one of them
        optional = {i for i, words in enumerate(scale) if re.match(_BETWEEN, words[0])}
        kept = [i for i in range(len(scale)) if i in own or (min(own) < i < max(own) and not optional & {i})]
        kept += [i for i in range(len(scale)) if i not in kept and i not in optional]
        return [own.get(i, scale[i][0]) for i in sorted(kept)]
    return None


_BETWEEN = (
    r"slightly|somewhat|almost|occasionally|very often|eher|stimme eher|fast|gelegentlich|sehr oft|plutôt|algo|casi"
)


def _numbered(values: Iterable[str]) -> list[str] | None:
    """Levels of answers that begin or end with their number, at least one with words."""
    place: dict[int, str] = {}
    texts: set[str] = set()
    for value in values:
        match, last = _NUMBERED.match(value.strip()), _IN_BRACKETS.match(value.strip())
        if last is not None:
            number, words = int(last[2]), last[1]
        elif match is not None:
            number, words = int(match[1] or match[3]), match[2] or ""
        else:
            return None
        if number in place or any(sign.isdigit() for sign in words):
            return None
        place[number] = value
        texts.add(words)
    low, high = min(place), max(place)
    # one word after all numbers is a unit
    if len(texts) < 2 or not any(re.search(r"[^\W\d_]{2}", text) for text in texts):
        return None
    if high - low >= _STEPS or len(place) < (high - low + 1) / 2:
        return None
    return [place.get(number, str(number)) for number in range(low, high + 1)]
