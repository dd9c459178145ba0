"""The metadata of a note as one value: whoever carries it shows its fields; each has its column and its place."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace

import pytest

from vaultmem.editing.entries import FIELD_ORDER
from vaultmem.notes.metadata import Metadata, Status, WithMetadata
from vaultmem.stores.catalog_rows import METADATA_COLUMNS

NAMES = tuple(field.name for field in fields(Metadata))
WHOLE = Metadata("mem_1", "Name", "about", ("a/b",), Status.ACTIVE, "2026-05-01", "2026-05-02")


def test_whoever_carries_the_metadata_shows_each_field_under_its_own_name() -> None:
    carrier = WithMetadata(WHOLE)
    assert [getattr(carrier, name) for name in NAMES] == [getattr(WHOLE, name) for name in NAMES]


def test_the_metadata_comes_back_from_json_and_is_refused_where_it_is_not_its_own() -> None:
    plain = json.loads(json.dumps(asdict(WHOLE)))
    assert Metadata.of_plain(plain) == WHOLE
    with pytest.raises(ValueError, match="nonsense"):
        Metadata.of_plain(plain | {"status": "nonsense"})
    with pytest.raises(TypeError):
        Metadata.of_plain(plain | {"more": 1})


def test_every_field_has_a_column_and_a_usual_place_in_the_order_of_the_fields() -> None:
    assert tuple(METADATA_COLUMNS) == FIELD_ORDER == NAMES


@pytest.mark.parametrize(
    ("lacking", "is_admissible"),
    [
        ({}, True),
        ({"id": None}, False),
        ({"description": ""}, False),
        ({"status": Status.DEPRECATED}, False),
        ({"status": Status.INVALID}, False),
        ({"name": "", "tags": ()}, True),
    ],
)
def test_admission_asks_for_an_id_a_description_and_an_active_status(lacking, is_admissible) -> None:
    assert replace(WHOLE, **lacking).is_admissible is is_admissible
