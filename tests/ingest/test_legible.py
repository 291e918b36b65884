"""The check for broken encodings: what is text must never be suspected, whatever the language or the subject."""

from __future__ import annotations

import pytest

from ragcore.ingest.legible import agree, garbled
from tests import pdfs

TEXTS = {
    "english": pdfs.INTRO + pdfs.FINDING,
    "german": "Die Angstschweißtropfen des Rechtschreibschülers strömten während der Prüfung. " * 3,
    "polish": "Wszystkie przedsiębiorstwa wstrzymały sprzedaż źdźbeł i chrząszczy w Szczebrzeszynie na wiosnę. " * 3,
    "czech": "Strč prst skrz krk, řekl vlk; čtvrtý zmrzl, smrkl a zdrhl přes krajní hřbet do údolí mlýna. " * 3,
    "vietnamese": "Mặc dù trời mưa to, chúng tôi vẫn đi đến trường để học bài và làm việc với các bạn của mình. " * 3,
    "chinese": "本公司於二零二三年度的收入為人民幣一億二千萬元，較上年度增加百分之十五。" * 3,
    "japanese": "当社の二〇二三年度の売上高は一億二千万円で、前年度より一五％増加しました。" * 3,
    "korean": "당사의 매출액은 전년 대비 십오 퍼센트 증가하였으며 영업이익도 증가하였습니다. " * 3,
    "arabic": "ارتفعت إيرادات الشركة خلال عام ألفين وثلاثة وعشرين بنسبة خمسة عشر في المائة. " * 3,
    "hebrew": "הכנסות החברה עלו בשנת אלפיים עשרים ושלוש בחמישה עשר אחוזים לעומת השנה הקודמת. " * 3,
    "russian": "Выручка компании в две тысячи двадцать третьем году выросла на пятнадцать процентов. " * 3,
    "hindi": "कंपनी का राजस्व वर्ष दो हजार तेईस में पंद्रह प्रतिशत बढ़ गया और लाभ भी बढ़ा। " * 3,
    "numbers": "\n".join(f"{n:,}  $ ({n * 7:,})  {n / 3:.1f}%  —  {n + 1}" for n in range(1000, 90000, 3000)),
    "part numbers": " ".join(f"XK-{n}/7B QRT{n}Z PCB{n} MTR-{n}-SS BLK {n}MM" for n in range(100, 140)),
    "formulas": "∂u/∂t = α∇²u + ∑ᵢ βᵢxᵢ² − ∫₀^∞ f(x)dx ≤ ε ⇒ ‖x‖₂ ∈ ℝⁿ, ∀x ∃y: φ(x, y) ≠ ∅ ⊂ Ω ∪ Γ " * 3,
    "code": "for (int i = 0; i < n; ++i) { *ptr++ = buf[i] & 0xFF; if (!strncmp(str, tmp, len)) return -1; }\n" * 5,
    "contents": "\n".join(f"{n}. Chapter {n} {'.' * 60} {n * 11}" for n in range(1, 30)),
    "sequence": "MKTAYIAKQR QISFVKSHFS RQLEERLGLI EVQAPILSRV GDGTQDNLSG AEKAVQVKVK ALPDAQFEVV " * 4,
    "tickers": "AAPL MSFT GOOG AMZN TSLA NVDA META AMD INTC CSCO ORCL ADBE CRM NFLX PYPL SHOP UBER" * 3,
    "few": "\ufffd\ufffd 12",
    "": "",
}
SHIFTED = {ord(char): chr(ord(char) - 29) for char in map(chr, range(32, 127))}
BROKEN = {
    "shifted by 29": pdfs.INTRO.translate(SHIFTED),
    "shifted letters": pdfs.INTRO.translate(
        {ord(c): chr((ord(c) - 97 + 3) % 26 + 97) for c in map(chr, range(97, 123))}
    ),
    "replaced": "\ufffd" * 60 + " the of",
    "half private": "".join(c if i % 3 else "\uf061" for i, c in enumerate(pdfs.INTRO)),
    "control": "".join(chr(1 + ord(c) % 25) for c in pdfs.INTRO),
    "cid": " ".join(f"(cid:{n})" for n in range(40)) + " Page 3",
    "mojibake": "Выручка компании выросла на пятнадцать процентов.".encode().decode("latin-1") * 3,
    "signs": "!\"#$ %&'( )*+, $#%& '(!\" +*,- ./:; #$%& '()* \"!#$ &%'( *)+, ,-./ ;:#$ " * 3,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_text_is_not_suspected(text: str) -> None:
    assert garbled(text) is None


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_the_work_of_a_broken_encoding_is(text: str) -> None:
    assert garbled(text)


def test_a_right_text_layer_holds_what_is_read_off_the_page_however_divided() -> None:
    assert agree(pdfs.INTRO, pdfs.INTRO.replace(" ", "").upper())
    assert agree(pdfs.INTRO, pdfs.INTRO[:150].replace("e", "c"))
    assert agree(pdfs.INTRO, "")
    assert not agree(BROKEN["shifted letters"], pdfs.INTRO)
    assert not agree("\ue061" * 200, pdfs.INTRO)
    assert not agree("Larkfield Water Survey " + "\ufffd" * 200, "Larkfield Water Survey " + pdfs.INTRO)
