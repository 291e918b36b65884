"""Questions that rules cut into their parts, and those that they must leave whole."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcore.offline.clauses import entities, periods
from ragcore.offline.decompose import LONGEST, by_rules, several
from ragcore.text.words import word_set

CUT: list[tuple[str, list[str]]] = [
    # Several questions
    (
        "What was Acme's revenue in 2021 and how many employees did Bolt have?",
        ["What was Acme's revenue in 2021?", "How many employees did Bolt have (2021)?"],
    ),
    (
        "What was Acme's revenue and how many employees did Bolt have in 2020?",
        ["What was Acme's revenue (2020)?", "How many employees did Bolt have in 2020?"],
    ),
    (
        "What was Acme's revenue in 2021 and how many people did it employ?",
        ["What was Acme's revenue in 2021?", "How many people did Acme employ (2021)?"],
    ),
    (
        "How many people does Acme employ, and where is it headquartered?",
        ["How many people does Acme employ?", "Where is Acme headquartered?"],
    ),
    (
        "What was Acme's net income in 2021? And in 2022?",
        ["What was Acme's net income in 2021?", "What was Acme's net income in 2022?"],
    ),
    (
        "What was Acme's net income in 2021? What about Bolt?",
        ["What was Acme's net income in 2021?", "What was Bolt's net income in 2021?"],
    ),
    (
        "What is the statute of limitations for fraud; and who bears the burden of proof?",
        ["What is the statute of limitations for fraud?", "Who bears the burden of proof?"],
    ),
    (
        "What dose was given to the control group and how many patients withdrew from the trial?",
        ["What dose was given to the control group?", "How many patients withdrew from the trial?"],
    ),
    (
        "What were the side effects of metformin and how were they treated?",
        ["What were the side effects of metformin?", "How were they treated (the side effects of metformin)?"],
    ),
    (
        "List the exclusion criteria of the trial and describe the primary endpoint.",
        ["List the exclusion criteria of the trial.", "Describe the primary endpoint."],
    ),
    (
        "What is a tenancy deposit, and when must it be returned?",
        ["What is a tenancy deposit?", "When must it be returned (a tenancy deposit)?"],
    ),
    (
        "What is Acme's R&D expense and why did it change between 2019 and 2020?",
        ["What is Acme's R&D expense?", "Why did it change between 2019 and 2020 (Acme's R&D expense)?"],
    ),
    (
        "Did Acme pay a dividend in 2020 and did it buy back shares?",
        ["Did Acme pay a dividend in 2020?", "Did Acme buy back shares (2020)?"],
    ),
    (
        "Who approved the drug, and in which year was it approved?",
        ["Who approved the drug?", "In which year was it approved (the drug)?"],
    ),
    (
        "How does Title VII differ from Title IX and what does the court say?",
        ["How does Title VII differ from Title IX?", "What does the court say?"],
    ),
    (
        "How does Title VII differ from Title IX and why was it enacted?",
        ["What is known about Title VII?", "What is known about Title IX?"],
    ),
    (
        "What did Barnes and Noble report and what did Borders report?",
        ["What did Barnes and Noble report?", "What did Borders report?"],
    ),
    (
        "Who can appeal the ruling and when does the time begin to run?",
        ["Who can appeal the ruling?", "When does the time begin to run?"],
    ),
    # Two things that are compared
    (
        "Which of AMD and Intel had the higher gross margin in 2022?",
        ["What was AMD's gross margin in 2022?", "What was Intel's gross margin in 2022?"],
    ),
    (
        "In 2022, which of AMD and Intel had the higher gross margin?",
        ["What was AMD's gross margin (2022)?", "What was Intel's gross margin (2022)?"],
    ),
    (
        "Which had the higher gross margin in 2022, AMD or Intel?",
        ["What was AMD's gross margin in 2022?", "What was Intel's gross margin in 2022?"],
    ),
    (
        "Which company, AMD or Intel, spent more on research and development in 2021?",
        [
            "Is it AMD that spent more on research and development in 2021?",
            "Is it Intel that spent more on research and development in 2021?",
        ],
    ),
    (
        "Which of the two arms, nivolumab or docetaxel, had the longer median survival?",
        ["What was nivolumab's median survival?", "What was docetaxel's median survival?"],
    ),
    (
        "Which of aspirin and ibuprofen reduced fever faster in children?",
        [
            "Is it aspirin that reduced fever faster in children?",
            "Is it ibuprofen that reduced fever faster in children?",
        ],
    ),
    (
        "Did Acme or Bolt report a higher operating margin in 2021?",
        ["What was Acme's operating margin in 2021?", "What was Bolt's operating margin in 2021?"],
    ),
    (
        "Compare the gross margin of AMD and Intel in 2022.",
        ["What is AMD's gross margin in 2022?", "What is Intel's gross margin in 2022?"],
    ),
    (
        "Compare the research and development expense of AMD and Intel",
        ["What is AMD's research and development expense?", "What is Intel's research and development expense?"],
    ),
    (
        "Compare Acme's revenue with that of Bolt in 2020.",
        ["What is Acme's revenue in 2020?", "What is Bolt's revenue in 2020?"],
    ),
    (
        "Compare Ernst and Young with Deloitte in terms of audit fees.",
        ["What is Ernst and Young's audit fees?", "What is Deloitte's audit fees?"],
    ),
    (
        "Compare the accuracy of BERT and RoBERTa on SQuAD.",
        ["What is BERT's accuracy on SQuAD?", "What is RoBERTa's accuracy on SQuAD?"],
    ),
    (
        "What is the difference between a licence and a lease?",
        ["What is known about a licence?", "What is known about a lease?"],
    ),
    (
        "What is the difference between Acme's revenue and Bolt's net income?",
        ["What is Acme's revenue?", "What is Bolt's net income?"],
    ),
    (
        "What is the difference in median survival between the nivolumab arm and the docetaxel arm?",
        ["What is the nivolumab arm's median survival?", "What is the docetaxel arm's median survival?"],
    ),
    (
        "How does the penalty in Article 12 compare with the penalty in Article 15?",
        ["What is known about the penalty in Article 12?", "What is known about the penalty in Article 15?"],
    ),
    (
        "How do Germany and France differ in notice periods?",
        ["What is Germany's notice periods?", "What is France's notice periods?"],
    ),
    (
        "How does metformin compare with sulfonylurea in terms of weight gain?",
        ["What is metformin's weight gain?", "What is sulfonylurea's weight gain?"],
    ),
    (
        "Is the response rate of nivolumab higher than that of docetaxel?",
        ["What is the response rate of nivolumab?", "What is the response rate of docetaxel?"],
    ),
    (
        "Was Acme's gross margin higher than Bolt's in 2020?",
        ["What is Acme's gross margin in 2020?", "What is Bolt's gross margin in 2020?"],
    ),
    (
        "Did AMD have a higher gross margin than Intel in 2022?",
        ["What is AMD's gross margin in 2022?", "What is Intel's gross margin in 2022?"],
    ),
    (
        "What was Acme's revenue and Bolt's net income in 2020?",
        ["What was Acme's revenue in 2020?", "What was Bolt's net income in 2020?"],
    ),
    (
        "Compare AMD and Intel in terms of gross margin.",
        ["What is AMD's gross margin?", "What is Intel's gross margin?"],
    ),
    (
        "Was Acme's gross margin higher than Bolt's in 2020, and by how much?",
        ["What is Acme's gross margin in 2020?", "What is Bolt's gross margin in 2020?"],
    ),
    # Two periods
    (
        "Did Pfizer grow its revenue in 2022 compared to 2021, and why?",
        ["What was Pfizer's revenue in 2022?", "What was Pfizer's revenue in 2021?"],
    ),
    (
        "How did revenue change in 2022 compared to 2021 and what drove it?",
        ["What was revenue in 2022?", "What was revenue in 2021?"],
    ),
    (
        "How did revenue change from 2021 to 2022? What drove it?",
        ["What was revenue in 2021?", "What was revenue in 2022?"],
    ),
    (
        "How did sales change from 2021 to 2022, and by how much?",
        ["What was sales in 2021?", "What was sales in 2022?"],
    ),
    (
        "Did Acme's revenue grow in 2022 compared to the prior year and, if so, how?",
        ["What was Acme's revenue in 2022?", "What was Acme's revenue in 2021?"],
    ),
    (
        "How did capex change from FY2015 to FY2016?",
        ["What was capex in FY2015?", "What was capex in FY2016?"],
    ),
    (
        "How much has the effective tax rate of Acme changed between FY2021 and FY2022?",
        ["What was the effective tax rate of Acme in FY2021?", "What was the effective tax rate of Acme in FY2022?"],
    ),
    (
        "Did Acme increase its debt between 2022 and the 2023 period?",
        ["What was Acme's debt in 2022?", "What was Acme's debt in 2023?"],
    ),
    (
        "How did mortality change from 2010 to 2020 in Sweden?",
        ["What was mortality in Sweden in 2010?", "What was mortality in Sweden in 2020?"],
    ),
    (
        "Were sales higher in 2021 than in 2020?",
        ["What were sales in 2021?", "What were sales in 2020?"],
    ),
    (
        "Compare revenue in 2020 and 2021 for Acme.",
        ["What was revenue for Acme in 2020?", "What was revenue for Acme in 2021?"],
    ),
    (
        "What was the average operating margin of Acme from 2018 to 2020?",
        [
            "What was the operating margin of Acme in 2018?",
            "What was the operating margin of Acme in 2019?",
            "What was the operating margin of Acme in 2020?",
        ],
    ),
    (
        "What was the growth in revenue of Acme in FY22 year over year?",
        ["What was revenue of Acme in FY22?", "What was revenue of Acme in FY21?"],
    ),
    (
        "Did Acme's revenue grow year over year in Q2 2023?",
        ["What was Acme's revenue in Q2 2023?", "What was Acme's revenue in Q2 2022?"],
    ),
    (
        "How much did net sales of Acme grow in 2022 compared to the prior year?",
        ["What was net sales of Acme in 2022?", "What was net sales of Acme in 2021?"],
    ),
    # Two quantities
    (
        "What was Acme's marketing expense as a share of net sales in fiscal 2020?",
        ["What is Acme's marketing expense in fiscal 2020?", "What is Acme's net sales in fiscal 2020?"],
    ),
    (
        "What is the ratio of current assets to current liabilities for Acme in 2022?",
        ["What is current assets for Acme in 2022?", "What is current liabilities for Acme in 2022?"],
    ),
    (
        "What is total assets minus total liabilities of Acme at the end of 2020?",
        ["What is total assets of Acme at the end of 2020?", "What is total liabilities of Acme at the end of 2020?"],
    ),
    (
        "What is Acme's operating income plus depreciation and amortization in 2020?",
        ["What is Acme's operating income in 2020?", "What is Acme's depreciation and amortization in 2020?"],
    ),
    (
        "What is net debt / EBITDA of Acme in 2020?",
        ["What is net debt of Acme in 2020?", "What is EBITDA of Acme in 2020?"],
    ),
    (
        "Calculate passengers carried / seats offered for Acme.",
        ["What is passengers carried for Acme?", "What is seats offered for Acme?"],
    ),
    (
        "What is the number of passengers divided by the number of seats of Acme?",
        ["What is number of passengers of Acme?", "What is the number of seats of Acme?"],
    ),
    (
        "You are an analyst. What is the FY2020 quick ratio of Acme? It is defined as: liquid funds / current "
        "liabilities. Round to two decimals.",
        ["What is Acme's liquid funds in FY2020?", "What is Acme's current liabilities in FY2020?"],
    ),
]

WHOLE = [
    # One thing with "and" in it
    "What are Johnson & Johnson's research and development expenses?",
    "What did Ernst and Young say about internal control?",
    "What is the balance of property, plant and equipment of Acme in 2020?",
    "What are the terms and conditions of the lease?",
    "How much cash and cash equivalents does Acme hold?",
    "What is the law of supply and demand?",
    "What are the risks and benefits of aspirin?",
    "What is the difference between research and development costs?",
    "What are the differences between invasive and non-invasive ventilation?",
    "What is the difference between Level 1 and Level 2 assets?",
    "What is the difference between fraud and criminal negligence?",
    "How did the results of the Smith and Jones studies differ?",
    "Describe the roles and responsibilities of the board.",
    "When and how was the company founded?",
    "Who and what caused the fire?",
    "How did the court and the jury rule?",
    "What happens if the tenant and the landlord disagree?",
    "Explain why demand and supply differ.",
    "What is known about trade between France and Spain?",
    "What were the revenues of Acme and Bolt in 2020?",
    "Compare the precision and recall of BERT",
    "What is the difference between Antigua and Barbuda's GDP and Jamaica's GDP?",
    "What is the difference between Procter and Gamble's revenue and Unilever's revenue?",
    "What is the sum of Acme's revenue and Bolt's revenue?",
    "What is Procter and Gamble's revenue and Unilever's net income?",
    "Compare Simon and Garfunkel.",
    "Compare Simon and Garfunkel in 1970.",
    # What is mixed or given together
    "What was the overall survival with nivolumab plus ipilimumab in CheckMate 067?",
    "overall survival with nivolumab plus ipilimumab in CheckMate 067",
    "What was the hazard ratio of nivolumab plus ipilimumab in CheckMate 067?",
    "What was the percentage of responders to nivolumab + ipilimumab?",
    "What is the cost of nivolumab plus ipilimumab?",
    "What is the density of THF / water mixtures at 1 atm?",
    "THF / water mixtures at 1 atm",
    "What is the vitamin B12 plus folate effect?",
    "vitamin B12 plus folate effect",
    "What is the margin of safety + error in the bridge design?",
    # A question whose verb stands behind the second
    "What did Barnes and Noble and what did Borders report?",
    "When did the tenant and when did the landlord sign?",
    "What did the federal court and what did the high court hold?",
    "What will Acme and what will Bolt sell?",
    # A clause that goes on with the same subject
    "Which company was founded in 1999 and is based in Ohio?",
    "What is the name of the CEO who joined in 2010 and who left in 2015?",
    "What does the agreement say about confidentiality and when it ends?",
    "Who founded the company that makes valves and which was sold in 2001?",
    # No comparison
    "What is the relationship between smoking and lung cancer?",
    "What is the interaction between warfarin and aspirin?",
    "Is the deposit more than five weeks' rent?",
    "What costs are no less than 10 dollars?",
    "How does Acme compare to its peers?",
    "What was the effect of nivolumab vs placebo?",
    # Periods without a change, and changes that are no sum of two levels
    "What events took place between 1914 and 1918?",
    "Who was president from 2001 to 2009?",
    "Which segment grew most from 2019 to 2020?",
    "Which region had the biggest drop in Q2 2023 year over year revenues?",
    "What were Acme's total assets in 2019 and 2020?",
    "What was the difference between 2019 and 2020 sales of Acme?",
    # Nothing to cut
    "What was Acme's revenue in 2020?",
    "revenue 2020 vs 2021",
    "Revenue?",
    "and",
    "",
    # What it refers to is not there
    "What was it in 2020 and how did they explain it?",
    # Other languages
    "Wie hoch war der Umsatz von Acme 2020 und wie viele Mitarbeiter hatte Bolt?",
    "Quelle est la différence entre un bail et une licence ?",
    "¿Cuál fue el ingreso de Acme en 2020 y en 2021?",
    "Acmeの売上はいくらですか。Boltは？",
]


@pytest.mark.parametrize(("question", "parts"), CUT)
def test_questions_are_cut(question: str, parts: list[str]) -> None:
    made = by_rules(question)
    assert [part.text for part in made] == parts
    assert all(part.origin == "rules" and part.reason for part in made)


@pytest.mark.parametrize("question", ["What is a clinical hold?", "What does “clinical hold” mean?"])
def test_what_asks_for_a_meaning_is_also_searched_for_as_a_definition_says_it(question: str) -> None:
    assert [part.text for part in by_rules(question)] == ["clinical hold means"]
    assert by_rules("What is gross margin?") == by_rules("Who is the landlord?") == []


@pytest.mark.parametrize("question", WHOLE)
def test_questions_stay_whole(question: str) -> None:
    assert by_rules(question) == []


def test_more_than_three_questions_are_three_sub_queries() -> None:
    made = by_rules("What is clause 1? What is clause 2? What is clause 3? What is clause 4?")
    assert [part.text for part in made] == [
        "What is clause 1?",
        "What is clause 2?",
        "What is clause 3? What is clause 4?",
    ]


@pytest.mark.parametrize("question", [question for question, _ in CUT])
def test_what_rules_cut_may_be_several(question: str) -> None:
    assert several(question)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What was Acme's revenue in 2020?", False),
        ("How long is the notice period?", False),
        ("Summarise the decision.", False),
        ("Who founded the association which published the journal?", True),
        ("What is the population of the capital of Ohio?", True),
        ("What were sales in 2019, 2020?", True),
        ("Who leads Acme? Who owns Bolt?", True),
    ],
)
def test_only_what_may_be_several_is_worth_asking_a_model(question: str, expected: bool) -> None:
    assert several(question) is expected


def test_names_and_periods() -> None:
    assert entities("Did Acme's R&D in May 2020 exceed that of Foot Locker Inc. under Article 5?") == [
        "Acme",
        "Foot Locker Inc",
        "Article 5",
    ]
    assert periods("from FY2015 to fiscal 2016, in Q2 2020 and 2021") == ["FY2015", "fiscal 2016", "Q2 2020", "2021"]


WORDS = sorted(
    word_set("""
        what which how did is was the a of in and or between compare than from to Acme Bolt's 2020 FY21 revenue it
        higher change ratio divided by ? ; , . year over
    """)
)


@given(st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join))
def test_parts_are_always_questions_of_their_own(question: str) -> None:
    made = by_rules(question)
    assert len(made) in (0, 2, 3)
    texts = [part.text for part in made]
    assert len({text.casefold() for text in [*texts, question]}) == len(texts) + 1
    assert all(text == " ".join(text.split()) and text[-1] in "?." for text in texts)


@pytest.mark.parametrize("piece", ["a and ", "compare x y ", "which of a or b ", "A' ", "in 2020 and ", "Did Acme "])
def test_long_questions_take_no_time(piece: str) -> None:
    question = piece * (LONGEST // len(piece))
    started = time.process_time()
    by_rules(question)
    several(question)
    assert time.process_time() - started < 1.0
    assert by_rules(question * 2) == []
