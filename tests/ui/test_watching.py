"""Watched folders in the app: what is listed, what is refused, and the watcher that queues what differs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ragcore.engine import Engine
from tests.libraries import put_passages
from tests.ui.asgi import ask, token
from tests.ui.test_jobs import until
from ui.library.jobs import Ingestion
from ui.library.watching import Watcher
from ui.server import routes
from ui.server.services import Services
from ui.viewer import changes

Json = dict[str, Any]
LONG_AGO = 1_500_000_000


def call(opened: Services, path: str, body: Json | None = None, query: str = "") -> Json:
    status, _, said = ask(routes.routes(), path, query, headers=token(opened), body=body)
    assert status == 200, said
    found: Json = json.loads(said)
    return found


def write(folder: Path, name: str, text: str, second: int = 0) -> None:
    (folder / name).write_text(text, encoding="utf-8")
    os.utime(folder / name, (LONG_AGO + second,) * 2)


def test_a_folder_is_added_listed_with_its_errors_and_removed(opened: Services, tmp_path: Path) -> None:
    write(tmp_path, "empty.pdf", "")
    for path, said in (("", "isn’t the whole path"), ("papers", "isn’t the whole path"), ("/nowhere", "no folder")):
        assert said in call(opened, "/gw/library/folders/add", {"path": path})["refused"]["message"]
    assert call(opened, "/gw/library/folders/add", {"path": f" {tmp_path} "}) == {}
    opened.engine.watch.scan(tmp_path)
    shown = call(opened, "/gw/library/folders")
    assert shown["allowed"]
    [folder] = shown["folders"]
    assert (folder["path"], folder["files"], folder["missing"], folder["error"]) == (str(tmp_path), 1, 0, None)
    assert [one["path"] for one in folder["failed"]] == ["empty.pdf"]
    assert call(opened, "/gw/library/folders/look", {"path": str(tmp_path)}) == {}
    assert call(opened, "/gw/library/folders/remove", {"path": str(tmp_path)}) == {}
    assert call(opened, "/gw/library/folders")["folders"] == []
    assert "isn't watched" in call(opened, "/gw/library/folders/look", {"path": str(tmp_path)})["refused"]["message"]


def test_versions_and_what_differs_are_told_and_citations_say_what_became_of_them(
    opened: Services, tmp_path: Path
) -> None:
    engine, ids = opened.engine, []
    engine.watch.add(tmp_path)
    texts = ("Nitrate stood above the limit in seven wells.", "Nitrate stood above the limit in nine wells.")
    for second, text in enumerate(texts):
        write(tmp_path, "a.txt", text, second)
        [change] = engine.watch.scan(tmp_path).changes
        ids.append(put_passages(engine.store, change.doc_id, "a.txt", [text, "Forty wells were sampled twice."]))
    old, new = ids
    row = next(one for one in call(opened, "/gw/library")["documents"] if one["id"] == new)
    assert (row["earlier"], row["gone"]) == (1, False)
    assert [one["id"] for one in call(opened, f"/gw/documents/{old}/versions")["versions"]] == [new, old]
    told = call(opened, f"/gw/documents/{new}/differences", query=f"before={old}")
    [one] = told["changes"]
    assert (told["total"], one["old"]["quote"], one["now"]["quote"]) == (1, *texts)
    # A page that still shows the old version has a draft checked against the new one.
    assert "refused" not in call(opened, "/gw/checks/new", {"text": "Forty wells were sampled.", "docs": [old]})

    same = len(texts[0]) + 1
    shown: Json = {
        "deep": [{"doc": old, "start": 0, "end": len(texts[0]), "quote": texts[0]}],
        "same": {"doc": old, "start": same, "end": same + 31, "quote": "Forty wells were sampled twice."},
        "newest": {"doc": new, "start": 0, "end": 5, "quote": "Nitra"},
        "none": {"doc": old, "page": 1},
    }
    changes.told(shown, engine.versions)
    changed = shown["deep"][0]["changed"]
    assert (changed["same"], changed["old"], changed["now"]["quote"]) == (False, *texts)
    assert shown["same"]["changed"]["same"]
    assert shown["same"]["changed"]["now"]["doc"] == new
    assert "changed" not in shown["newest"] | shown["none"]
    engine.watch.remove(tmp_path)


def test_the_watcher_queues_what_is_new_and_goes_on_after_a_fault(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    with Engine.open(tmp_path / "home", overrides={"llm.model": "offline"}) as engine:
        ingestion = Ingestion(engine, removed=lambda _: None)
        watcher = Watcher(ingestion)
        engine.watch.add(folder)
        folder.rmdir()
        watcher.start()
        until(lambda: engine.watch.folders()[0].error is not None)
        folder.mkdir()
        write(folder, "a.txt", "Nitrate stood above the limit in seven wells.")
        watcher.stir(folder)
        until(lambda: any(info.name == "a.txt" for info in engine.documents()))
        until(lambda: bool(ingestion.jobs()) or engine.documents()[0].status == "ready")
        watcher.close()
        ingestion.close()
