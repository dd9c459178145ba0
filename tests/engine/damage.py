"""Damage to the caches of a world, each kind with the checks of the doctor that must see it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from vaultmem.stores.caches import Caches, StoreName
from vaultmem.stores.lexical_documents import LexicalDoc
from vaultmem.sync import integrity


def with_caches(world, act: Callable[[Caches], None]) -> None:
    """Damage that our own writing has done: the files are as they were left."""
    with world.engine() as engine, engine.parts.access.writer() as caches, integrity.changing(caches):
        act(caches)


def key_of(caches: Caches, note_id: str) -> int:
    (row,) = caches.catalog.rows_with_id(note_id)
    return row.note_key


def version_of(caches: Caches, note_id: str) -> tuple[int, str]:
    (row,) = caches.catalog.rows_with_id(note_id)
    return row.note_key, row.digest


def drop_documents(world, note_id: str) -> None:
    with_caches(world, lambda caches: caches.lexical.delete_keys([key_of(caches, note_id)]))


def drop_vectors(world) -> None:
    with_caches(world, lambda caches: caches.dense.delete_keys([key_of(caches, "a")]))


def drop_one_vector(world) -> None:
    def act(caches: Caches) -> None:
        rows = caches.dense.rows([key_of(caches, "a")])
        caches.dense.delete_keys([key_of(caches, "a")])
        caches.dense.add(rows[:1])

    with_caches(world, act)


def leave_documents(world) -> None:
    with_caches(world, lambda caches: caches.lexical.add([LexicalDoc(99, "old", {"alpha": 1})]))


def double_documents(world) -> None:
    def act(caches: Caches) -> None:
        caches.lexical.add([LexicalDoc(*version_of(caches, "a"), {"alpha": 2})])

    with_caches(world, act)


def leave_vectors(world) -> None:
    def act(caches: Caches) -> None:
        rows = caches.dense.rows([key_of(caches, "a")])
        caches.dense.add([replace(row, note_key=99) for row in rows])

    with_caches(world, act)


def double_vectors(world) -> None:
    with_caches(world, lambda caches: caches.dense.add(caches.dense.rows([key_of(caches, "a")])))


def forget_digests(world) -> None:
    def act(caches: Caches) -> None:
        with caches.catalog.transaction():
            caches.catalog.forget_digests(StoreName.LEXICAL)

    with_caches(world, act)


def forget_note(world) -> None:
    def act(caches: Caches) -> None:
        with caches.catalog.transaction():
            caches.catalog.delete([key_of(caches, "a")])

    with_caches(world, act)


def remember_ghost(world) -> None:
    world.note("ghost.md", "ghost")
    world.sync()
    (world.root / "ghost.md").unlink()


def record_other_bytes(world) -> None:
    """As after a restore of an old catalog whose stat values happen to fit."""

    def act(caches: Caches) -> None:
        caches.catalog._connection.execute(
            "UPDATE notes SET digest = 'x', lexical_digest = 'x' WHERE id = 'a'"
        )

    with_caches(world, act)


def damage_calibration(world) -> None:
    def act(caches: Caches) -> None:
        caches.vectors._connection.execute("UPDATE calibrations SET value = x'00'")
        caches.vectors._connection.commit()

    with_caches(world, act)


def zero_vectors(world) -> None:
    change_rows(world, lambda row: replace(row, vector=np.zeros_like(row.vector)))


def swap_texts(world) -> None:
    change_rows(world, lambda row: replace(row, text=row.text[::-1]))


def change_rows(world, change: Callable[..., object]) -> None:
    def act(caches: Caches) -> None:
        keys = list(caches.catalog.versions("dense"))
        rows = caches.dense.rows(keys)
        caches.dense.delete_keys(keys)
        caches.dense.add([change(row) for row in rows])

    with_caches(world, act)


def zero(world, pattern: str) -> None:
    """Zeros in the middle of the files, as a failing disk or a half-copied file has them."""
    files = [file for file in world.state_dir.glob(pattern) if file.stat().st_size > 64]
    assert files, pattern
    for file in files:
        data = bytearray(file.read_bytes())
        start = len(data) // 5
        data[start : start + len(data) // 2] = bytes(len(data) // 2)
        file.write_bytes(data)


def tear(world, pattern: str) -> None:
    for file in world.state_dir.glob(pattern):
        file.write_bytes(b"{")


DAMAGES: dict[str, tuple[Callable[..., None], set[str]]] = {
    "a document is missing": (lambda world: drop_documents(world, "a"), {"lexical_agrees"}),
    "a document is left over": (leave_documents, {"lexical_agrees"}),
    "a document is there twice": (double_documents, {"lexical_agrees"}),
    "no document is vouched for": (forget_digests, {"lexical_agrees"}),
    "a note's vectors are missing": (drop_vectors, {"dense_agrees"}),
    "one vector is missing": (drop_one_vector, {"dense_agrees"}),
    "vectors are left over": (leave_vectors, {"dense_agrees"}),
    "vectors are there twice": (double_vectors, {"dense_agrees"}),
    "a note is not on record": (forget_note, {"notes_on_record", "lexical_agrees", "dense_agrees"}),
    "a note on record is gone": (remember_ghost, {"notes_on_record"}),
    "other bytes are on record": (
        record_other_bytes,
        {"notes_on_record", "lexical_agrees"},
    ),
    "the calibration is damaged": (damage_calibration, {"calibration"}),
    "the lexical store is torn": (
        lambda world: tear(world, "lexical-*/meta.json"),
        {"lexical_agrees", "lexical_intact"},
    ),
    "the vectors are zeros": (zero_vectors, {"dense_intact", "dense_answers"}),
    "the texts are others": (swap_texts, {"dense_intact"}),
    "the dense store is torn": (
        lambda world: tear(world, "dense-*/store.json"),
        {"dense_agrees", "dense_intact", "dense_answers"},
    ),
    "the lexical store is gone": (
        lambda world: shutil.rmtree(next(world.state_dir.glob("lexical-*"))),
        {"lexical_agrees", "lexical_intact"},
    ),
    "the dense store is gone": (
        lambda world: shutil.rmtree(next(world.state_dir.glob("dense-*"))),
        {"dense_agrees", "dense_intact", "dense_answers"},
    ),
}
