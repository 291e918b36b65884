"""A licence with a supply schedule and a synthesis, of parties that do not exist, written after the rules for subjects,
effects, causes and bounds were, to see how they do on what they were not made for."""

# ruff: noqa: E501 (sentences are kept whole)
from __future__ import annotations

from tests.answer.pairs.material import Material, truth
from tests.documents import Grid, Heading, Item

ORSAY = Material(
    "held",
    "procedures",
    "Supply and licence agreement between Orsay Chemie and Velm Labs",
    (
        Heading("Supply"),
        "Orsay Chemie shall deliver each order within 21 days after receipt. Velm Labs may reject a lot not later than 10 days after delivery. "
        "The price is adjusted downwards if purity is less than 98.5%.",
        Item("Either party may end this agreement after the second contract year on at least 6 months' notice."),
        Item("Royalties fall due 45 days after the end of each quarter and amount to 4% of licensed net sales."),
        Item("Liability is limited to EUR 2 million, except for wilful misconduct."),
        Grid(
            "Forecast volumes (tonnes)",
            [
                ["Product", "Minimum order", "Forecast 2024", "Forecast 2025"],
                ["Nitrile A", "5", "120", "145"],
                ["Recycled nitrile A", "2", "18", "31"],
                ["Amine salt", "10", "260", "240"],
            ],
        ),
        Heading("Synthesis"),
        "The mixture was heated under reflux for 6 hours, filtered while hot and washed with 50 mL of toluene. The crude amine was distilled at 84 °C to give 31.5 g of a colourless oil. "
        "Traces of water had a detrimental effect on the yield, which dropped from 91% to 74%. Replacing toluene by xylene improved selectivity by 8 points, despite a longer reaction time.",
        "The catalyst was active above 40 °C but decomposed above 110 °C. Dr. Irina Valcheva supervised the pilot run; Tomas Reyl analysed the samples.",
    ),
    (
        truth(
            "paraphrase",
            "shall deliver each order",
            "Orders must be delivered by Orsay Chemie no later than 21 days after they are received.",
            ("bound", "no later than 21 days", "no sooner than 21 days"),
            ("bound", "no later than 21 days", "at least 21 days"),
            ("roles", "by Orsay Chemie", "by Velm Labs"),
        ),
        truth(
            "paraphrase",
            "may reject a lot",
            "Velm Labs can reject a lot within 10 days of delivery.",
            ("bound", "within 10 days", "more than 10 days"),
            ("roles", "Velm Labs", "Orsay Chemie"),
        ),
        truth(
            "paraphrase",
            "adjusted downwards",
            "The price is reduced where purity is below 98.5%.",
            ("bound", "below", "above"),
            ("change", "reduced", "raised"),
        ),
        truth(
            "paraphrase",
            "Either party may end",
            "After the second contract year each party may terminate with a minimum of 6 months' notice.",
            ("bound", "After", "Before"),
            ("bound", "a minimum of", "up to"),
        ),
        truth(
            "paraphrase",
            "Royalties fall due",
            "Royalties are 4% of licensed net sales.",
            ("subject", "licensed net sales", "gross sales"),
            ("subject", "Royalties", "Milestones"),
        ),
        truth(
            "paraphrase",
            "Liability is limited",
            "Liability may not exceed EUR 2 million.",
            ("bound", "may not exceed", "is at least"),
            ("currency", "EUR", "USD"),
        ),
        truth(
            "stated",
            "Nitrile A · Forecast 2024",
            "The forecast for nitrile A is 120 tonnes in 2024.",
            ("subject", "nitrile A", "recycled nitrile A"),
            ("subject", "nitrile A", "crude nitrile A"),
            ("year", "2024", "2025"),
        ),
        truth(
            "stated",
            "Recycled nitrile A · Forecast 2025",
            "Recycled nitrile A is forecast at 31 tonnes for 2025.",
            ("subject", "Recycled nitrile", "Virgin nitrile"),
        ),
        truth(
            "paraphrase",
            "Amine salt · Minimum order",
            "At least 10 tonnes of the amine salt must be ordered.",
            ("bound", "At least", "At most"),
            ("digit", "10", "5"),
        ),
        truth(
            "derived",
            ("Amine salt · Forecast 2024", "Amine salt · Forecast 2025"),
            "The forecast for the amine salt falls by 20 tonnes from 2024 to 2025.",
            ("direction", "falls", "rises"),
        ),
        truth(
            "paraphrase",
            "heated under reflux",
            "The mixture was refluxed for 6 hours, filtered hot and rinsed with 50 mL of toluene.",
            ("digit", "50 mL", "15 mL"),
            ("unit", "6 hours", "6 minutes"),
            ("name", "toluene", "hexane"),
        ),
        truth(
            "paraphrase",
            "The crude amine was distilled",
            "Distillation of the crude amine at 84 °C gave 31.5 g of a colourless oil.",
            ("subject", "amine", "nitrile"),
            ("subject", "a colourless oil", "a yellow oil"),
        ),
        truth(
            "paraphrase",
            "Traces of water had",
            "Traces of water hurt the yield: it fell to 74%.",
            ("effect", "hurt the yield: it fell", "helped the yield: it rose"),
            ("cause", "Traces of water", "Traces of oxygen"),
        ),
        truth(
            "paraphrase",
            "Traces of water had",
            "The yield decreased from 91% to 74% because of traces of water.",
            ("direction", "from 91% to 74%", "from 74% to 91%"),
            ("cause", "because of", "despite"),
        ),
        truth(
            "paraphrase",
            "Replacing toluene by xylene",
            "Selectivity was 8 points better with xylene, although the reaction took longer.",
            ("effect", "better", "worse"),
            ("direction", "longer", "less time"),
        ),
        truth(
            "paraphrase",
            "The catalyst was active",
            "Above 110 °C the catalyst decomposed.",
            ("bound", "Above", "Below"),
            ("digit", "110", "101"),
        ),
        truth(
            "paraphrase",
            "supervised the pilot run",
            "Dr. Valcheva supervised the pilot run and Mr. Reyl analysed the samples.",
            (
                "roles",
                "Dr. Valcheva supervised the pilot run and Mr. Reyl analysed",
                "Mr. Reyl supervised the pilot run and Dr. Valcheva analysed",
            ),
            ("name", "Dr. Valcheva", "Dr. Valcheva's deputy"),
        ),
    ),
)

MATERIAL = (ORSAY,)
