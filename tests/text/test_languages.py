"""Which language a text is in."""

from __future__ import annotations

import pytest

from ragcore.text.languages import language_of
from ragcore.text.words import STOP_WORDS


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Wie viele Mitarbeiter hatte das Unternehmen im Jahr 2021?", "German"),
        ("Was ist die Dosis?", "German"),
        ("Combien de salariés Corning avait-il en 2021 ?", "French"),
        ("¿Cuántos empleados tiene la empresa?", "Spanish"),
        ("Quanti dipendenti ha l'azienda?", "Italian"),
        ("Qual foi a receita da empresa em 2021?", "Portuguese"),
        ("Hoeveel werknemers heeft het bedrijf?", "Dutch"),
        ("Hur många anställda har företaget?", "Swedish"),
        ("Сколько сотрудников?", "a language in Cyrillic script"),
        ("社員は何人ですか", "Japanese"),
        ("What was net income in 2021?", "English"),
        ("Does Die Bahn AG own La Poste?", "English"),
        # Small words that other languages have too.
        ("On what grounds may FDA impose a clinical hold on a Phase 1 study?", "English"),
        ("Can a patient get an experimental drug in an emergency?", "English"),
        # Names and figures are of no language.
        ("IBM net income", ""),
        ("Umsatz 2021", ""),
        ("Country Sample N Pos N Pos Austria Single N Pos Total N Pos Sweden N Pos", ""),
        ("", ""),
        ("State: State of incorporation", ""),  # one Italian word, twice, beside an English one
        ("Indirizzo della sede della società", "Italian"),
    ],
)
def test_language(text: str, language: str) -> None:
    assert language_of(text) == language


def test_words_and_abbreviations_of_english_are_no_stop_words() -> None:
    kept = [
        "die",
        "war",
        "hat",
        "ind",
        "ich",
        "met",
        "ten",
        "par",
        "non",
        "come",
        "dove",
        "eu",
        "er",
        "im",
        "os",
        "mit",
        "las",
        "los",
        "comment",
    ]
    assert not STOP_WORDS & set(kept)
    assert {"welche", "combien", "quando", "hoeveel"} <= STOP_WORDS
