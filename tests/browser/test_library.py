"""Uploading: progress, errors in words, passwords, folders, ADE JSON, workbooks."""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from playwright.sync_api import expect

from ragcore.cli.main import main
from ragcore.engine import Engine
from ragcore.errors import StoreBusy
from tests import ade, pdfs
from tests.browser.conftest import STOPPED, App, Shelf, go, in_scope, promise, serve
from tests.browser.test_axe import check
from tests.browser.test_claude import ask
from tests.check.files import book, saved
from tests.ui.test_jobs import until


def file(name: str, data: bytes) -> dict[str, Any]:
    return {"name": name, "mimeType": "application/pdf", "buffer": data}


def drop(page: Any, *paths: Path) -> None:
    """Let go of files and folders over the page, as a mouse that brought them from the desktop does."""
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, "x": 400, "y": 600, "data": data})


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    with serve(tmp_path_factory.mktemp("uploads") / "home") as served:
        yield served


@pytest.fixture
def empty_app(started: App) -> App:
    """The app without a document, whatever was there before; one that is still being read goes when it has ended."""
    with Engine.open(started.home) as engine:

        def gone(doc_id: str) -> bool:
            try:
                engine.remove(doc_id)
            except StoreBusy:
                return False
            return True

        for info in engine.documents():
            until(lambda doc_id=info.doc_id: gone(doc_id))
    return started


def test_from_upload_to_ready_with_one_clear_line_for_each_bad_file(
    empty_app: App, open_page: Callable[..., Any]
) -> None:
    page = open_page(f"{empty_app.url}/library")
    page.get_by_text("No documents yet").wait_for()
    expect(page.get_by_label("Upload files").first).to_be_visible()
    go(page, "Chat")
    page.locator(".gw-proof").wait_for()
    report_again = pdfs.running_headers(6)
    page.locator("input[type=file]").set_input_files(
        [
            file("report.pdf", report_again),
            file("minutes.pdf", pdfs.not_a_pdf()),
            file("secret.pdf", pdfs.encrypted()),
            file("nothing.pdf", pdfs.empty_file()),
            file("cut.pdf", pdfs.truncated()),
            file("report (1).pdf", report_again),
        ]
    )
    page.get_by_text("nothing.pdf is empty.").wait_for()
    expect(page.get_by_text("minutes.pdf is not a PDF.")).to_have_count(1)
    expect(page.get_by_text("is already in the library.")).to_have_count(1)  # one of the two that are alike
    go(page, "Library")
    rows = page.locator(".gw-library tbody tr")
    page.locator('tr[data-status="failed"]').nth(1).wait_for(timeout=120_000)
    page.locator('tr[data-status="ready"]').wait_for(timeout=120_000)

    cut = rows.filter(has_text="cut.pdf")
    expect(cut.locator(".why b")).to_contain_text("too damaged to open", use_inner_text=True)
    expect(cut.get_by_text("Failed", exact=True)).to_have_count(1)
    report = rows.filter(has_text="report")
    expect(report.locator("td").nth(2)).to_have_text("6", use_inner_text=True)

    secret = rows.filter(has_text="secret.pdf")
    password = secret.get_by_label("Password of")
    password.fill("wrong")
    password.press("Enter")
    secret.get_by_text("Wrong password for secret.pdf.").wait_for(timeout=60_000)
    secret.get_by_label("Password of").fill(pdfs.PASSWORD)
    secret.get_by_role("button", name="Unlock").click()
    page.locator('tr[data-status="ready"]').nth(1).wait_for(timeout=120_000)

    cut.get_by_role("button", name="Remove cut.pdf").click()
    cut.wait_for(state="detached")
    expect(rows).to_have_count(2)

    report.get_by_role("link").click()
    drawer = page.get_by_label("Document", exact=True)
    drawer.get_by_role("tab", name="Contents").wait_for()
    drawer.get_by_role("button", name="Ask about it").click()
    in_scope(page, "1 of 2")
    page.locator("input[type=checkbox]:checked").first.wait_for(state="attached")
    expect(page.locator(".gw-scope .rows :checked")).to_have_count(1)


@pytest.mark.slow
def test_the_same_file_twice_is_kept_once(app: App, shelf: Shelf, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{app.url}/library")
    rows = page.locator("tr[data-doc]")
    rows.nth(4).wait_for()
    before = rows.count()  # other tests may have added to this library
    page.locator("input[type=file]").set_input_files([file("again.pdf", shelf.files["survey.pdf"].read_bytes())])
    page.get_by_text("again.pdf is already in the library.").wait_for()
    expect(rows).to_have_count(before)
    page.get_by_role("button", name="Dismiss").click()
    page.get_by_text("again.pdf is already in the library.").wait_for(state="detached")


@pytest.mark.slow
def test_a_file_without_words_says_what_may_help(empty_app: App, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{empty_app.url}/library")
    page.get_by_text("No documents yet").wait_for()
    page.locator("input[type=file]").set_input_files([file("blank.pdf", pdfs.blank())])
    row = page.locator('tr[data-status="failed"]')
    row.wait_for(timeout=120_000)
    expect(row.locator(".why")).to_contain_text("turn on OCR for every page", use_inner_text=True)
    expect(row.get_by_role("button", name="Settings")).to_have_count(1)
    row.get_by_role("button", name="Retry").click()
    row.locator(".why").wait_for(timeout=120_000)
    expect(row.locator(".why")).not_to_contain_text("kept", use_inner_text=True)


@pytest.mark.slow
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
    page.get_by_text("package.json is JSON, but not what LandingAI's ADE has read of a PDF.").wait_for()
    page.get_by_text("alone.json came without its PDF.").wait_for()
    page.locator('tr[data-status="ready"]').nth(1).wait_for(timeout=120_000)
    rows = page.locator(".gw-library tbody tr")
    expect(rows).to_have_count(2)
    rows.filter(has_text="alone.json").get_by_role("link").click()
    drawer = page.get_by_label("Document", exact=True)
    drawer.get_by_role("tab", name="Advanced").click()
    drawer.get_by_text("only ADE JSON was added").first.wait_for()


@pytest.mark.slow
def test_a_folder_is_taken_with_its_paths_by_button_and_by_drop(
    empty_app: App, open_page: Callable[..., Any], tmp_path: Path
) -> None:
    folder = tmp_path / "Trial"
    (folder / "deep").mkdir(parents=True)
    pdfs.write(folder, "survey.pdf", pdfs.one_column())
    pdfs.write(folder / "deep", "table.pdf", pdfs.ruled_table())
    (folder / "script.py").write_text("not for the library")
    (folder / ".DS_Store").write_text("of the system")
    page = open_page(f"{empty_app.url}/library")
    page.get_by_text("No documents yet").wait_for()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload a folder").click()
    chooser.value.set_files(folder)
    page.get_by_text("1 file skipped: of no kind that Groundwork reads.").wait_for()
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
    expect(page.locator("tr[data-doc]:visible")).to_have_count(1)

    # What is dropped anywhere on the page goes to the uploader; the browser does not open it in place of the app.
    desk = tmp_path / "desk"
    (desk / "Wells" / "2024").mkdir(parents=True)
    (desk / "Wells" / "empty").mkdir()
    (desk / "Wells" / ".hidden").write_text("of the system")
    pdfs.write(desk / "Wells" / "2024", "north é.pdf", pdfs.note())
    loose = pdfs.write(desk, "dropped.pdf", pdfs.hyphenated())
    drop(page, desk / "Wells", loose)
    choose.select_option("")
    page.locator("tr[data-doc]").filter(has_text="dropped.pdf").wait_for()
    page.locator("tr[data-doc]").filter(has_text="Wells/2024").wait_for()
    page.get_by_text("was left out").wait_for(state="detached")
    drop(page, folder)
    page.get_by_text("survey.pdf and table.pdf are already in the library.").wait_for()
    expect(page.locator("tr[data-doc]")).to_have_count(4)


@pytest.mark.slow
def test_a_press_counts_though_its_row_is_to_be_drawn_anew(app: App, open_page: Callable[..., Any]) -> None:
    page = open_page(f"{app.url}/library")
    page.locator("tr[data-doc]").first.wait_for()
    job = {"stage": "read", "done": 3, "total": 9, "rate": 1.0, "left": 6, "stopping": False}
    told: dict[str, Any] = {"status": "reading", "elements": 0, "job": job}

    def library(route: Any) -> None:
        found = route.fetch().json()
        found["documents"][0] |= told
        route.fulfill(json=found)

    page.route("**/gw/library?*", library)
    page.route("**/cancel", lambda route: route.fulfill(json={}))
    row = page.locator('tr[data-status="work"]')
    button = row.get_by_role("button", name="Cancel")
    for by, at in ((page.mouse, ()), (page.keyboard, ("Space",))):
        told["elements"] = 0
        page.locator('tr[data-status="work"]:not(.opens)').wait_for()
        button.hover()
        button.focus()
        by.down(*at)
        told["elements"] = 7  # its first pages can be read
        for _ in range(2):
            page.wait_for_event("requestfinished", lambda asked: "/gw/library?" in asked.url)
        with page.expect_request("**/cancel", timeout=10_000):
            by.up(*at)
        page.locator('tr[data-status="work"].opens').wait_for()


@pytest.mark.slow
def test_reading_is_cancelled_gone_on_with_and_survives_a_restart(
    tmp_path: Path, open_page: Callable[..., Any]
) -> None:
    home, pages = tmp_path / "home", 50
    with serve(home) as app:
        page = open_page(f"{app.url}/library")
        page.get_by_text("No documents yet").wait_for()
        page.locator("input[type=file]").set_input_files([file("long.pdf", pdfs.running_headers(pages))])
        row = page.locator("tr[data-doc]")
        row.locator(".now-at", has_text=r"Page").wait_for()
        page.wait_for_function(
            "() => Number(/Page (\\d+)/.exec(document.querySelector('.now-at')?.innerText)?.[1]) > 2"
        )
        row.get_by_role("button", name="Cancel").click(delay=1500)  # a slow finger
        row.get_by_text("Those pages are kept.").wait_for()
        stopped = read_so_far(home)
        assert 2 < stopped < pages
        page.reload()  # it is as it was
        row.get_by_role("button", name="Resume").click()
        row.locator(".prog.read").wait_for()
        page.wait_for_function(
            f"() => Number(/Page (\\d+)/.exec(document.querySelector('.now-at')?.innerText)?.[1]) > {stopped}"
        )
    kept = read_so_far(home)
    assert stopped < kept < pages, "ended in the middle of it"
    gone = page.get_by_role("dialog", name="Groundwork does not answer")
    gone.get_by_text("This page goes on by itself").wait_for()
    expect(gone).not_to_contain_text("treamlit", use_inner_text=True)
    page.get_by_placeholder("Title, file, folder or tag").evaluate("field => { field.value = 'long' }")
    with serve(home, port=int(app.url.rpartition(":")[2])) as app:
        gone.wait_for(state="detached")
        expect(page.get_by_placeholder("Title, file, folder or tag")).to_have_value("long")
        page.locator('tr[data-status="ready"]').wait_for(timeout=120_000)
    with Engine.open(home) as engine:
        [info] = engine.documents()
        assert (info.pages_done, info.pages, info.indexed) == (pages, pages, True)


@pytest.mark.slow
def test_a_large_file_is_given_again_to_a_server_that_was_killed_while_it_came(
    tmp_path: Path, open_page: Callable[..., Any]
) -> None:
    home, large = tmp_path / "home", tmp_path / "large.pdf"
    large.write_bytes(pdfs.heavy(40_000_000))
    with serve(home) as app:
        page = open_page(f"{app.url}/library")
        page.get_by_text("No documents yet").wait_for()
        STOPPED.add(f"localhost:{app.url.rpartition(':')[2]}/")
        with page.expect_request("**/upload_file/**"):
            page.locator("input[type=file]").set_input_files(large)
        os.kill(app.pid, signal.SIGKILL)
    with serve(home, port=int(app.url.rpartition(":")[2])) as app:
        page.get_by_role("dialog", name="Groundwork does not answer").wait_for(state="detached")
        assert main(["--home", str(home), "admin", "check"]) == 0
        page = open_page(f"{app.url}/library")
        page.get_by_text("No documents yet").wait_for()
        page.locator("input[type=file]").set_input_files(large)
        page.locator('tr[data-status="ready"]').wait_for(timeout=120_000)
        assert main(["--home", str(home), "admin", "check"]) == 0


def read_so_far(home: Path) -> int:
    with Engine.open(home) as engine:
        return engine.documents()[0].pages_done


@pytest.mark.slow
def test_a_scan_that_was_not_read_leads_to_settings_and_is_read_on_retry(
    empty_app: App, open_page: Callable[..., Any]
) -> None:
    page = open_page(f"{empty_app.url}/settings", width=390, height=844)

    def read(mode: str) -> None:
        with page.expect_response("**/settings/reading*"):
            page.get_by_role("radio", name=mode, exact=True).check(force=True)

    read("Off")
    try:
        page.goto(f"{empty_app.url}/library")
        page.get_by_text("No documents yet").wait_for()
        page.locator("input[type=file]").set_input_files([file("scan.pdf", pdfs.scanned(pdfs.note(), dpi=110))])
        row = page.locator('tr[data-status="failed"]')
        row.get_by_text("OCR is off.").wait_for(timeout=120_000)
        expect(row).not_to_contain_text("config.toml", use_inner_text=True)
        expect(row).not_to_contain_text("ocr", use_inner_text=True)
        row.get_by_role("button", name="Settings").click()
        page.wait_for_url("**/settings")
        page.wait_for_function("() => document.activeElement?.id === 'gw-reading'")
        read("Where needed")
        page.wait_for_function("() => document.querySelector('[name=ocr-mode][value=auto]').checked")
        page.goto(f"{empty_app.url}/library")
        row.get_by_role("button", name="Retry").click()
        page.locator('tr[data-status="ready"]').wait_for(timeout=120_000)
        assert 'mode = "auto"' in (empty_app.home / "config.toml").read_text()
    finally:
        (empty_app.home / "config.toml").unlink(missing_ok=True)  # other tests begin as it was


def readings() -> bytes:
    """A workbook with a long sheet of readings, and a hidden one."""
    rows: list[list[object]] = [["Well", "Nitrate in May, mg/l", "Nitrate in June, mg/l"]]
    rows += [[f"Station {n}", n / 4, n / 5] for n in range(60)]
    rows.insert(45, ["Mill Bridge", 1111.25, 12.1])
    made = openpyxl.load_workbook(io.BytesIO(book(Readings=rows, Draft=[["Well", "x"]])))
    made["Draft"].sheet_state = "hidden"
    made["Readings"]["B46"].number_format = "#,##0.00"
    return saved(made)


@pytest.mark.slow
def test_from_a_dropped_workbook_to_its_lit_cell(empty_app: App, open_page: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "wells.xlsx").write_bytes(readings())
    page = open_page(f"{empty_app.url}/library", 1280, 720)
    page.get_by_text("No documents yet").wait_for()
    drop(page, tmp_path / "wells.xlsx")
    page.locator('tr[data-status="ready"]').wait_for(timeout=120_000)
    with promise("the Library says what was left out, and gives the file back as it was"):
        page.locator(".gw-library tbody tr").get_by_role("link").click()
        drawer = page.get_by_label("Document", exact=True)
        expect(drawer.get_by_text("1 hidden sheet left out.")).to_be_visible()
        expect(drawer.get_by_text("Excel · 3 pages")).to_be_visible()
        with page.expect_download() as saving:
            drawer.get_by_role("button", name="Original").click()
        assert saving.value.suggested_filename == "wells.xlsx"
        assert Path(saving.value.path()).read_bytes() == (tmp_path / "wells.xlsx").read_bytes()
        check(page, "a workbook of the library")
    go(page, "Chat")
    ask(page, "What was the nitrate in May at Mill Bridge?")
    page.locator('.gw-turn[data-state="complete"] .gw-answer').wait_for()
    with promise("the card names the cell, and a click lights its words"):
        chip = page.locator(".gw-answer a.gw-cite").first
        chip.hover()
        expect(page.locator(".gw-card .ti")).to_contain_text("p. 2, Readings!")
        chip.click()
        page.locator('.gw-highlight[data-role="cited"]').first.wait_for()
        expect(page.locator(".gw-pane .tbar .at")).to_contain_text("Readings!")
    with promise("nothing of it is out of reach"):
        page.mouse.move(0, 0)
        check(page, "a cell of a workbook")
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280
