"""Follow-up questions with what they mean by themselves: invented, over filings, drug studies, contracts and papers.

``needs`` are words that the standalone question must have and ``bars`` words that it must not have (both without
regard to case, from the beginning of a word); a case with neither must stay as it was asked. They were written for an
answerer by rules of wording; what is counted is how many a mechanism without such rules still meets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """``earlier`` are the questions asked before, the last of them just before ``question``."""

    kind: str
    earlier: tuple[str, ...]
    question: str
    needs: tuple[str, ...] = ()
    bars: tuple[str, ...] = ()

    def met(self, standalone: str) -> bool:
        if not self.needs and not self.bars:
            return standalone == self.question
        return all(_has(standalone, word) for word in self.needs) and not any(
            _has(standalone, word) for word in self.bars
        )


def _has(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}", text, re.IGNORECASE) is not None


def _cases(kind: str, *rows: tuple[str | tuple[str, ...], str, str, str]) -> tuple[Case, ...]:
    return tuple(
        Case(
            kind,
            (earlier,) if isinstance(earlier, str) else earlier,
            question,
            tuple(filter(None, needs.split("|"))),
            tuple(filter(None, bars.split("|"))),
        )
        for earlier, question, needs, bars in rows
    )


NORDVIK = "What was Nordvik's net revenue in fiscal 2021?"
LEASE = "What is the notice period in the Harbour Street lease?"
TRIAL = "What was the response rate in the treatment group of the ORION-3 trial?"
PAPER = "Which dataset did Okafor et al. use to train the parser?"

TUNING = (
    *_cases(
        "period",
        (NORDVIK, "And in 2020?", "Nordvik|net revenue|2020", "2021"),
        (NORDVIK, "what about FY19?", "Nordvik|net revenue|FY19", "2021"),
        ("How many stores did Calder Retail open in 2018?", "and 2019?", "Calder|stores|2019", "2018"),
        ("What was Calder's inventory at the end of Q2 2022?", "In Q3?", "Calder|inventory|Q3|2022", "Q2"),
        ("What was Calder's inventory at December 31, 2022?", "And a year earlier?",
         "Calder|inventory|December 31, 2021", "2022"),
        ("What was the goodwill of Tessera Group?", "In 2017?", "goodwill|Tessera|2017", ""),
        ("How did Nordvik's gross margin change between 2019 and 2021?", "And between 2017 and 2019?",
         "Nordvik|gross margin|2017|2019", "2021"),
    ),
    *_cases(
        "entity",
        (NORDVIK, "What about Tessera?", "Tessera|net revenue|2021", "Nordvik"),
        (NORDVIK, "And Calder Retail's?", "Calder|net revenue|2021", "Nordvik"),
        ("What is the half-life of ZX-410?", "and of ZX-412?", "half-life|ZX-412", "ZX-410"),
        ("What were the primary endpoints of ORION-3?", "How about ORION-4?", "primary endpoints|ORION-4", "ORION-3"),
        ("What does Article 12 say about penalties?", "And Article 15?", "Article 15|penalties", "Article 12"),
        ("What accuracy does the parser reach on the Treebank corpus?", "And on the Gutenberg corpus?",
         "accuracy|parser|Gutenberg", "Treebank"),
        (TRIAL, "And in the placebo group?", "response rate|placebo|ORION-3", "treatment"),
    ),
    *_cases(
        "measure",
        (NORDVIK, "And the operating margin?", "Nordvik|operating margin|2021", "revenue"),
        (NORDVIK, "What about gross profit?", "Nordvik|gross profit|2021", "revenue"),
        (LEASE, "And the deposit?", "", ""),
        ("What is the IC50 of ZX-410?", "And its half-life?", "ZX-410|half-life", "IC50"),
        ("How much did Calder Retail spend on marketing in 2018?", "And on research?", "Calder|research|2018",
         "marketing"),
        ("What was the mean age of patients in ORION-3?", "And the median follow-up?", "", ""),
    ),
    *_cases(
        "pronoun",
        (NORDVIK, "What is its operating margin?", "Nordvik|operating margin", ""),
        (NORDVIK, "Who audits the company?", "Nordvik|audit", ""),
        ("Who is the chief executive of Tessera Group?", "When was she appointed?",
         "Tessera|chief executive|appointed", ""),
        ("What is ZX-410?", "Is it safe in pregnancy?", "ZX-410|safe|pregnancy", ""),
        (LEASE, "Can it be shortened?", "notice period|Harbour Street|shorten", ""),
        (PAPER, "How large was it?", "dataset|Okafor|large", ""),
        ("Which adverse events were seen in ORION-3?", "How often did they lead to withdrawal?",
         "adverse events|ORION-3|withdrawal", ""),
        ("Who are the parties to the Brightwater supply agreement?", "What are their obligations?",
         "obligations|Brightwater", ""),
    ),
    *_cases(
        "comparative",
        (NORDVIK, "Is that more than in 2020?", "Nordvik|net revenue|2021|2020", ""),
        (NORDVIK, "How does that compare to Tessera?", "Nordvik|net revenue|2021|Tessera", ""),
        (TRIAL, "Was it higher than with placebo?", "response rate|ORION-3|placebo|higher", ""),
        (("What was Nordvik's net revenue in fiscal 2021?", "And in 2020?"), "Which was higher?",
         "Nordvik|net revenue|higher", ""),
    ),
    *_cases(
        "ellipsis",
        (NORDVIK, "Why?", "Nordvik|net revenue|2021", ""),
        ("Did Calder's gross margin fall in 2022?", "By how much?", "Calder|gross margin|2022", ""),
        (LEASE, "Who must give it?", "notice|Harbour Street", ""),
        (NORDVIK, "Tell me more", "Nordvik|net revenue|2021", ""),
        (NORDVIK, "Can you explain that in more detail?", "Nordvik|net revenue|2021", ""),
        (NORDVIK, "By segment?", "Nordvik|net revenue|2021|segment", ""),
        ("What was Calder's inventory in Q3 2022?", "Q4", "Calder|inventory|Q4|2022", "Q3"),
    ),
    *_cases(
        "chain",
        ((NORDVIK, "And in 2020?"), "And the operating margin?", "Nordvik|operating margin|2020", "2021|revenue"),
        ((NORDVIK, "What about Tessera?"), "And in 2019?", "Tessera|net revenue|2019", "Nordvik|2021"),
        ((NORDVIK, "What is ZX-410?"), "Is it approved?", "ZX-410|approved", "Nordvik"),
    ),
    *_cases(
        "bare",
        (NORDVIK, "What was the operating margin?", "Nordvik|operating margin", ""),
        ("What is the IC50 of ZX-410?", "What is the recommended dose?", "ZX-410|recommended dose", ""),
    ),
    *_cases(
        "topic",
        (NORDVIK, "Which statins interact with ZX-410?", "", ""),
        (NORDVIK, "What was Tessera's operating income in 2018?", "", ""),
        (LEASE, "How many employees does Calder Retail have?", "", ""),
        (TRIAL, "What is an investigational new drug application?", "", ""),
        (NORDVIK, "Does Tessera say that it faces currency risk?", "", ""),
        (PAPER, "In the Brightwater supply agreement, what is the governing law?", "", ""),
        (NORDVIK, "And what were Calder Retail's total liabilities at the end of 2019?", "", ""),
        (NORDVIK, "What does this document say about hedging?", "", ""),
        (LEASE, "List all drugs that were withdrawn in phase 2 and their sponsors", "", ""),
        (TRIAL, "How is overall survival defined?", "", ""),
    ),
    *_cases(
        "language",
        (NORDVIK, "Wie hoch war die Bruttomarge?", "", ""),
        (NORDVIK, "¿Y en 2020?", "", ""),
        ("Wie hoch war der Umsatz von Nordvik 2021?", "Und 2020?", "Umsatz|Nordvik|2020", "2021"),
        ("Quel était le chiffre d'affaires de Nordvik en 2021 ?", "Et la marge brute ?", "", ""),
    ),
)  # fmt: skip

HALDEN = "How much did Halden Foods pay in dividends in 2016?"
LICENCE = "Under the Marlow licence, what royalty does the licensee pay?"
COHORT = "What was the median survival of patients in cohort A of the LYRA study?"
SURVEY = "What error rate do Petrov and Lind report for the baseline model?"

HELD_OUT = (
    *_cases(
        "period",
        (HALDEN, "And in 2015?", "Halden|dividends|2015", "2016"),
        (HALDEN, "How about the year 2014?", "Halden|dividends|2014", "2016"),
        ("What was the effective tax rate of Quill Energy for fiscal year 2020?", "for 2018?",
         "Quill|effective tax rate|2018", "2020"),
        ("What were Quill Energy's capital expenditures in the first quarter of 2023?", "And the second quarter?",
         "Quill|capital expenditures|second quarter|2023", "first"),
        ("What was Quill Energy's net debt on June 30, 2021?", "and on June 30, 2020?", "Quill|net debt|2020", "2021"),
        ("How many patients did the LYRA study enrol?", "In 2019?", "LYRA|patients|2019", ""),
        ("What was Halden's EBITDA from 2012 to 2014?", "And from 2015 to 2017?", "Halden|EBITDA|2015|2017",
         "2012|2014"),
    ),
    *_cases(
        "entity",
        (HALDEN, "And Quill Energy?", "Quill|dividends|2016", "Halden"),
        ("What was Quill Energy's headcount in 2022?", "What about Halden Foods?", "Halden|headcount|2022", "Quill"),
        ("What is the bioavailability of KT-77?", "What about KT-78?", "bioavailability|KT-78", "KT-77"),
        ("How long does Section 4.2 give the buyer to object?", "What about Section 4.3?", "Section 4.3|buyer|object",
         "Section 4.2"),
        ("What is the recommended dose for adults?", "And for children?", "recommended dose|children", "adults"),
        (COHORT, "And in cohort B?", "median survival|cohort B|LYRA", "cohort A"),
        (SURVEY, "And for the proposed model?", "error rate|Petrov|proposed model", "baseline"),
    ),
    *_cases(
        "measure",
        ("What was Quill Energy's net debt in 2021?", "And the interest expense?", "Quill|interest expense|2021",
         "debt"),
        ("What was Halden's gross margin in 2013?", "What about operating margin?", "Halden|operating margin|2013",
         "gross"),
        ("What is the term of the Marlow licence?", "And the renewal option?", "", ""),
        ("What is the clearance of KT-77?", "And its volume of distribution?", "KT-77|volume of distribution",
         "clearance"),
        ("How much did Quill Energy borrow from banks in 2021?", "And from bondholders?", "Quill|bondholders|2021",
         "banks"),
        ("What sample size did the LYRA study have?", "And the drop-out rate?", "", ""),
    ),
    *_cases(
        "pronoun",
        (HALDEN, "What were its total assets?", "Halden|total assets", ""),
        ("Who chairs the board of Quill Energy?", "How long has he been a director?", "Quill|board|director", ""),
        ("What is KT-77 used for?", "Does it cross the placenta?", "KT-77|placenta", ""),
        (LICENCE, "When is it due?", "royalty|Marlow|due", ""),
        (SURVEY, "How did they measure it?", "error rate|Petrov|measure", ""),
        ("Which biomarkers did the LYRA study track?", "Were any of them prognostic?",
         "biomarkers|LYRA|prognostic", ""),
        ("What warranties does Marlow give to Ashdown?", "How long do these last?", "warranties|Marlow|last", ""),
        ("What are the risk factors of Quill Energy?", "Which of those concern climate?",
         "risk factors|Quill|climate", ""),
    ),
    *_cases(
        "comparative",
        (HALDEN, "Was this less than in 2012?", "Halden|dividends|2016|2012", ""),
        ("What was Quill Energy's headcount in 2022?", "How does this compare with Halden Foods?",
         "Quill|headcount|2022|Halden", ""),
        (COHORT, "Is it longer than in cohort B?", "median survival|LYRA|cohort B|longer", ""),
        (("What is the clearance of KT-77?", "What about KT-78?"), "Which is lower?", "clearance|lower", ""),
    ),
    *_cases(
        "ellipsis",
        (HALDEN, "Why so little?", "Halden|dividends|2016", ""),
        ("Is Ashdown liable for late delivery?", "Since when?", "Ashdown|liable|late delivery", ""),
        (LICENCE, "How often?", "royalty|Marlow", ""),
        (HALDEN, "Please elaborate", "Halden|dividends|2016", ""),
        (HALDEN, "Could you summarise this for me?", "Halden|dividends|2016", ""),
        ("What were Quill Energy's capital expenditures in 2023?", "In percent of revenue?",
         "Quill|capital expenditures|2023|revenue", ""),
        (HALDEN, "ok", "Halden|dividends|2016", ""),
        ("What was the tax rate in H1 2020?", "H2", "tax rate|H2|2020", "H1"),
    ),
    *_cases(
        "chain",
        ((HALDEN, "And in 2015?"), "What about Quill Energy?", "Quill|dividends|2015", "Halden|2016"),
        (("What is the clearance of KT-77?", "And its half-life?"), "What about KT-78?", "KT-78|half-life",
         "KT-77|clearance"),
        (("What is the term of the Marlow licence?", "What is KT-77?"), "Who makes it?", "KT-77|makes", "Marlow"),
    ),
    *_cases(
        "bare",
        ("What was Quill Energy's net debt in 2021?", "What was the interest expense?", "Quill|interest expense", ""),
        (COHORT, "What was the primary endpoint?", "LYRA|primary endpoint", ""),
    ),
    *_cases(
        "topic",
        (HALDEN, "Who manufactures KT-77?", "", ""),
        (HALDEN, "How did Quill Energy's free cash flow develop in 2021?", "", ""),
        (LICENCE, "What was the survival rate in the LYRA study?", "", ""),
        (COHORT, "What is a force majeure clause?", "", ""),
        (HALDEN, "Why did Quill Energy close its refinery in 2019?", "", ""),
        (SURVEY, "For Halden Foods, what were total assets in 2015?", "", ""),
        (LICENCE, "But what does Quill Energy state about its pension obligations?", "", ""),
        (COHORT, "Summarise the document", "", ""),
        (HALDEN, "Which studies report that KT-77 is safe in children?", "", ""),
        (SURVEY, "When does a tenant lose the right to renew?", "", ""),
    ),
    *_cases(
        "language",
        (HALDEN, "Quelle est la durée du bail ?", "", ""),
        (HALDEN, "Und wie viel war es 2015?", "", ""),
        ("¿Cuál fue el dividendo de Halden en 2016?", "¿Y en 2015?", "", ""),
        ("Qual era o dividendo da Halden em 2016?", "E em 2015?", "dividendo|Halden|2015", "2016"),
    ),
)  # fmt: skip

ARDEN = "What were Arden Foods' net sales in fiscal 2020?"
CLERKS = "How many employees did Arden Foods have at the end of 2020?"
FEE = "What is the termination fee under the Kestrel merger agreement?"
SOLVENT = "Which solvent did Ruiz et al. use for the coupling of amine 4?"
YIELD = "What yield was obtained for compound 7b?"
UMSATZ = "Wie hoch war der Umsatz von Nordvik im Jahr 2021?"
MIETE = "Wie lange ist die Kündigungsfrist im Mietvertrag mit Tessera?"

MORE = (
    *_cases(
        "correction",
        (ARDEN, "I meant 2019", "Arden|net sales|2019", "2020|meant"),
        (ARDEN, "Sorry, I meant fiscal 2018.", "Arden|net sales|2018", "2020|meant|sorry"),
        (ARDEN, "No, 2017", "Arden|net sales|2017", "2020|no,"),
        (ARDEN, "I mean Quill Energy", "Quill|net sales|2020", "Arden|mean"),
        (ARDEN, "No, for Consumer Products", "Arden|net sales|2020|Consumer Products", "no,"),
        ((ARDEN, "No, for Consumer Products"), "sorry, Industrial Products", "Arden|net sales|2020|Industrial Products",
         "Consumer|sorry"),
        (ARDEN, "actually 2016, please", "Arden|net sales|2016", "2020|actually"),
        (FEE, "no, the Harrier merger agreement", "termination fee|Harrier", "Kestrel|no,"),
        (YIELD, "I meant compound 7c", "yield|compound 7c", "7b|meant"),
    ),
    *_cases(
        "the same",
        (ARDEN, "the same for Quill Energy", "net sales|2020|Quill", "Arden|same"),
        (ARDEN, "Same question for 2018", "Arden|net sales|2018", "2020|same"),
        (ARDEN, "and the same in 2019?", "Arden|net sales|2019", "2020|same"),
        (FEE, "Same thing for the Harrier merger agreement", "termination fee|Harrier", "Kestrel|same"),
        (YIELD, "The same for compound 9", "yield|compound 9", "7b|same"),
        (CLERKS, "the same for Halden, please", "employees|Halden|2020", "Arden|same"),
    ),
    *_cases(
        "number",
        (CLERKS, "How many at Quill Energy?", "employees|Quill|2020", "Arden"),
        (CLERKS, "And how many at Halden Foods?", "employees|Halden|2020", "Arden"),
        (CLERKS, "How many in 2018?", "employees|Arden|2018", "2020"),
        ("How much did Arden Foods spend on research in 2020?", "How much in 2019?", "Arden|research|2019", "2020"),
        ("How much did Arden Foods spend on research in 2020?", "how much for Quill Energy?", "Quill|research|2020",
         "Arden"),
        (CLERKS, "How many of them are women?", "employees|Arden|women", ""),
    ),
    *_cases(
        "company",
        (ARDEN, "Which segment grew fastest?", "segment|Arden|2020|grew fastest", ""),
        (ARDEN, "Which region had the highest sales?", "region|Arden|2020", ""),
        (ARDEN, "Did gross margin improve?", "Arden|gross margin|2020", ""),
        (ARDEN, "How much debt was repaid?", "debt|Arden|2020", ""),
        (ARDEN, "How many stores were closed?", "stores|Arden|2020", ""),
        (ARDEN, "What drove the increase in operating expenses?", "operating expenses|Arden|2020", ""),
        (ARDEN, "Which segment grew fastest in 2018?", "segment|Arden|2018", "2020"),
        (ARDEN, "Who are the largest customers?", "customers|Arden", ""),
    ),
    *_cases(
        "limit",
        (ARDEN, "in Europe only", "Arden|net sales|2020|Europe", "only"),
        (ARDEN, "Only in Asia", "Arden|net sales|2020|Asia", ""),
        (ARDEN, "as a percentage of total assets?", "Arden|net sales|2020|as a percentage of total assets", ":"),
        (ARDEN, "and per share?", "Arden|net sales|2020|per share", ""),
        (ARDEN, "excluding acquisitions", "Arden|net sales|2020|excluding acquisitions", ""),
        (ARDEN, "what about margins?", "Arden|margins|2020", "net sales"),
        (ARDEN, "and the year before?", "Arden|net sales|2019", "2020"),
        (ARDEN, "why?", "Arden|net sales|2020|why", ""),
        (ARDEN, "What was it in 2017?", "Arden|net sales|2017", "2020"),
        (ARDEN, "What were they in fiscal 2018?", "Arden|net sales|2018", "2020"),
    ),
    *_cases(
        "pronoun",
        ("Which segment of Arden Foods grew the most in 2020?", "How much did it sell?", "segment|Arden|sell",
         "Arden Foods sell"),
        ("Which division lost money in 2020?", "Who runs it?", "division|lost money|runs", ""),
        ("What are the main risks of Quill Energy?", "Summarize them", "Summarize|main risks|Quill", ": "),
        (ARDEN, "Compare it with Quill Energy", "Arden|net sales|2020|Quill|compare", "("),
        ("What must a tender contain?", "Where do I send it?", "tender|send", "(tender"),
        ("What is the governing law of Dana Reyes's employment agreement?", "Can she terminate it early?",
         "terminate|employment agreement|Dana Reyes", ""),
        ((ARDEN, "How does that compare with Quill Energy?"), "What was their R&D spending?",
         "Arden|Quill|R&D spending", "("),
        (SOLVENT, "Was it degassed?", "solvent|Ruiz|degassed", ""),
        (YIELD, "How was it purified?", "compound 7b|purified", ""),
        (FEE, "Who has to pay it?", "termination fee|Kestrel|pay", ""),
        ("Which adverse events did the LYRA study record?", "Were any of them fatal?", "adverse events|LYRA|fatal",
         ""),
    ),
    *_cases(
        "choice",
        ((ARDEN, "What about Quill Energy?"), "Which one is higher?", "net sales|higher", ""),
        ("What are the risk factors of Quill Energy?", "Which is the biggest?", "risk factors|Quill|biggest", "("),
        ("What are the risk factors of Quill Energy?", "Tell me more about the second one", "risk factors|Quill|second",
         ""),
    ),
    *_cases(
        "measure",
        (ARDEN, "What was the operating margin?", "Arden|operating margin|2020", "("),
        (ARDEN, "What was the effective tax rate?", "Arden|effective tax rate|2020", "("),
        (ARDEN, "ok and net income?", "Arden|net income|2020", "net sales"),
    ),
    *_cases(
        "chain",
        (("Does Quill Energy pay dividends?", "How much per share?"), "since when?", "Quill|dividends|since when",
         "How much"),
        ((ARDEN, "Why?"), "And in 2019?", "Arden|net sales|2019", "2020"),
        ((CLERKS, "How many at Quill Energy?"), "And in 2018?", "employees|Quill|2018", "Arden|2020"),
        ((FEE, "Who has to pay it?"), "Within how many days?", "termination fee|Kestrel|days", "("),
    ),
    *_cases(
        "topic",
        (ARDEN, "What is a material adverse effect?", "", ""),
        (ARDEN, "Which reagents oxidise secondary alcohols?", "", ""),
        (ARDEN, "Does the tenant have to repaint the flat?", "", ""),
        (CLERKS, "How is enantiomeric excess measured?", "", ""),
        (CLERKS, "How many patients were randomised?", "", ""),
        (FEE, "Which catalysts contain palladium?", "", ""),
        (FEE, "What were Halden's net sales in 2015?", "", ""),
        (YIELD, "Who may terminate the lease early?", "", ""),
        (ARDEN, "Which companies report the highest net sales?", "", ""),
        (ARDEN, "How do the two companies' margins compare?", "", ""),
        (ARDEN, "What is EBITDA?", "", ""),
        (CLERKS, "Same-store sales are defined how?", "", ""),
    ),
    *_cases(
        "German",
        (UMSATZ, "Und 2020?", "Umsatz|Nordvik|2020", "2021"),
        (UMSATZ, "und im Jahr 2019?", "Umsatz|Nordvik|2019", "2021"),
        (UMSATZ, "Und bei Tessera?", "Umsatz|Tessera|2021", "Nordvik"),
        (UMSATZ, "Warum?", "Umsatz|Nordvik|2021|Warum", ""),
        (UMSATZ, "Wer ist der Vorstandsvorsitzende von Tessera?", "", ""),
        (MIETE, "Wie hoch war der Gewinn von Halden 2019?", "", ""),
        (ARDEN, "Wie lange läuft der Mietvertrag?", "", ""),
        (MIETE, "Und mit Halden?", "Kündigungsfrist|Halden", "Tessera"),
    ),
)  # fmt: skip

CASES = (*TUNING, *HELD_OUT, *MORE)
