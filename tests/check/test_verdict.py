"""Verdicts on sentences over the sample report, and the checks that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread

import pytest

from ragcore.check.checks import Checks
from ragcore.engine import Engine
from ragcore.errors import Cancelled, InputError, UnknownCheck
from ragcore.index.checks import CheckStore
from ragcore.text.clauses import clause_spans
from ragcore.types import EVERYTHING, Scope
from ragcore.types.check import Check, CheckedSentence, Decision
from tests import pdfs, prepared

TITLE = "Larkfield Instruments, annual report 2025"


@pytest.fixture(scope="module")
def engine(sampled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    home = prepared.copied(sampled, tmp_path_factory.mktemp("verdict") / "home")
    with Engine.open(home) as opened:
        yield opened


@pytest.fixture
def checks(engine: Engine) -> Checks:
    return engine.checks


def checked(checks: Checks, draft: str, name: str = "draft.md") -> Check:
    check_id = checks.add(name, draft.encode(), EVERYTHING).check_id
    assert checks.run(check_id).finished
    return checks.get(check_id)


def against(tmp_path: Path, title: str, words: str, draft: str) -> CheckedSentence:
    """Verdict on a draft of one sentence against a document of nothing but ``words``."""
    made = pdfs.report(title, {"Results": [words]})
    with Engine.open(prepared.home(tmp_path / "home", {"report.pdf": made})) as engine:
        [found] = checked(engine.checks, draft).sentences
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Revenue grew 12.4% to $148.6 million in fiscal 2025.", "$148.6 million"),
        ("Operating income came to $28.1 million, which is 18.9% of revenue.", "$28.1 million"),
        ("The facility matures in June 2029.", "30 June 2029"),
        ("Capital expenditure was $9.7 million, of which $5.2 million went into the hall in Leuven.", "$9.7 million"),
        ("At year end, $18 million had been drawn.", "$18 million"),
    ],
)
def test_what_the_report_says_is_confirmed_at_its_words(checks: Checks, sentence: str, words: str) -> None:
    [found] = checked(checks, sentence).sentences
    assert found is not None
    assert (found.status, found.reason) == ("confirmed", "")
    assert any(words in one.quote for one in found.citations)
    assert all(one.boxes for one in found.citations)


@pytest.mark.parametrize(
    ("sentence", "said", "instead", "write"),
    [
        ("Revenue was $142.6 million in fiscal 2025.", "$142.6 million", "$148.6 million", "$148.6 million"),
        ("The facility matures on 30 June 2028.", "30 June 2028", "30 June 2029", "30 June 2029"),
        # The figure of a part is not that of the whole.
        ("Capital expenditure was $5.2 million.", "$5.2 million", "$9.7 million", "$9.7 million"),
        ("At year end $28 million was drawn.", "$28 million", "$18 million", "$18 million"),
    ],
)
def test_a_wrong_figure_is_contradicted_by_the_one_in_its_place(
    checks: Checks, sentence: str, said: str, instead: str, write: str
) -> None:
    [found] = checked(checks, sentence).sentences
    assert found is not None
    assert found.status == "contradicted"
    [one] = found.corrections
    assert (one.said, one.found, one.write) == (said, instead, write)
    assert found.text[one.start : one.end] == said
    assert said in found.reason
    assert instead in found.reason
    assert TITLE in found.reason


@pytest.mark.parametrize(
    ("words", "said", "found"),
    [
        (
            "Ocimum labiatum inhibited the protease with an IC50 value of 49.8 ± 0.4 µg/mL and was of low toxicity.",
            "Ocimum labiatum inhibited the protease with an IC50 value of 49.8 ± 0.4 mg/mL.",
            "0.4 µg/mL",
        ),
        (
            "Aliquots (200 µL) were injected in an analytical column of four metres.",
            "Aliquots of 200 mL were injected in an analytical column.",
            "200 µL",
        ),
        (
            "Musambi had the highest LC50 value (457.30 ppm) of all the oils that were tested on larvae.",
            "Musambi had the highest LC50 value, 475.30 ppm, of all the oils tested.",
            "457.30",
        ),
    ],
)
def test_a_figure_is_replaced_with_its_unit_and_without_brackets(
    tmp_path: Path, words: str, said: str, found: str
) -> None:
    checked = against(tmp_path, "Oils", words, said)
    [one] = checked.corrections
    assert (one.found, one.write) == (found, found)
    new = said[: one.start] + one.write + said[one.end :]
    assert re.search(rf"{re.escape(found)}( ppm)?(,| were|\.)", new)


def test_a_figure_with_two_units_is_not_confirmed(tmp_path: Path) -> None:
    words = "The extract inhibited the protease with an IC50 value of 49.8 ± 0.4 µg/mL in the assay."
    said = words.replace("µg/mL", "µg/mL mg/mL")
    assert against(tmp_path, "Oils", words, said).status != "confirmed"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("Our effective tax rate decreased by nine points during the year of the merger.", "increased"),
        ("The CC50 value of the pigment in U1 cells was higher than the concentration tested in cells.", "lower"),
    ],
)
def test_a_word_is_not_replaced_by_its_opposite(tmp_path: Path, words: str, said: str) -> None:
    draft = words.replace("decreased", said).replace("higher", said)
    found = against(tmp_path, "Year", words, draft)
    assert found.status == "contradicted"
    assert [one.said for one in found.corrections] in ([], [said])
    assert not any(one.write for one in found.corrections), "grammar and what is meant take a person"


def test_two_ways_to_say_at_most_are_one(tmp_path: Path) -> None:
    words = (
        "The sponsor must notify the agency of a fatal reaction in no case later than 7 calendar days after receipt."
    )
    found = against(tmp_path, "Rules", words, words.replace("in no case later", "no later"))
    assert found.status == "confirmed"


def test_an_end_of_a_range_is_not_corrected_to_a_point(checks: Checks) -> None:
    [found] = checked(checks, "Revenue was $142.6 million to $145.1 million in fiscal 2025.").sentences
    assert found is not None
    assert found.status != "confirmed"
    assert found.corrections == ()


def test_no_figure_is_corrected_to_itself(checks: Checks) -> None:
    [found] = checked(checks, "Revenue was $148.6 million in fiscal 2025.").sentences
    assert found is not None
    assert found.status != "contradicted"


def test_a_statement_that_the_report_denies_is_contradicted(checks: Checks) -> None:
    [found] = checked(checks, "Larkfield hedges sales in euros and Norwegian kroner due within 90 days.").sentences
    assert found is not None
    assert found.status == "contradicted"
    assert "do not hedge" in found.citations[0].quote


@pytest.mark.parametrize(
    "sentence",
    [
        "Brandt & Oyelaran LLP gave a qualified opinion on 7 November 2025.",
        "Larkfield sold its 40% stake in Calibra Nord for $6.3 million.",
        "Laboratory Sensors gained from longer production runs.",
        "Hilton replaced mechanical flow meters with the FS-40 sensor.",
        "Field Sensors made the highest operating margin of the three segments.",
        "Leuven has the largest number of employees.",
    ],
)
def test_a_well_told_error_is_not_confirmed(checks: Checks, sentence: str) -> None:
    [found] = checked(checks, sentence).sentences
    assert found is not None
    assert found.status in ("partly", "contradicted", "not_found")


@pytest.mark.parametrize(
    ("words", "said", "found"),
    [
        ("It runs for one-year terms unless either party gives 180 days’ notice of non-renewal.", "360", "180"),
        ("About 79.5% of the households of the survey had no losses in the crisis.", "59.5%", "79.5%"),
        (
            "A sponsor reports serious reactions within 15 calendar days. It reports a fatal or life-threatening "
            "reaction to a drug of the study no later than 7 calendar days after it is known.",
            "15",
            "7",
        ),
    ],
)
def test_a_figure_changed_in_the_document_s_own_sentence_is_corrected(
    tmp_path: Path, words: str, said: str, found: str
) -> None:
    draft = words[words.rfind(". ") + 1 :].strip().replace(found, said)
    sentence = against(tmp_path, "Report", words, draft)
    assert sentence.status == "contradicted"
    assert [(one.said, one.found) for one in sentence.corrections] == [(said, found)]


@pytest.mark.parametrize(
    ("words", "sentence", "status"),
    [
        (
            "The site has 16 million square feet. Of these 11 million square feet are owned, and 5 million are leased.",
            "The site has 16 million square metres.",
            "contradicted",
        ),
        (
            "We have not received a proposed assessment of the transfer prices. We expect none in the next 12 months.",
            "The tax authority has already sent a proposed assessment of the transfer prices.",
            "not_found",
        ),
        (
            "Sales rose by 18% to $3.2 billion compared to $2.7 billion in the fourth quarter of fiscal 2021.",
            "Ulmer Beauty’s sales rose 18% to $3.2 billion in the fourth quarter of fiscal 2022.",
            "confirmed",
        ),
    ],
)
def test_another_sentence_beside_it_confirms_nothing_that_the_first_is_against(
    tmp_path: Path, words: str, sentence: str, status: str
) -> None:
    assert against(tmp_path, "Ulmer Beauty, fourth quarter of fiscal 2022", words, sentence).status == status


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Ceramic rings are bought from a single supplier.", "come from one supplier"),
        ("In June 2025 Larkfield replaced its two bank loans with a credit facility of $60 million.", "$60 million"),
        ("Brandt and Oyelaran LLP gave an unqualified opinion.", "unqualified"),
        ("Larkfield Instruments reported revenue of $148.6 million.", "$148.6 million"),
        ("Larkfield Laboratory Balances earned a margin of 12.5%.", "12.5%"),
    ],
)
def test_the_same_in_other_words_is_confirmed_by_words_that_have_its_figure(
    checks: Checks, sentence: str, words: str
) -> None:
    [found] = checked(checks, sentence).sentences
    assert found is not None
    assert found.status == "confirmed"
    assert words in found.citations[0].quote


@pytest.mark.parametrize(
    "sentence",
    [
        "Larkfield plans to move its headquarters to Berlin.",
        "A class action was filed against the company in March.",
        "The patent for the rings runs out in 2031.",
    ],
)
def test_what_the_report_says_nothing_of_is_not_found(checks: Checks, sentence: str) -> None:
    [found] = checked(checks, sentence).sentences
    assert found is not None
    assert found.status == "not_found"
    assert found.reason


def test_a_range_is_no_two_clauses() -> None:
    sentence = "It plans to open between 25 and 30 mills and to spend $400 million."
    spans = clause_spans(sentence)
    assert [sentence[slice(*span)] for span in spans][:1] == ["It plans to open between 25 and 30 mills"]
    assert len(clause_spans("Revenue was 5 million in 2019, and 30 people left the firm.")) == 2


def test_a_clause_that_nothing_covers_is_named(checks: Checks) -> None:
    text = "Interest is 1.35 percentage points over the reference rate, and the chairman owns a vineyard in Portugal."
    [found] = checked(checks, text).sentences
    assert found is not None
    assert found.status == "partly"
    [(start, end)] = found.missing
    assert "vineyard" in text[start:end]
    assert "1.35" not in text[start:end]


def test_nothing_is_called_missing_that_stands_in_the_words_beside_it(tmp_path: Path) -> None:
    words = (
        "If an IND is withdrawn because of a safety reason, the sponsor shall promptly so inform the agency, all "
        "participating investigators, and all reviewing boards, together with the reasons for such withdrawal."
    )
    draft = (
        "If an IND is withdrawn for a commercial reason, the sponsor shall promptly inform the agency, all "
        "participating investigators and all reviewing boards."
    )
    found = against(tmp_path, "Rules", words, draft)
    assert found.status == "partly"
    assert found.missing == ()
    assert "safety" in found.reason


LETTER = (
    "Ms. Dillon is entitled to a salary and to all benefits. Unused vacation days shall be forfeited. The costs of "
    "arbitration shall be borne equally by both parties. Any controversy shall be settled by arbitration, and judgment "
    "may be entered."
)


@pytest.mark.parametrize(
    ("draft", "status"),
    [
        ("Ms. Dillon is entitled to a car allowance.", "partly"),
        ("Unused vacation days are carried over to the next year.", "partly"),
        ("Unused vacation days are forfeited.", "confirmed"),
        ("The costs of arbitration are borne equally by both parties.", "confirmed"),
        ("Any controversy shall be settled by arbitration.", "confirmed"),  # "may" stands behind it
    ],
)
def test_words_in_common_are_not_what_a_sentence_says(tmp_path: Path, draft: str, status: str) -> None:
    found = against(tmp_path, "Letter agreement", LETTER, draft)
    assert found.status == status, found.reason


@pytest.mark.parametrize(
    "sentence", ["We believe that the margin is fair.", "Should the limit be raised?", "I would ask for a meeting."]
)
def test_an_opinion_is_left_alone(checks: Checks, sentence: str) -> None:
    [found] = checked(checks, sentence).sentences
    assert found is not None
    assert (found.status, found.citations) == ("no_claim", ())


def test_quotations_are_held_to_the_letter(checks: Checks) -> None:
    right = 'The report says that "Interest is 1.35 percentage points over the reference rate".'
    wrong = "It says “Interest is 1.55 percentage points over the reference rate”."
    invented = "It says “the moon is made of green cheese and always was”."
    found = checked(checks, f"{right}\n\n{wrong}\n\n{invented}").sentences
    assert [one.status for one in found if one] == ["confirmed", "contradicted", "not_found"]
    assert found[1] is not None
    [one] = found[1].corrections
    assert one.said == "Interest is 1.55 percentage points over the reference rate"
    assert one.found.startswith("Interest is 1.35 percentage points")


@pytest.mark.parametrize(
    "sentence",
    [
        "The auditors resigned, although “Interest is 1.35 percentage points over the reference rate”.",
        "Management denied that “Interest is 1.35 percentage points over the reference rate”.",
        "In 1997 it was agreed that “Interest is 1.35 percentage points over the reference rate”.",
        "The “revolving credit facility” was cancelled by the banks after a fire in the hall.",
    ],
)
def test_a_right_quotation_confirms_nothing_around_it(checks: Checks, sentence: str) -> None:
    [found] = checked(checks, sentence).sentences
    assert found is not None
    assert found.status != "confirmed"


def test_figures_of_a_table_are_checked_in_its_scale_and_years(checks: Checks) -> None:
    table = (
        "| $ million | 2025 | 2024 |\n|---|---|---|\n| Revenue | 148.6 | 132.2 |\n| Operating income | 28.1 | 24.9 |\n"
    )
    found = checked(checks, f"# Key figures\n\n{table}").sentences
    assert [one.status for one in found if one] == ["confirmed", "confirmed", "confirmed", "contradicted"]
    assert found[3] is not None
    [one] = found[3].corrections
    assert (one.said, one.write) == ("24.9", "24.0")


def test_the_same_draft_gets_the_same_verdicts(checks: Checks) -> None:
    draft = "Revenue was $142.6 million. The facility matures in June 2029. The hall is in Leuven."
    assert checked(checks, draft).sentences == checked(checks, draft).sentences


def test_a_stopped_check_goes_on_where_it_was(checks: Checks) -> None:
    draft = "The facility matures in June 2029. Interest is 1.35 percentage points over the reference rate."
    check_id = checks.add("draft.txt", draft.encode(), EVERYTHING).check_id
    told: list[tuple[int, int]] = []
    with pytest.raises(Cancelled):
        checks.run(check_id, lambda done, total: told.append((done, total)), lambda: len(told) == 2)
    assert checks.info(check_id).done == 1
    first = checks.get(check_id).sentences[0]
    assert checks.run(check_id).finished
    assert checks.get(check_id).sentences[0] == first
    assert told == [(0, 2), (1, 2)]


def test_a_replaced_sentence_is_checked_as_it_is_now(checks: Checks) -> None:
    check = checked(checks, "The facility matures on 30 June 2028.")
    check_id = check.info.check_id
    assert check.open_problems == (0,)
    new = "The facility matures on 30 June 2029."
    found = checks.decide(check_id, 0, Decision("replaced", new, "as agreed"))
    assert found is not None
    assert (found.status, found.text) == ("confirmed", new)
    after = checks.get(check_id)
    assert after.decisions == (Decision("replaced", new, "as agreed"),)
    assert after.open_problems == ()
    assert after.draft == check.draft
    undone = checks.decide(check_id, 0, Decision())
    assert undone == check.sentences[0]
    with pytest.raises(InputError):
        checks.decide(check_id, 0, Decision("replaced", "  "))


def test_a_decision_without_new_words_keeps_the_verdict(checks: Checks) -> None:
    check = checked(checks, "The facility matures on 30 June 2028.")
    assert checks.decide(check.info.check_id, 0, Decision("left", note="agreed by phone")) == check.sentences[0]
    assert checks.get(check.info.check_id).open_problems == ()


def test_checking_again_forgets_verdicts_and_keeps_decisions(checks: Checks) -> None:
    check = checked(checks, "The facility matures on 30 June 2028.")
    check_id = check.info.check_id
    checks.decide(check_id, 0, Decision("left"))
    assert checks.again(check_id).done == 0
    assert checks.run(check_id).finished
    after = checks.get(check_id)
    assert (after.sentences, after.decisions) == (check.sentences, (Decision("left"),))


def test_a_verdict_on_words_that_have_changed_is_not_kept(checks: Checks, engine: Engine) -> None:
    check = checked(checks, "The facility matures on 30 June 2028.")
    store, check_id = CheckStore(engine.store.database), check.info.check_id
    assert check.sentences[0] is not None
    store.decide(check_id, 0, Decision("replaced", "It matures in 2029."))
    assert not store.put(check_id, 0, 0, "", replace(check.sentences[0], status="confirmed"), 0.1)
    assert checks.get(check_id).sentences == (None,)


def test_a_check_asked_anew_while_it_runs_has_verdicts_of_its_new_documents_alone(checks: Checks) -> None:
    draft = "The facility matures in June 2029.\n\nAt year end $18 million was drawn.\n\nRevenue was $148.6 million."
    first = checked(checks, draft)
    check_id = checks.add("draft.md", draft.encode(), EVERYTHING).check_id
    elsewhere = Scope(kinds=("figure",))

    def show(done: int, total: int) -> None:
        if done == 1 and checks.info(check_id).scope == EVERYTHING:
            checks.again(check_id, elsewhere)

    assert checks.run(check_id, show).finished
    told = checks.get(check_id)
    assert [one.status for one in first.sentences if one] == ["confirmed"] * 3
    assert told.info.scope == elsewhere
    assert [one.citations for one in told.sentences if one] == [()] * 3


def test_a_verdict_of_a_run_before_is_not_kept(checks: Checks, engine: Engine) -> None:
    check = checked(checks, "The facility matures on 30 June 2028.")
    store, check_id = CheckStore(engine.store.database), check.info.check_id
    [old] = check.sentences
    assert old is not None
    assert not store.put(check_id, 0, 0, "", replace(old, status="confirmed"), 0.1), "it has one"
    checks.again(check_id)
    assert not store.put(check_id, 0, 0, "", old, 0.1)
    assert checks.get(check_id).sentences == (None,)
    assert store.put(check_id, 1, 0, "", old, 0.1)


@pytest.mark.slow
def test_two_runs_of_one_check_share_its_work(checks: Checks) -> None:
    draft = "\n\n".join(f"Larkfield had {n} sites in that year." for n in range(24))
    check_id = checks.add("draft.md", draft.encode(), EVERYTHING).check_id
    told: list[int] = []
    runs = [Thread(target=checks.run, args=(check_id, lambda done, _total: told.append(done))) for _ in range(2)]
    for one in runs:
        one.start()
    for one in runs:
        one.join()
    assert checks.info(check_id).finished
    assert len(told) < 36


def test_a_removed_check_is_gone(checks: Checks) -> None:
    check_id = checked(checks, "The facility matures in June 2029.").info.check_id
    checks.remove(check_id)
    assert check_id not in [one.check_id for one in checks.all()]
    for use in (checks.info, checks.get, checks.run, checks.remove, checks.again):
        with pytest.raises(UnknownCheck):
            use(check_id)


def test_offered_words_are_those_of_the_document(tmp_path: Path) -> None:
    words = "Revenue of the garden centres was $1.2 billion in fiscal 2031."
    found = against(tmp_path, "Sorrel", words, "Revenue of the garden centres was $1.45 billion in fiscal 2031.")
    assert found.status == "contradicted", found.reason
    assert [one.write for one in found.corrections] == ["$1.2 billion"]


def test_a_day_that_is_numbered_is_that_day(tmp_path: Path) -> None:
    words = (
        "Patients had three cycles of ORVEX (sulferine 375 mg/m² on day 0, mexorate 3.5 g/m² on day 1, cytolane 2 g/m² "
        "twice daily on days 2 and 3, and thiolane 30 mg/m² on day 4)."
    )
    found = against(tmp_path, "ORVEX in thymoma", words, "Mexorate was given at 3.5 g/m² on day 1 of the ORVEX cycles.")
    assert found.status == "confirmed", found.reason


@pytest.mark.parametrize(
    ("sentence", "status"),
    [
        ("Ms. Quill's legal fees are reimbursed up to $40,000.", "confirmed"),
        ("Mr. Brandt's legal fees are reimbursed up to $25,000.", "confirmed"),
        ("Mr. Brandt's legal fees are reimbursed up to $40,000.", "partly"),
        ("Ms. Quill's legal fees are reimbursed up to $25,000.", "partly"),
    ],
)
def test_a_party_is_also_what_its_agreement_or_letter_calls_it(tmp_path: Path, sentence: str, status: str) -> None:
    clauses = {
        "Agreement": [
            'This agreement is between Orrin Valves, Inc. and MARA L. QUILL (the "Executive").',
            "The Company shall reimburse the Executive the reasonable legal fees, provided that in no event shall the "
            "amount of such reimbursement exceed $40,000.",
        ],
        "Letter": [
            "Olaf T. Brandt, 12 Hill Road, Orrin",
            "Dear Ole,",
            "The Company will reimburse you for your reasonable legal fees up to a total of $25,000.",
        ],
    }
    made = pdfs.report("Agreements of Orrin Valves", clauses)
    with Engine.open(prepared.home(tmp_path / "home", {"agreements.pdf": made})) as engine:
        [found] = checked(engine.checks, sentence).sentences
    assert found is not None
    assert found.status == status
