"""An engine that follows a root in the background, what it told, and waiting for what it has on record."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from vaultmem.config import Config
from vaultmem.engine import background
from vaultmem.engine.engine import Engine
from vaultmem.errors import StoreError
from vaultmem.events import Event
from vaultmem.files.watch import Watcher

NEVER_S = 3_600.0


def wait_until(holds: Callable[[], object], what: str = "it", within_s: float = 20.0) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not come true in time"
        time.sleep(0.005)


def put_whole(world, path: str, note_id: str) -> None:
    """A new note that is never seen half-written: what was told of it can be counted."""
    world.note(f"../../{path}", note_id).rename(world.root / path)


class Watched:
    """An engine that follows a root, and what it told."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.events: list[Event] = []
        engine.subscribe(self.events.append)

    def ids(self) -> dict[str, str | None]:
        """What is on record now; looks at no file."""
        try:
            with self.engine.parts.access.reader() as caches:
                return {path: known.id for path, known in caches.catalog.known().items()}
        except StoreError:  # nothing yet
            return {}

    def told(self, kind: type[Event]) -> list[Event]:
        return [event for event in tuple(self.events) if type(event) is kind]

    def wait_for(self, ids: dict[str, str | None]) -> None:
        """Until exactly these notes are on record, and whoever put them there has told so."""
        wait_until(lambda: self.ids() == ids, f"{ids}, not {self.ids()}")
        if self.engine.is_writer:
            # Notes are on record before that is told, in one turn of the sync thread: its end is waited for, however
            # long it takes on a busy machine.
            with self.engine.parts.access.writer():
                pass

    @property
    def watcher(self) -> Watcher:
        assert self.engine.background is not None
        return self.engine.background._watcher


@contextmanager
def following(world, *, embedder="none", ready: bool = True, **settings) -> Iterator[Watched]:
    """A background whose periodic scan is far away: what it sees, the watcher has told it."""
    options = {"scan_interval_s": NEVER_S, "dirty_check_s": NEVER_S, "debounce_ms": 30, **settings}
    config = Config(world.root, world.state_dir, **options)
    with Engine.open(config=config, embedder=embedder, hold=True) as engine:
        watched = Watched(engine)
        engine.background = background.Background(engine.parts)
        engine.background.start()
        if ready:
            wait_until(lambda: engine.status().state == "idle", "the first scan")
        yield watched
