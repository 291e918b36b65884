"""Uploading: progress, errors in words, passwords, folders, ADE JSON."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ragcore.engine import Engine
from tests import ade, pdfs
from tests.browser.conftest import App, Shelf


def file(name: str, data: bytes) -> dict[str, Any]:
    return {"name": name, "mimeType": "application/pdf", "buffer": data}


def test_from_upload_to_ready_with_one_clear_line_for_each_bad_file(
    empty_app: App, open_page: Callable[..., Any]
) -> None:
    page = open_page(f"{empty_app.url}/library")
    page.get_by_text("No documents yet").wait_for()
    assert page.get_by_label("Upload PDFs").first.is_visible()
    page.goto(empty_app.url)
    page.locator(".gw-proof").wait_for()
    page.locator("input[type=file]").set_input_files(
        [
            file("report.pdf", pdfs.running_headers(6)),
            file("minutes.pdf", pdfs.not_a_pdf()),
            file("secret.pdf", pdfs.encrypted()),
            file("nothing.pdf", pdfs.empty_file()),
        ]
    )
    page.wait_for_url("**/library")  # where the reading is seen
    rows = page.locator(".gw-library tbody tr")
    page.locator(".gw-library [role=progressbar]").first.wait_for()
    page.locator('tr[data-status="failed"]').nth(1).wait_for(timeout=120_000)
    page.locator('tr[data-status="ready"]').wait_for(timeout=120_000)

    assert page.get_by_text("nothing.pdf is empty.").count() == 1
    minutes = rows.filter(has_text="minutes.pdf")
    assert "PDF" in minutes.locator(".why b").inner_text()
    assert minutes.get_by_text("Failed").count() == 1
    report = rows.filter(has_text="report.pdf")
    assert report.locator("td").nth(2).inner_text() == "6"

    secret = rows.filter(has_text="secret.pdf")
    password = secret.get_by_label("Password of")
    password.fill("wrong")
    password.press("Enter")
    secret.get_by_text("The password given for secret.pdf does not open it.").wait_for(timeout=60_000)
    secret.get_by_label("Password of").fill(pdfs.PASSWORD)
    secret.get_by_role("button", name="Unlock").click()
    page.locator('tr[data-status="ready"]').nth(1).wait_for(timeout=120_000)

    minutes.get_by_role("button", name="Remove minutes.pdf").click()
    minutes.wait_for(state="detached")
    assert rows.count() == 2

    report.get_by_role("link").click()
    drawer = page.get_by_label("Document", exact=True)
    drawer.get_by_text("Noise").first.wait_for()
    drawer.get_by_role("button", name="Ask about it").click()
    page.get_by_text("1 of 2").wait_for()
    page.locator("input[type=checkbox]:checked").first.wait_for(state="attached")
    assert page.locator(".st-key-gw_scope input:checked").count() == 1


def test_the_same_file_twice_is_kept_once(app: App, shelf: Shelf, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{app.url}/library")
    rows = page.locator("tr[data-doc]")
    rows.nth(4).wait_for()
    before = rows.count()  # other tests may have added to this library
    page.locator("input[type=file]").set_input_files([file("again.pdf", shelf.files["survey.pdf"].read_bytes())])
    page.get_by_text("again.pdf is in the library already.").wait_for()
    assert rows.count() == before
    page.get_by_role("button", name="Dismiss").click()
    page.get_by_text("again.pdf is in the library already.").wait_for(state="detached")


def test_ade_json_comes_with_its_pdf_or_says_what_is_missing(empty_app: App, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{empty_app.url}/library")
    page.get_by_text("No documents yet").wait_for()
    alone = ade.ade([ade.chunk("text", f"# Letter\n\n{ade.FINDING}", (70, 90, 540, 200))])
    page.locator("input[type=file]").set_input_files(
        [
            file("report.pdf", ade.report().pdf),
            {"name": "report.json", "mimeType": "application/json", "buffer": ade.report().json},
            {"name": "alone.json", "mimeType": "application/json", "buffer": alone},
            {"name": "package.json", "mimeType": "application/json", "buffer": b'{"name": "package"}'},
        ]
    )
    page.get_by_text("package.json is JSON, but no ADE output: it has no chunks.").wait_for()
    page.get_by_text("alone.json came without its PDF.").wait_for()
    page.locator('tr[data-status="ready"]').nth(1).wait_for(timeout=120_000)
    rows = page.locator(".gw-library tbody tr")
    assert rows.count() == 2
    rows.filter(has_text="alone.json").get_by_role("link").click()
    drawer = page.get_by_label("Document", exact=True)
    drawer.get_by_text("only its ADE JSON was given").first.wait_for()


def test_a_folder_is_taken_with_its_paths_by_button_and_by_drop(
    empty_app: App, open_page: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "Trial"
    (folder / "deep").mkdir(parents=True)
    pdfs.write(folder, "survey.pdf", pdfs.one_column())
    pdfs.write(folder / "deep", "table.pdf", pdfs.ruled_table())
    (folder / "readme.txt").write_text("not for the library")
    page = open_page(f"{empty_app.url}/library")
    page.get_by_text("No documents yet").wait_for()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload a folder").click()
    chooser.value.set_files(folder)
    page.get_by_text("1 file in the folder is no PDF and no JSON, and was left out.").wait_for()
    page.locator("tr[data-doc]").nth(1).wait_for()
    page.locator('tr[data-status="ready"]').nth(1).wait_for(timeout=120_000)
    paths = {info.name: info.folder for info in Engine.open(empty_app.home).documents()}
    assert paths == {"survey.pdf": "Trial", "table.pdf": "Trial/deep"}

    choose = page.get_by_label("Folder", exact=True)
    assert [" ".join(text.split()) for text in choose.locator("option").all_inner_texts()] == [
        "All folders",
        "Trial (2)",
        "deep (1)",
    ]
    choose.select_option("Trial/deep")
    assert page.locator("tr[data-doc]:visible").count() == 1

    # A file dropped anywhere on the page goes to the uploader; the browser does not open it in place of the app.
    dropped = page.evaluate_handle(
        """bytes => {
            const given = new DataTransfer();
            given.items.add(new File([new Uint8Array(bytes)], "dropped.pdf", { type: "application/pdf" }));
            return given;
        }""",
        list(pdfs.hyphenated()),
    )
    page.locator(".gw-head").dispatch_event("dragenter", {"dataTransfer": dropped})
    page.locator(".st-key-gw_drop.over").wait_for()
    page.locator(".gw-head").dispatch_event("drop", {"dataTransfer": dropped})
    choose.select_option("")
    page.locator("tr[data-doc]").filter(has_text="dropped.pdf").wait_for()
