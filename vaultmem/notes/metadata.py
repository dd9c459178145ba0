"""What a note says of itself, as one value that travels whole through catalog, answers and worker.

A new field arrives here, gets its rule in `field_rules`, and its column in `vaultmem.stores.catalog_rows`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """The status of a note; INVALID stands for any word that is neither `active` nor `deprecated`."""

    ACTIVE = "active"
    DEPRECATED = "deprecated"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Metadata:
    """The fields of a note, in the order in which they are usually written."""

    id: str | None = None  # None: no usable id (missing, invalid, or the note is wrong)
    name: str = ""
    description: str = ""  # "" when missing; white-space runs are one space here and in `name`
    tags: tuple[str, ...] = ()  # normalised
    status: Status = Status.ACTIVE
    created_at: str | None = None  # the text as written
    updated_at: str | None = None

    @classmethod
    def of_plain(cls, values: Mapping[str, Any]) -> Metadata:
        """The metadata of values as JSON has them. Raises ValueError, LookupError, TypeError for others."""
        return cls(**{**values, "tags": tuple(values["tags"]), "status": Status(values["status"])})

    @property
    def is_admissible(self) -> bool:
        """All that admission asks of the note itself; that no other note has its id, it cannot know."""
        return self.id is not None and self.description != "" and self.status is Status.ACTIVE


@dataclass(frozen=True, slots=True)
class WithMetadata:
    """What every value that carries a note's metadata has: each field under its own name."""

    metadata: Metadata

    @property
    def id(self) -> str | None:
        """None: no usable id."""
        return self.metadata.id

    @property
    def name(self) -> str:
        """What stands in for it where there is none: a heading, the file's name."""
        return self.metadata.name

    @property
    def description(self) -> str:
        """Empty when missing."""
        return self.metadata.description

    @property
    def tags(self) -> tuple[str, ...]:
        """Normalised, in the order of the note."""
        return self.metadata.tags

    @property
    def status(self) -> Status:
        """Active where none is written."""
        return self.metadata.status

    @property
    def created_at(self) -> str | None:
        """The text as written."""
        return self.metadata.created_at

    @property
    def updated_at(self) -> str | None:
        """The text as written."""
        return self.metadata.updated_at
