"""Golden sets: queries with the memories that answer them, and prompts that nothing answers.

One JSON object per line: `query`, `relevant` (ids; none for a negative), `kind` (`positive` | `negative`), and where
wanted `lang`, `neg_type` and `reviewed`. A set that does not fit its vault is rotten: it would measure ghosts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from vaultmem.errors import UsageError
from vaultmem.regular_file import read_whole
from vaultmem.text.languages import script_language

if TYPE_CHECKING:
    from vaultmem.views import NoteView, OpenedMemory

FEWEST_QUERIES = 20
"""With fewer queries one of them moves every figure by more than a twentieth."""
OFF_TOPIC = "foreign"
"""The type of a negative about which the vault holds nothing; the type of one that does not say."""
MOST_FAULTS_SHOWN = 8

FORM = (
    'one JSON object per line: {"query": "…", "relevant": ["mem_…"], "kind": "positive"} '
    'or {"query": "…", "relevant": [], "kind": "negative"}'
)


class Kind(StrEnum):
    """Whether some memory answers a query."""

    POSITIVE = "positive"
    NEGATIVE = "negative"


class GoldenSetError(UsageError):
    """A golden set that cannot be read or does not fit its vault; `faults` are all of them."""

    def __init__(self, message: str, *, faults: Sequence[str], advice: str = "") -> None:
        super().__init__(message, advice=advice)
        self.faults = tuple(faults)


@dataclass(frozen=True, slots=True)
class GoldenQuery:
    """A query and the ids of the memories that answer it; `negative_type` is empty for a positive."""

    text: str
    relevant: tuple[str, ...]
    kind: Kind
    language: str
    negative_type: str = ""
    is_reviewed: bool = True

    @property
    def is_off_topic(self) -> bool:
        """A negative that the vault has nothing to say about, rather than one whose answer alone is missing."""
        return self.negative_type == OFF_TOPIC


@dataclass(frozen=True, slots=True)
class GoldenSet:
    """The queries of a golden set, in the order of its file."""

    queries: tuple[GoldenQuery, ...]
    source: str = ""

    @property
    def unreviewed(self) -> int:
        """How many queries nobody has looked at since they were proposed."""
        return sum(not query.is_reviewed for query in self.queries)

    def to_lines(self) -> str:
        """The set as it is kept in a file."""
        return "".join(json.dumps(_record(q), ensure_ascii=False) + "\n" for q in self.queries)


class Memory(Protocol):
    """What a golden set is checked against: a note as the engine lists it."""

    @property
    def id(self) -> str | None: ...
    @property
    def admitted(self) -> bool: ...
    @property
    def status(self) -> str: ...


class HoldsMemories(Protocol):
    """The engine, as far as it lists memories and opens them."""

    def notes(self) -> tuple[NoteView, ...]: ...
    def open_memory(self, id: str) -> OpenedMemory: ...  # noqa: A002


def read_golden(path: Path) -> GoldenSet:
    """Read a golden set. Raises GoldenSetError that names every line which cannot be used."""
    try:
        lines = read_whole(path).decode("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise GoldenSetError(
            f"cannot read the golden set {path}: {error}", faults=[str(error)], advice=FORM
        ) from error
    queries, faults = [], []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                queries.append(_parse(json.loads(line)))
            except (ValueError, RecursionError) as error:
                faults.append(f"line {number}: {error}")
    if faults:
        raise _rotten(f"the golden set {path} has lines that are no queries", faults, FORM)
    return GoldenSet(tuple(queries), str(path))


def check_golden(golden: GoldenSet, memories: Iterable[Memory]) -> None:
    """Raise GoldenSetError, with every fault, unless the set can measure a vault that holds these memories."""
    known = {memory.id: memory for memory in memories if memory.id}
    faults = [*_shape_faults(golden.queries), *_target_faults(golden.queries, known)]
    if faults:
        name = f" {golden.source}" if golden.source else ""
        advice = "Mend or remove these queries; `vaultmem eval --from-vault` proposes a set for this vault."
        raise _rotten(f"the golden set{name} does not fit this vault", faults, advice)


def _rotten(message: str, faults: Sequence[str], advice: str) -> GoldenSetError:
    shown = "; ".join(faults[:MOST_FAULTS_SHOWN])
    more = f"; and {len(faults) - MOST_FAULTS_SHOWN} more" if len(faults) > MOST_FAULTS_SHOWN else ""
    return GoldenSetError(f"{message}: {shown}{more}", faults=faults, advice=advice)


def _shape_faults(queries: Sequence[GoldenQuery]) -> list[str]:
    kinds = Counter(query.kind for query in queries)
    faults = []
    if len(queries) < FEWEST_QUERIES:
        faults.append(f"only {len(queries)} queries, at least {FEWEST_QUERIES} are needed")
    return faults + [f"no {kind} queries" for kind in Kind if not kinds[kind]]


def _target_faults(queries: Sequence[GoldenQuery], known: Mapping[str, Memory]) -> list[str]:
    targets = dict.fromkeys(target for query in queries for target in query.relevant)
    faults = []
    for target in targets:
        memory = known.get(target)
        if memory is None:
            faults.append(f"no memory has the id {target}")
        elif not memory.admitted:
            why = memory.status if memory.status != "active" else "in conflict or without description"
            faults.append(f"{target} cannot be hinted: it is {why}")
    return faults


def _parse(record: Any) -> GoldenQuery:
    """A record of a golden set. Raises ValueError that says what is wrong with it."""
    if not isinstance(record, dict):
        raise ValueError("not a JSON object")
    text, relevant, kind = record.get("query"), record.get("relevant", []), record.get("kind")
    if not isinstance(text, str):
        raise ValueError("`query` is no text")
    if not isinstance(relevant, list) or not all(isinstance(item, str) for item in relevant):
        raise ValueError("`relevant` is no list of ids")
    if kind not in tuple(Kind):
        raise ValueError(f"`kind` is {kind!r}, not positive or negative")
    if (kind == Kind.POSITIVE) != bool(relevant):
        raise ValueError("a positive names relevant memories, a negative names none")
    is_negative = kind == Kind.NEGATIVE
    return GoldenQuery(
        text,
        tuple(dict.fromkeys(relevant)),
        Kind(kind),
        script_language(
            text
        ),  # not the record's `lang`: pairs are told by the rule that recall itself goes by
        str(record.get("neg_type") or OFF_TOPIC) if is_negative else "",
        record.get("reviewed", True) is not False,
    )


def _record(query: GoldenQuery) -> dict[str, Any]:
    record: dict[str, Any] = {"query": query.text, "relevant": list(query.relevant), "kind": str(query.kind)}
    record["lang"] = query.language
    if query.negative_type:
        record["neg_type"] = query.negative_type
    if not query.is_reviewed:
        record["reviewed"] = False
    return record
