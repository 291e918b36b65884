"""Templates: what they may hold, how a mistake is named, and what else they are made from."""

from __future__ import annotations

import io
import json
from importlib.resources import files
from typing import Any

import pytest
from docx import Document
from hypothesis import assume, given
from hypothesis import strategies as st

from ragcore.errors import BadTemplate
from ragcore.offline.fields import MOST, requirements
from ragcore.report.template import MAX_LEVEL, MAX_SECTIONS, Template, from_data, from_json, read_template

OWN = sorted(path.name for path in (files("ragcore.report") / "library").iterdir() if path.name.endswith(".json"))


def template(*sections: dict[str, Any], title: str = "T") -> Template:
    return from_data({"title": title, "sections": list(sections)})


def test_heading_and_guidance_are_all_a_section_needs() -> None:
    made = template({"heading": "Risks", "guidance": "Name them."})
    (place,) = made.places()
    assert (place.section.kind, place.section.required, place.section.query) == ("prose", True, "Risks: Name them.")


def test_sections_are_numbered_as_printed() -> None:
    made = template(
        {"heading": "A", "sections": [{"heading": "B"}, {"heading": "C", "guidance": "g"}]}, {"heading": "D"}
    )
    assert [(p.number, p.level, p.path, p.section.filled) for p in made.places()] == [
        ("1", 1, (), False),
        ("1.1", 2, ("A",), True),
        ("1.2", 2, ("A",), True),
        ("2", 1, (), True),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"title": "x"}', ["“sections”", "missing"]),
        ('{"title": "x", "sections": []}', ["“sections”", "at least one section"]),
        ('{"title": " ", "sections": [{"heading": "a"}]}', ["“title”", "empty"]),
        ('{"title": "x", "by": 1, "sections": [{"heading": "a"}]}', ["“by”", "a template has title"]),
        (
            '{"title": "x", "sections": [{"heading": "a", "guidence": "b"}]}',
            ["section 1 “a”", "“guidence”", "guidance"],
        ),
        ('{"title": "x", "sections": [{"heading": "a", "kind": "tabel"}]}', ["section 1 “a”", "'yes_no'"]),
        (
            '{"title": "x", "sections": [{"heading": "a"}, {"heading": "R", "sections": '
            '[{"heading": "T", "kind": "table"}]}]}',
            ["section 2 “R”, section 1 “T”", '"columns"'],
        ),
        ('{"title": "x", "sections": [{"heading": "a", "columns": ["b"]}]}', ["“a”", "belong to a table"]),
        ('{"title": "x", "sections": [{"heading": "a", "kind": "list", "unit": "mg"}]}', ["“a”", "unit"]),
        ('{"title": "x", "sections": [{"heading": "a\\nb"}]}', ["section 1", "“heading”", "more than one line"]),
        (
            '{"title": "x", "sections": [{"heading": "a", "documents": []}]}',
            ["“a”", "leave it out to search all documents"],
        ),
        ('{"title": "x", "sections": [3]}', ["section 1"]),
        ("[1]", ["not an object"]),
        ('{"title":', ["line 1", "column"]),
        ('{"title": "x", "sections": [{"heading": 1}, {"heading": 2}, {"heading": 3}]}', ["more mistakes"]),
    ],
)
def test_a_mistake_is_named_with_its_place(text: str, words: list[str]) -> None:
    with pytest.raises(BadTemplate) as raised:
        from_json(text, "profile.json")
    assert all(word in raised.value.message for word in ["profile.json", *words]), raised.value.message


def test_a_template_is_bounded() -> None:
    with pytest.raises(BadTemplate, match=str(MAX_SECTIONS)):
        template(*({"heading": str(i)} for i in range(MAX_SECTIONS + 1)))
    section: dict[str, Any] = {"heading": "deepest"}
    for _ in range(MAX_LEVEL):
        section = {"heading": "above", "sections": [section]}
    with pytest.raises(BadTemplate, match=f"at most {MAX_LEVEL} levels"):
        template(section)


@pytest.mark.parametrize("name", OWN)
def test_the_templates_that_come_with_it_are_valid_and_ask_for_something(name: str) -> None:
    made = from_json((files("ragcore.report") / "library" / name).read_text("utf-8"), name)
    assert all(requirements(p.section.heading, p.section.guidance) for p in made.places() if p.section.filled)
    assert from_json(made.as_json()) == made


def test_mistakes_are_counted_as_they_are() -> None:
    with pytest.raises(BadTemplate, match="“Sales”, “guidence”: unknown key") as one:
        from_json('{"title": "x", "sections": [{"heading": "Sales", "guidence": "x"}]}')
    assert "more mistake" not in str(one.value)
    with pytest.raises(BadTemplate, match=r"\(2 more mistakes after it\)"):
        from_json('{"title": "x", "sections": [{"heading": 1}, {"heading": 2}, {"heading": 3}]}')
    with pytest.raises(BadTemplate, match="at least one section"):
        from_json('{"title": "x", "sections": []}')


OUTLINE = """# Drug summary

For the brochure.

## 1. Toxicology

Summarize toxic effects:

- in animals
- in humans

### NOAEL {value: mg/kg, optional}

The highest dose without effect.

## Studies

| Study | Species | Result |
|-------|---------|--------|
|       |         |        |

## Safe? {yes/no}
"""


def test_a_markdown_outline() -> None:
    made = read_template(OUTLINE.encode(), "drug.md")
    assert (made.title, made.guidance) == ("Drug summary", "For the brochure.")
    first, noael, studies, safe = (place.section for place in made.places())
    assert first.heading == "Toxicology"
    assert requirements(first.heading, first.guidance)[-2:] == ["in animals", "in humans"]
    assert (noael.kind, noael.unit, noael.required) == ("value", "mg/kg", False)
    assert (studies.kind, studies.columns, studies.guidance) == ("table", ("Study", "Species", "Result"), "")
    assert safe.kind == "yes_no"


def test_an_outline_of_several_first_headings_is_called_after_its_file() -> None:
    assert read_template(b"# A\n\n# B\n", "profile.md").title == "profile"


def test_an_outline_that_cannot_be_used() -> None:
    with pytest.raises(BadTemplate, match="no heading"):
        read_template(b"only text", "a.md")
    with pytest.raises(BadTemplate, match=r"\{tabel: A\}"):
        read_template(b"# T\n## Costs {tabel: A}\n", "a.md")
    with pytest.raises(BadTemplate, match="columns"):
        read_template(b"# T\n## Costs {table}\n", "a.md")


def word() -> bytes:
    document = Document()
    document.add_heading("Drug summary", 0)
    document.add_paragraph("For the brochure.")
    document.add_heading("1. Toxicology", 1)
    document.add_paragraph("Summarize toxic effects:")
    document.add_paragraph("in animals", style="List Bullet")
    document.add_paragraph("in humans", style="List Bullet")
    document.add_heading("NOAEL {value: mg/kg, optional}", 2)
    document.add_paragraph("The highest dose without effect.")
    document.add_heading("Studies", 1)
    table = document.add_table(rows=2, cols=3)
    for cell, text in zip(table.rows[0].cells, ("Study", "Species", "Result")):
        cell.text = text
    document.add_heading("Safe? {yes/no}", 1)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def test_a_word_document_gives_what_the_outline_gives() -> None:
    assert read_template(word(), "drug.docx") == read_template(OUTLINE.encode(), "drug.md")


def test_a_word_document_that_cannot_be_used() -> None:
    with pytest.raises(BadTemplate, match="can't be opened as a Word document"):
        read_template(b"%PDF-1.7", "a.docx")
    empty = io.BytesIO()
    Document().save(empty)
    with pytest.raises(BadTemplate, match="no heading"):
        read_template(empty.getvalue(), "a.docx")


@pytest.mark.parametrize(
    ("guidance", "wanted"),
    [
        (
            "Describe the drug substance, its mechanism of action and the proposed dose. State any known toxicity.",
            [
                "the drug substance",
                "its mechanism of action (the drug substance)",
                "the proposed dose",
                "known toxicity",
            ],
        ),
        (
            "Summarise research and development spending. Write two sentences at most.",
            ["research and development spending"],
        ),
        (
            "Summarize absorption, metabolism and excretion in animals and, if known, in humans.",
            ["absorption", "metabolism", "excretion in animals and in humans"],
        ),
        (
            "Summarize toxic effects in animals and, to the extent known, in humans.",
            ["toxic effects in animals and in humans"],
        ),
        ("- Indication\n- Dose (in mg/kg, per day)", ["Indication", "Dose (in mg/kg, per day)"]),
        ("Net revenue of the last fiscal year.", ["Net revenue of the last fiscal year"]),
        ("Who are the parties, and what do they owe?", ["Who are the parties, and what do they owe?"]),
        ("State sales above 1,000 units, by region, and costs.", ["sales above 1,000 units", "by region", "costs"]),
        ("", ["Heading"]),
    ],
)
def test_requirements(guidance: str, wanted: list[str]) -> None:
    assert requirements("Heading", guidance) == wanted


@given(st.text(max_size=400))
def test_any_guidance_asks_for_something(guidance: str) -> None:
    found = requirements("Heading", guidance)
    assert 1 <= len(found) <= MOST
    assert all(piece.strip() for piece in found)


@given(
    st.recursive(
        st.fixed_dictionaries({"heading": st.from_regex(r"\A[A-Za-z][A-Za-z ]{0,20}[a-z]\Z")}),
        lambda inner: st.fixed_dictionaries(
            {"heading": st.just("Above"), "sections": st.lists(inner, min_size=1, max_size=3)}
        ),
        max_leaves=8,
    )
)
def test_a_template_is_the_same_after_a_round_trip(section: dict[str, Any]) -> None:
    assume(json.dumps(section).count("Above") < MAX_LEVEL)
    made = template(section)
    assert from_json(made.as_json()) == made
    assert json.loads(made.as_json())["sections"][0]["heading"] == section["heading"]
