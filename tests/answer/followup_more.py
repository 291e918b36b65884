"""More follow-up questions with what they mean by themselves, all asked of several documents: corrections, "the same
for …", numbers of another company, choices, limits, and questions that open another topic.

Written before the rules for them and only used to count how often those are right; their form is that of
`tests.answer.followup_cases`.
"""

from __future__ import annotations

from tests.answer.followup_cases import _cases

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
