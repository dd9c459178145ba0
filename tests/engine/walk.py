"""Every file of a state dir, damaged in every way that disks, copies and people know: the walk over all of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.worlds import facts

PAGE = 4096
PLACES = {"first": 0.0, "early": 0.21, "middle": 0.5, "late": 0.83, "last": 1.0}

Hurt = Callable[[Path], None]


def grown(world) -> None:
    """A world whose caches have a history: several segments, data files, versions, deletions."""
    for n in range(24):
        body = "".join(
            f"## Part {p}\n\nalpha {n} 缓存 {n * 7} part {p} " + "gamma " * n + "\n\n" for p in range(3)
        )
        world.note(f"2026/{n}.md", f"n{n}", body, description=f"about {n} " + "d" * 200)
    world.sync()
    for turn in range(4):
        for n in (turn, turn + 7):
            world.note(f"2026/{n}.md", f"n{n}", f"alpha cache {n} turn {turn}\n\ndelta {turn}\n")
        (world.root / f"2026/{20 + turn}.md").unlink()
        world.sync()
    world.note("asked.md", "asked", "alpha cache delta E0277 gamma 缓存 顺序\n")
    world.sync()


def files_of(state_dir: Path) -> list[str]:
    """What of a state dir can be damaged: relative paths, in order; the files of locks hold nothing."""
    found = (file for file in sorted(state_dir.rglob("*")) if file.is_file())
    return [str(file.relative_to(state_dir)) for file in found if not file.name.endswith(".lock")]


def hurts(size: int) -> Iterator[tuple[str, Hurt]]:
    """Every damage for a file of this size, by name."""
    yield "delete", lambda file: file.unlink()
    yield "truncate to 0", lambda file: cut(file, 0)
    yield "truncate to half", lambda file: cut(file, size // 2)
    for name, share in PLACES.items():
        yield f"flip a bit {name}", lambda file, at=share: flip(file, int(at * (size - 1)))
    pages = max(1, -(-size // PAGE))
    for name in ("first", "middle", "last"):
        page = {"first": 0, "middle": pages // 2, "last": pages - 1}[name]
        yield f"zero the {name} page", lambda file, page=page: zero_page(file, page)
    yield "zero 8 bytes", lambda file: overwrite(file, 0, bytes(min(8, size)))


def cut(file: Path, size: int) -> None:
    with file.open("r+b") as opened:
        opened.truncate(size)


def flip(file: Path, at: int) -> None:
    byte = file.read_bytes()[at]
    overwrite(file, at, bytes([byte ^ (1 << at % 8)]))


def zero_page(file: Path, page: int) -> None:
    start = page * PAGE
    overwrite(file, start, bytes(min(PAGE, file.stat().st_size - start)))


def overwrite(file: Path, at: int, data: bytes) -> None:
    with file.open("r+b") as opened:
        opened.seek(at)
        opened.write(data)


def walk(state_dir: Path) -> list[tuple[str, str, Hurt]]:
    """(file, damage, act) for every file of a state dir that has bytes."""
    return [
        (name, damage, act)
        for name in files_of(state_dir)
        if (size := (state_dir / name).stat().st_size)
        for damage, act in hurts(size)
    ]


def put_back(world, whole: Path) -> None:
    """The state dir as it was, as a sync of ours leaves it."""
    shutil.rmtree(world.state_dir, ignore_errors=True)
    shutil.copytree(whole, world.state_dir)
    world.sync()


def is_right_or_says_what_is_missing(world, expected: dict[str, object]) -> bool:
    """What recall answers now is what a rebuild would answer, or the answer tells what it lacks."""
    with world.engine() as engine:
        return bool(engine.recall("alpha cache", min_score=0.0).trouble) or facts(engine) == expected
