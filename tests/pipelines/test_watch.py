"""Watched folders: after every scan the library says of each file what it is, what it was, and what is wrong."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ragcore.config.settings import load
from ragcore.errors import InputError, StoreBusy
from ragcore.index.shelf import Shelf, Trash
from ragcore.index.store import Store
from ragcore.pipelines.versions import Versions
from ragcore.pipelines.watch import Watch
from ragcore.types import Scope
from ragcore.types.watch import ScanReport
from tests.ingest.mail import message
from tests.libraries import askable, put_passages

LONG_AGO = 1_500_000_000


def doc_id(data: str) -> str:
    return hashlib.sha256(data.encode()).hexdigest()[:16]


class Folder:
    """A watched folder of text files, each written at a moment of its own."""

    def __init__(self, root: Path) -> None:
        self.path = root / "papers"
        self.path.mkdir(parents=True)
        self.store = Store(root / "home")
        self.watch = Watch(self.store, load(environ={})[0].ingest)
        self.watch.add(self.path)
        self.moment = LONG_AGO

    def write(self, name: str, text: str) -> None:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        self.moment += 1
        os.utime(file, (self.moment, self.moment))

    def scan(self) -> ScanReport:
        return self.watch.scan(self.path)

    def said(self) -> list[tuple[str, str]]:
        return [(one.path, one.kind) for one in self.scan().changes]

    def read(self, text: str) -> str:
        """Has the document of a file with this text read."""
        return put_passages(self.store, doc_id(text), doc_id(text), [text])

    def listed(self) -> list[str]:
        return [info.doc_id for info in self.store.documents()]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_a_new_file_is_added_in_its_folder_and_an_unchanged_one_is_not_even_opened(folder: Folder) -> None:
    folder.write("wells/north.txt", "Seven wells.")
    assert folder.said() == [("wells/north.txt", "new")]
    [info] = folder.store.documents()
    assert (info.doc_id, info.name, info.folder) == (doc_id("Seven wells."), "north.txt", "papers/wells")
    assert folder.watch.unread(folder.path) == [info.doc_id]
    again = folder.scan()
    assert (again.files, again.hashed, again.changes) == (1, 0, ())
    os.utime(folder.path / "wells/north.txt", (LONG_AGO, LONG_AGO))
    touched = folder.scan()
    assert (touched.hashed, touched.changes) == (1, ())
    assert folder.scan().hashed == 0


def test_a_changed_file_is_the_next_version_of_its_document_once_it_is_read(folder: Folder) -> None:
    folder.write("a.txt", "Seven wells.")
    folder.scan()
    folder.read("Seven wells.")
    shelf, versions = Shelf(folder.store.database), Versions(folder.store)
    shelf.tag([doc_id("Seven wells.")], add=["water"])
    shelf.rename(doc_id("Seven wells."), "The wells")
    folder.write("a.txt", "Nine wells.")
    [change] = folder.scan().changes
    assert (change.kind, change.before, change.doc_id) == ("changed", doc_id("Seven wells."), doc_id("Nine wells."))
    assert askable(folder.store) == [doc_id("Seven wells.")], "the one before is asked until the new one is read"
    folder.read("Nine wells.")
    assert folder.listed() == askable(folder.store) == [doc_id("Nine wells.")]
    [info] = folder.store.documents()
    assert (info.title, info.tags) == ("The wells", ("water",))
    assert folder.store.document(doc_id("Seven wells.")).text.startswith("Seven"), "what cites it can open it"
    assert [one.doc_id for one in versions.of(doc_id("Seven wells."))] == [
        doc_id("Nine wells."),
        doc_id("Seven wells."),
    ]


def test_a_version_that_cannot_be_read_leaves_the_one_before_in_place(folder: Folder) -> None:
    for text in ("One.", "Two.", "Three."):
        folder.write("a.txt", text)
        folder.scan()
        if text == "Two.":
            folder.store.set_status(doc_id(text), "failed", error={"code": "x", "message": "Broken.", "hint": ""})
            assert askable(folder.store) == [doc_id("One.")]
        else:
            folder.read(text)
    assert askable(folder.store) == [doc_id("Three.")]
    assert folder.store.newest()[doc_id("One.")] == doc_id("Three.")


def test_a_file_that_is_put_back_as_it_was_is_the_newest_version_again(folder: Folder) -> None:
    for text in ("One.", "Two.", "One."):
        folder.write("a.txt", text)
        folder.scan()
        folder.read(text)
    assert folder.listed() == [doc_id("One.")]
    assert folder.store.newest() == {doc_id("Two."): doc_id("One.")}


def test_a_document_that_another_file_still_has_is_no_earlier_version(folder: Folder) -> None:
    folder.write("a.txt", "One.")
    folder.write("copy.txt", "One.")
    assert folder.said() == [("a.txt", "new"), ("copy.txt", "known")]
    folder.read("One.")
    folder.write("a.txt", "Two.")
    folder.scan()
    folder.read("Two.")
    assert sorted(folder.listed()) == sorted([doc_id("One."), doc_id("Two.")])
    folder.write("copy.txt", "Two.")
    folder.scan()
    assert folder.listed() == [doc_id("Two.")]


def test_a_moved_file_keeps_its_document_and_its_versions(folder: Folder) -> None:
    folder.write("a.txt", "One.")
    folder.scan()
    folder.read("One.")
    (folder.path / "a.txt").rename(folder.path / "b.txt")
    assert folder.said() == [("b.txt", "moved")]
    assert [file.path for file in folder.watch.files(folder.path)] == ["b.txt"]
    folder.write("b.txt", "Two.")
    folder.scan()
    folder.read("Two.")
    assert folder.store.newest() == {doc_id("One."): doc_id("Two.")}


def test_a_removed_file_is_said_and_its_document_stays(folder: Folder) -> None:
    folder.write("a.txt", "One.")
    folder.scan()
    folder.read("One.")
    (folder.path / "a.txt").rename(folder.path.parent / "a.txt")
    assert folder.said() == [("a.txt", "gone")]
    assert folder.said() == []
    [info] = folder.store.documents()
    assert info.gone
    assert info.askable
    (folder.path.parent / "a.txt").rename(folder.path / "a.txt")
    assert folder.said() == [("a.txt", "back")]
    assert not folder.store.documents()[0].gone


def test_what_was_removed_from_the_library_comes_back_only_when_its_file_changes(folder: Folder) -> None:
    folder.write("a.txt", "One.")
    folder.scan()
    Trash(folder.store, 30).remove(doc_id("One."))
    assert folder.said() == []
    assert folder.listed() == []
    folder.write("a.txt", "Two.")
    assert folder.said() == [("a.txt", "changed")]
    assert folder.listed() == [doc_id("Two.")]


def test_a_document_is_removed_with_its_earlier_versions_and_comes_back_with_them(folder: Folder) -> None:
    for text in ("One.", "Two."):
        folder.write("a.txt", text)
        folder.scan()
        folder.read(text)
    trash = Trash(folder.store, 30)
    trash.put([doc_id("Two.")])
    assert folder.listed() == []
    assert [item.doc_id for item in trash.items()] == [doc_id("Two.")]
    trash.restore([doc_id("Two.")])
    assert folder.listed() == [doc_id("Two.")]
    assert folder.store.newest() == {doc_id("One."): doc_id("Two.")}
    trash.remove(doc_id("Two."))
    assert folder.store.documents(earlier=True) == []


def test_a_file_that_cannot_be_added_keeps_its_error_until_it_changes(folder: Folder) -> None:
    folder.write("a.pdf", "")
    [change] = folder.scan().changes
    assert change.error is not None
    assert (change.kind, change.error["code"]) == ("failed", "empty_file")
    assert folder.said() == []
    [listed] = folder.watch.folders()
    assert (listed.files, listed.failed) == (1, 1)
    [file] = folder.watch.files(folder.path)
    assert file.error == change.error
    folder.write("a.pdf", "%PDF-1.4 something")
    assert folder.said() == [("a.pdf", "new")]
    folder.write("a.pdf", "")
    folder.scan()
    assert folder.listed() == [doc_id("%PDF-1.4 something")], "the document of before stays"


def test_a_file_that_is_still_being_written_waits(folder: Folder) -> None:
    (folder.path / "a.txt").write_text("Half of", encoding="utf-8")
    assert folder.said() == [("a.txt", "waiting")]
    assert folder.listed() == []
    folder.write("a.txt", "Half of it.")
    assert folder.said() == [("a.txt", "new")]


def test_hidden_files_locks_links_and_other_kinds_are_left_out(folder: Folder, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("Not in the folder.", encoding="utf-8")
    (folder.path / "link.txt").symlink_to(outside / "secret.txt")
    (folder.path / "linked").symlink_to(outside)
    (folder.path / "round").symlink_to(folder.path)
    for name in (".hidden.txt", ".git/config.txt", "~$memo.txt", ".~lock.memo.txt#", "program.exe", "memo.txt"):
        folder.write(name, name)
    assert folder.said() == [("memo.txt", "new")]


@pytest.mark.parametrize("top", ["home", "team/libraries/5e"])
def test_files_of_no_library_are_watched_whosever_it_is(tmp_path: Path, top: str) -> None:
    watch = Watch(Store(tmp_path / "mine"), load(environ={})[0].ingest)
    store = Store(tmp_path / top)
    store.add_file(b"Some text.", "a.txt", "txt")
    watch.add(tmp_path)
    assert watch.scan(tmp_path).files == 0
    (tmp_path / "link").symlink_to(tmp_path / top)
    for own in (tmp_path / top, tmp_path / top / "files", tmp_path / "link", tmp_path / "mine"):
        with pytest.raises(InputError, match="a library's own"):
            watch.add(own)


def test_a_watched_folder_that_becomes_a_librarys_is_watched_no_longer(folder: Folder) -> None:
    folder.write("a.txt", "One.")
    Store(folder.path).add_file(b"Another's text.", "b.txt", "txt")
    report = folder.scan()
    assert report.error is not None
    assert "a library's own" in report.error["message"]
    assert folder.listed() == []


def test_only_the_folder_itself_and_only_some_names_if_asked(folder: Folder) -> None:
    folder.watch.add(folder.path, recursive=False, patterns=["*.MD", "re*"])
    for name in ("a.md", "report.txt", "b.txt", "below/c.md"):
        folder.write(name, name)
    assert folder.said() == [("a.md", "new"), ("report.txt", "new")]


def test_a_folder_that_is_away_changes_nothing(folder: Folder) -> None:
    folder.write("a.txt", "One.")
    folder.scan()
    folder.path.rename(folder.path.parent / "elsewhere")
    report = folder.scan()
    assert report.error is not None
    assert "can't be looked through" in report.error["message"]
    assert folder.watch.folders()[0].error == report.error
    assert not folder.store.documents()[0].gone
    (folder.path.parent / "elsewhere").rename(folder.path)
    assert folder.said() == []
    assert folder.watch.folders()[0].error is None


def test_wrong_folders_are_refused(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "file.txt").write_text("No folder.", encoding="utf-8")
    for path in (tmp_path / "nothing", tmp_path / "file.txt"):
        with pytest.raises(InputError, match="There is no folder"):
            folder.watch.add(path)
    with pytest.raises(InputError, match="at most every"):
        folder.watch.add(folder.path, every=0)
    with pytest.raises(InputError, match="isn't watched"):
        folder.watch.scan(tmp_path)
    folder.watch.remove(folder.path)
    with pytest.raises(InputError, match="isn't watched"):
        folder.watch.remove(folder.path)


def test_names_that_are_no_utf8_are_told_apart(folder: Folder) -> None:
    for number, name in enumerate((b"a\xff.txt", b"a\xfe.txt")):
        path = os.path.join(os.fsencode(folder.path), name)
        with open(path, "wb") as file:
            file.write(b"Text %d." % number)
        os.utime(path, (LONG_AGO, LONG_AGO))
    assert [one.kind for one in folder.scan().changes] == ["new", "new"]
    assert folder.said() == []


def test_a_thousand_unchanged_files_are_looked_through_at_once(folder: Folder) -> None:
    for number in range(1000):
        folder.write(f"{number % 20}/{number}.txt", f"Text {number}.")
    assert len(folder.scan().changes) == 1000
    began = time.process_time()
    report = folder.scan()
    assert (report.files, report.hashed, report.changes) == (1000, 0, ())
    assert time.process_time() - began < 2.0


def test_a_scope_means_the_newest_version(folder: Folder) -> None:
    from ragcore.index.conversations import Conversations

    folder.write("a.txt", "One.")
    folder.scan()
    folder.read("One.")
    conversations = Conversations(folder.store.database)
    chosen = conversations.new(Scope((doc_id("One."),)))
    left_out = conversations.new(Scope(without=(doc_id("One."),)))
    folder.write("a.txt", "Two.")
    folder.scan()
    assert conversations.scope(chosen) == Scope((doc_id("One."),))
    folder.read("Two.")
    assert conversations.scope(chosen) == Scope((doc_id("Two."),))
    assert conversations.scope(left_out) == Scope(without=(doc_id("Two."),))


# Processes

SCAN = """
import sys, time
from pathlib import Path
from ragcore.config.settings import load
from ragcore.errors import StoreBusy
from ragcore.index.store import Store
from ragcore.pipelines.watch import Watch
watch = Watch(Store(Path(sys.argv[1])), load(environ={})[0].ingest)
print("ready", flush=True)
sys.stdin.readline()
added = 0
for _ in range(int(sys.argv[3])):
    try:
        report = watch.scan(Path(sys.argv[2]))
    except StoreBusy:
        time.sleep(0.02)
    else:
        added += report.hashed
        if not report.changes:
            break
print(added, flush=True)
"""


def scanner(folder: Folder, times: int = 1000) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SCAN, str(folder.store.home), str(folder.path), str(times)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_two_processes_that_watch_one_folder_read_no_file_twice(folder: Folder) -> None:
    for number in range(100):
        folder.write(f"{number}.txt", f"Text {number}.")
    both = [scanner(folder), scanner(folder)]
    for one in both:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    counts = [int(one.communicate(timeout=280)[0]) for one in both]
    assert sum(counts) == 100
    assert len(folder.listed()) == 100


def test_one_process_scans_at_a_time(folder: Folder) -> None:
    from ragcore import files

    with files.locked(folder.store.home / "locks" / "watch.lock", "busy"), pytest.raises(StoreBusy):
        folder.scan()


@pytest.mark.parametrize("after", [0.01, 0.05, 0.2])
def test_a_scan_that_is_killed_is_made_good_by_the_next(folder: Folder, after: float) -> None:
    for number in range(60):
        folder.write(f"{number}.txt", f"Text {number}.")
    folder.scan()
    for number in range(60):
        folder.write(f"{number}.txt", f"Text {number}, changed.")
    process = scanner(folder, 1)
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    time.sleep(after)
    process.kill()
    process.wait()
    folder.scan()
    assert folder.said() == []
    assert {file.doc_id for file in folder.watch.files(folder.path)} == {
        doc_id(f"Text {number}, changed.") for number in range(60)
    }
    for number in range(60):
        folder.read(f"Text {number}.")
        folder.read(f"Text {number}, changed.")
    wanted = {doc_id(f"Text {number}."): doc_id(f"Text {number}, changed.") for number in range(60)}
    assert folder.store.newest() == wanted


# Any course of events

NAMES = st.sampled_from(["a.txt", "b.txt", "below/c.txt", "below/d.md"])
TEXTS = st.sampled_from(["", "One.", "Two.", "Three.", "Four."])


class AnyCourse(RuleBasedStateMachine):
    """Files that are written, moved and removed in any order, some documents read in between."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.folder = Folder(self.root)
        self.files: dict[str, str] = {}
        self.seen: dict[str, str] = {}  # at the last scan
        self.scanned = True

    def teardown(self) -> None:
        self.folder.store.database.close()
        shutil.rmtree(self.root)

    @rule(name=NAMES, text=TEXTS)
    def write(self, name: str, text: str) -> None:
        self.folder.write(name, text)
        self.files[name] = text
        self.scanned = False

    @precondition(lambda self: self.files)
    @rule(data=st.data(), to=NAMES)
    def move(self, data: st.DataObject, to: str) -> None:
        name = data.draw(st.sampled_from(sorted(self.files)))
        target = self.folder.path / to
        target.parent.mkdir(exist_ok=True)
        (self.folder.path / name).rename(target)
        self.files[to] = self.files.pop(name)
        self.scanned = False

    @precondition(lambda self: self.files)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.files)))
        (self.folder.path / name).unlink()
        del self.files[name]
        self.scanned = False

    @rule(text=TEXTS)
    def read(self, text: str) -> None:
        if doc_id(text) in {info.doc_id for info in self.folder.store.documents(earlier=True)}:
            self.folder.read(text)

    @rule()
    def scan(self) -> None:
        self.folder.scan()
        self.seen |= self.files
        self.scanned = True
        again = self.folder.scan()
        assert (again.hashed, again.changes) == (0, ())

    @invariant()
    def it_is_as_it_was_seen(self) -> None:
        if not self.scanned:
            return
        known = {file.path: file for file in self.folder.watch.files(self.folder.path)}
        assert {path for path, file in known.items() if not file.gone} == set(self.files)
        infos = {info.doc_id: info for info in self.folder.store.documents()}
        for path, text in self.files.items():
            if text:
                assert (known[path].doc_id, known[path].error) == (doc_id(text), None)
                assert doc_id(text) in infos, "what a file has now is nobody's earlier version"
                assert not infos[doc_id(text)].gone
            else:
                assert known[path].error is not None
        newest = self.folder.store.newest()
        assert not set(newest) & set(infos)
        assert set(newest.values()) <= {one for one, info in infos.items() if info.status == "ready"}


TestAnyCourse = AnyCourse.TestCase


def test_what_is_attached_to_a_message_is_told_with_it_once(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    offer = message("The offer is attached.", attached=[("offer.txt", b"The offer is 500 pounds.")])
    folder.write("offer.eml", offer.as_string())
    attached = folder.scan().attached
    assert [info.name for info in folder.store.documents("") if info.doc_id in attached] == ["offer.txt"]
    assert not folder.scan().attached
