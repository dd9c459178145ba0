"""Status: what the caches hold, and who writes them."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from vaultmem.engine import answers
from vaultmem.errors import RootMissingError, StoreError
from vaultmem.events import WatcherMode
from vaultmem.stores.caches import CATALOG_FILE, Caches, StoreName
from vaultmem.stores.folders import advice_for
from vaultmem.sync import integrity
from vaultmem.sync.dense import dense_rules
from vaultmem.views import DenseStatus, EngineStatus, LexicalStatus, WriterStatus

if TYPE_CHECKING:
    from vaultmem.engine.parts import Parts


def read_status(parts: Parts) -> EngineStatus:
    """What the caches hold and who writes; looks at the root folder, but at no note."""
    pid = parts.access.writer_pid
    try:
        with parts.access.reader() as caches:
            found = _status(parts, caches, pid)
    except StoreError as error:
        found = _nothing_yet(parts, pid, str(error))
    return _with_root(parts, _with_room(parts, found))


def _status(parts: Parts, caches: Caches, pid: int | None) -> EngineStatus:
    counts = caches.catalog.counts()
    diagnostics = Counter(
        d.code.value for ds in answers.diagnose_rows(caches.catalog.rows()).values() for d in ds
    )
    scanned = caches.catalog.meta("last_scan_at")
    worker = said_by_worker(caches, pid)
    state, message = worker.get("state", "idle"), worker.get("message", "")
    if scanned is None and state == "idle":
        state, message = "never_synced", "Run `vaultmem sync`."
    message = message or answers.as_of(parts.access, caches)
    broken = integrity.broken_stores(caches, by_stamp=True)
    if broken:
        state, message = "degraded", f"cannot read the {' and '.join(broken)} store; run `vaultmem sync`"
    return EngineStatus(
        root=str(parts.config.root),
        state_dir=str(parts.config.state_dir),
        state=state,
        notes=counts.notes,
        admitted=counts.admitted,
        deprecated=counts.deprecated,
        conflicts=counts.conflicts,
        diagnostics=dict(sorted(diagnostics.items())),
        lexical=_lexical_status(caches, broken),
        dense=_dense_status(parts, caches, broken, counts.pending),
        writer=WriterStatus(pid, pid is not None),
        last_scan_at=datetime.fromtimestamp(float(scanned), UTC) if scanned else None,
        watcher=WatcherMode(worker.get("watcher", "off")),
        message=message,
        embedded=worker.get("done"),
        to_embed=worker.get("total"),
        seconds_left=worker.get("seconds_left"),
    )


def said_by_worker(caches: Caches, writer_pid: int | None) -> dict[str, Any]:
    """What the worker last said of itself; nothing when it is gone, or when another process writes."""
    said: dict[str, Any] = json.loads(caches.catalog.meta("worker") or "{}")
    return said if said.get("pid") == writer_pid else {}


def _lexical_status(caches: Caches, broken: list[StoreName]) -> LexicalStatus:
    store = None if StoreName.LEXICAL in broken else caches.lexical
    return LexicalStatus(store.count() if store else 0, store.size_bytes() if store else 0)


def _dense_status(parts: Parts, caches: Caches, broken: list[StoreName], pending: int) -> DenseStatus:
    store = None if StoreName.DENSE in broken else caches.dense
    chosen, note = parts.chosen, ""
    if parts.embedder is None:
        note, pending = f"{chosen.reason}; recall uses words alone", 0
    elif caches.made_with(StoreName.DENSE) != dense_rules(parts.embedder):
        note = "the vectors belong to another model or none yet; recall uses words alone until they are filled in"
    return DenseStatus(
        engine=chosen.engine,
        model=chosen.model,
        chunks=caches.catalog.embedded_chunks() if store is not None else 0,
        pending=pending,
        bytes=store.size_bytes() if store else 0,
        note=note,
    )


def _nothing_yet(parts: Parts, pid: int | None, reason: str) -> EngineStatus:
    exists = os.path.lexists(parts.config.state_dir / CATALOG_FILE)
    chosen = parts.chosen
    return EngineStatus(
        root=str(parts.config.root),
        state_dir=str(parts.config.state_dir),
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


def _with_room(parts: Parts, found: EngineStatus) -> EngineStatus:
    """On a full disk no caches can be begun or mended, whatever they look like."""
    is_wanting = found.state in ("never_synced", "degraded")
    return replace(found, message=advice_for(parts.config.state_dir, found.message)) if is_wanting else found


def _with_root(parts: Parts, found: EngineStatus) -> EngineStatus:
    try:
        parts.vault.check_readable()
        parts.keeper.find_root()
    except RootMissingError as error:
        return replace(
            found,
            state="root_missing",
            message=f"{error}. {error.advice}",
            diagnostics={**found.diagnostics, "root_missing": 1},
        )
    return found
