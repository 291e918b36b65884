"""Content words of questions and claims, as Porter stems.

Used wherever two texts are compared by words (verification, refusal, the offline writer). Stems come from NLTK's Porter
stemmer (Porter 1980), which needs no data.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nltk.stem.porter import PorterStemmer

# English in every locale, unlike `time.strftime`.
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
# Regular expression for one of them, full or abbreviated.
MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|"
    r"Nov(?:ember)?|Dec(?:ember)?)"
)
# Letters and digits with inner hyphens, dots, ampersands or apostrophes: BMS-986158, R&D, U.S, company's.
_TOKEN = re.compile(r"[^\W_]+(?:[-–.&'’/][^\W_]+)*")
_FISCAL_YEAR = re.compile(r"^(?:fy|fiscal)-?(\d{2}|\d{4})$")


def word_set(text: str) -> frozenset[str]:
    """Words of a list written as prose."""
    return frozenset(text.split())


FUNCTION_WORDS = word_set("""
    a about above after again against all also am an and any are as at be because been before being below between
    both but by can cannot could did do does doing down during each else few for from further had has have having he
    her here hers herself him himself his how however i if in into is it its itself just me more most my myself no
    nor not now of off on once only or other our ours ourselves out over own per please same shall she should so
    some such than that the their theirs them themselves then there therefore these they this those through thus to
    too under until up upon very was we were what when where whether which while who whom whose why will with within
    without would you your yours yourself yourselves
""")
# Function words of other languages, with their question words.
OTHER_FUNCTION_WORDS = {
    "German": word_set("""
        aber alle als am an auch auf aus bei beim bis dann das dass dem den denn der des deren dessen die dies diese
        diesem diesen dieser dieses durch ein eine einem einen einer eines er es für gegen gibt hat hatte haben hatten
        hoch ihr ihre ihrem ihren ihrer im in ist jede jeder kann kein keine können man mehr mit muss müssen nach nicht
        noch nur ob oder ohne sein seine seinem seinen seiner sich sie sind soll sollen sowie über um und unter unser
        unsere vom von vor wann war waren warum was welche welchem welchen welcher welches wenn wer wem wen wie wieso
        wieviel viel viele wird werden wurde wurden wo wofür wohin woher womit worden zu zum zur zwischen
    """),
    "French": word_set("""
        à après au aucun aussi aux avait avant avec avez avoir car ce cela ces cet cette ceux chaque chez combien comme
        comment d dans de depuis des dont du elle elles en entre est et était étaient être eu il ils j je jusqu l la le
        les leur leurs lors mais même n ne nos notre nous on ont ou où par pas pendant peut plus pour pourquoi qu quand
        que quel quelle quelles quels qui quoi s sa sans se selon ses si son sont sous sur t tout toute toutes tous un
        une vos votre vous y fut
    """),
    "Spanish": word_set("""
        a al ante antes como cómo con cual cuál cuáles cuando cuándo cuanta cuánta cuantas cuántas cuanto cuánto
        cuantos cuántos de del desde donde dónde durante e el ella ellas ellos en entre era eran es esa ese eso esta
        está están estas este esto estos fue fueron ha hace han hasta hay la las le les lo los más mi muy no nos
        nuestra nuestro o para pero por porque qué que quien quién quiénes se según ser si sin sobre son su sus también
        tenía tiene tienen todo todos tras u un una uno unos y ya
    """),
    "Italian": word_set("""
        a ai agli al alla alle allo anche anno c che chi ci come con cosa cui d da dagli dai dal dalla dalle dallo degli
        dei del dell della delle dello di dopo dove e è ed era erano fra fu gli ha hanno i il in l la le lo loro ma nei
        nel nell nella nelle nello non o per perché più prima qual quale quali quando quanta quante quanti quanto
        quest questa queste questi questo se secondo senza si sia sono stata state stati stato su sua sue sui sul sull
        sulla sulle suo suoi tra tutti un una uno
    """),
    "Portuguese": word_set("""
        a à ao aos aquela aquele as às até com como da das de dela dele do dos e é ela elas ele eles em entre era eram
        essa esse esta está este eu foi foram há isso isto já lhe mais mas mesmo muito na nas não nem no nos nossa nosso
        num numa o onde os ou para pela pelas pelo pelos por porque qual quais quando quanta quantas quanto quantos que
        quem se sem ser seu seus são sobre sua suas também tem têm tinha um uma
    """),
    "Dutch": word_set("""
        aan al als bij dan dat de deze die dit door dus een en er geen had hadden heb hebben heeft het hij hoe hoeveel
        hun ik in is ja je kan kunnen maar meer met mijn na naar niet nog of om omdat onder ons onze ook op over te
        tegen toen tot tussen uit van veel voor waar waarom wanneer waren was wat we wel welk welke werd werden wie wij
        worden wordt zal ze zich zij zijn zo zonder zou
    """),
    "Swedish": word_set("""
        att av de dem den denna deras dess det detta där efter eller en ett från för genom ha hade han har hon hur i
        icke inte är jag kan kunde med mellan men mot mycket många någon några när och om oss på sedan sig sin sina ska
        skall skulle som så till under upp ut utan vad var vara varför vem vi vid vilka vilken vilket åt över
    """),
    "Danish": word_set("""
        af alle at blev blive da de dem den denne der deres det dette du efter eller en er et fra for før han har havde
        hun hvad hvem hver hvilke hvilken hvilket hvis hvor hvordan hvorfor hvornår i ikke ind jeg kan man mange med
        meget mellem men mod må ned noget nogle nu når og også om op os over på sig skal skulle som så til ud under uden
        var ved vi vil været
    """),
    "Polish": word_set("""
        aby albo ale był była było były bez będzie ci co czy dla do gdy gdzie go i ich ile jak jaka jaki jakie jako jest
        jego jej już kiedy kto która które którego której który którzy lub ma mają na nad nie niż o od oraz po pod
        podczas przed przez przy roku są się ta tak także tego tej ten to tych tym u w we wielu z za został została ze
        że
    """),
}  # fmt: skip
# Function words of other languages that are content words, names or abbreviations in English.
_ENGLISH_TOO = word_set("""
    ale anno ante art aux bis cada car che chi com come comment con des dit dos dove ein est fine fra han hat hay hon
    hun ich ind las les leur loro los man mas mens met mit mix mod mot net non num ons over par pas pendant per plus
    pod port pour prima quest ses ser sein ska sin sold son sous state stata stato sub sui sur ten todo tot van vara
    via vid vil war wen wie die
""")
_SHORTEST_OTHER = 3  # letters; two-letter words may be units, elements or states
# Function words, common words of questions and answers, and the function words of other languages.
STOP_WORDS = (
    FUNCTION_WORDS
    | word_set("""
        according although based describe either ever explain following give hence let list many may might much must
        onto respectively show tell us used using
    """)
    | frozenset(
        word
        for words in OTHER_FUNCTION_WORDS.values()
        for word in words
        if len(word) >= _SHORTEST_OTHER and word not in _ENGLISH_TOO
    )
)


@lru_cache(maxsize=1)
def _stemmer() -> PorterStemmer:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


# Past forms that a suffix stemmer cannot resolve.
_IRREGULAR = {
    "paid": "pay", "spent": "spend", "sold": "sell", "bought": "buy", "grew": "grow", "grown": "grow", "rose": "rise",
    "risen": "rise", "fell": "fall", "fallen": "fall", "held": "hold", "lost": "lose", "began": "begin",
    "begun": "begin", "led": "lead", "sent": "send", "brought": "bring", "took": "take", "taken": "take",
    "gave": "give", "given": "give", "chose": "choose", "chosen": "choose", "wrote": "write", "written": "write",
    "drove": "drive", "driven": "drive", "lent": "lend", "built": "build", "kept": "keep", "met": "meet",
    "won": "win", "ran": "run",
}  # fmt: skip


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """Porter stem of a lower-case word, or of its base form if it is an irregular past; a word with a digit is
    unchanged."""
    if any(character.isdigit() for character in word):
        return word
    return str(_stemmer().stem(_IRREGULAR.get(word, word)))


def tokens(text: str) -> list[str]:
    """Lower-case words of ``text`` in order, with compatibility forms folded and possessive endings removed.

    A hyphenated or slashed word of letters gives its parts; a fiscal year (``FY2018``, ``FY18``) gives the year.
    """
    out: list[str] = []
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text)):
        word = match.group().lower().replace("’", "'").replace("–", "-")
        word = word.removesuffix("'s").replace(".", "") if not word[0].isdigit() else word
        year = _FISCAL_YEAR.match(word)
        if year:
            digits = year.group(1)
            out.append(digits if len(digits) == 4 else f"20{digits}")
        elif any(c.isdigit() for c in word):
            out.append(word)
        else:
            out.extend(part for part in re.split(r"[-/]", word) if part)
    return out


def content_stems(text: str) -> list[str]:
    """Stems of the content words of ``text``, in order, with repetitions."""
    return [stem(word) for word in tokens(text) if word not in STOP_WORDS and (len(word) > 1 or word.isdigit())]


def cover(wanted: Iterable[str], given: Iterable[str]) -> float:
    """Share of the distinct stems ``wanted`` that are among ``given``, 0–1; 1.0 if ``wanted`` is empty."""
    needed = set(wanted)
    return len(needed & set(given)) / len(needed) if needed else 1.0
