"""The lexical store: which notes hold which terms, kept in a Tantivy index. The only module that imports tantivy.

It finds candidates and tells term counts, lengths and document frequencies; the BM25 arithmetic is done elsewhere,
exactly. Terms come ready from `vaultmem.text.terms`; nothing here splits, folds or parses text.

Per document: `note_key`, `version` ("key:digest", the handle for deletes), `length` (summed counts), `terms` (for
finding) and `bag` (stored, for exact counts, because Tantivy does not hand out the term frequencies of a hit).
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaultmem.errors import StoreError
from vaultmem.stores.folders import REBUILD_ADVICE, failures_of, folder_bytes, in_parts, is_vacant
from vaultmem.stores.lexical_documents import (
    FIELDS,
    LexicalDoc,
    LexicalHit,
    bag_of,
    bag_text,
    hit_of,
    needles,
    parse_version,
    safe,
    version_of,
)

if TYPE_CHECKING:
    import tantivy

LEXICAL_FORMAT = 1
"""Part of the schema stamp; another number makes the folder foreign, and it is rebuilt."""

WRITER_HEAP_BYTES = 20_000_000
"""Tantivy refuses less than 15 MB for a thread; 1,000 notes need less than this before they are written out."""

WRITER_THREADS = 1
"""One thread: each commit makes one segment, and the same edits make the same index."""

MOST_SEGMENTS, SEGMENTS_LEFT = 4, 2
"""Each commit makes a segment of seven files or eight; Tantivy itself merges them only when there are eight."""

FILES_IN_ORDER = 8 * MOST_SEGMENTS + 4
"""More are segments to merge, or the leftovers of killed writers."""

TERMS_VERIFIED = 2_000
"""Terms that `verify` looks up, spread over all there are."""

TERMS_AT_ONCE = 200
"""Terms of the one search for candidates that `verify` makes."""

KEYS_PER_QUERY = 1_000

_STAMP_FILE = "store.json"
_STAMP = {"store": "vaultmem lexical", "version": LEXICAL_FORMAT}


class LexicalStore:
    """The index in `folder`. A reader sees each commit of the writer, in whatever process.

    Threads may share an instance. Every method raises StoreError when the folder is torn or foreign. No lock is held
    between calls; that there is one writer at a time is the caller's promise.
    """

    def __init__(self, folder: Path, *, writable: bool) -> None:
        self._folder = folder
        self._writable = writable
        with failures_of("lexical", folder):
            self._linked_in = None if writable or os.access(folder, os.W_OK) else _LinkedFolder(folder)
            self._index = _open_index(folder, writable, self._linked_in)
            self._schema = self._index.schema
        self._view: _View | None = None

    def add(self, docs: Sequence[LexicalDoc]) -> None:
        """Add these documents in one commit."""
        if not docs:
            return
        with self._writing() as writer:
            for doc in docs:
                writer.add_document(_document(doc))

    def delete(self, versions: Collection[tuple[int, str]]) -> None:
        """Delete exactly these (note_key, digest) versions in one commit; no versions is no work."""
        if not versions:
            return
        with self._writing() as writer:
            for note_key, digest in versions:
                writer.delete_documents_by_term("version", version_of(note_key, digest))

    def delete_keys(self, note_keys: Collection[int]) -> None:
        """Delete every version of these notes in one commit."""
        import tantivy

        if not note_keys:
            return
        with self._writing() as writer:
            for note_key in note_keys:
                # By term an integer is taken for a signed one and matches nothing; a query knows the schema.
                writer.delete_documents_by_query(tantivy.Query.term_query(self._schema, "note_key", note_key))

    def search(self, terms: Sequence[str], limit: int) -> list[LexicalHit]:
        """The documents that hold at least one of `terms`, by Tantivy's own BM25, best first."""
        import tantivy

        wanted = list(dict.fromkeys(terms))
        if not wanted or limit <= 0:
            return []
        with failures_of("lexical", self._folder):
            should = [(tantivy.Occur.Should, self._term_query(term)) for term in wanted]
            searcher = self._newest().searcher
            return _hits(searcher, tantivy.Query.boolean_query(should), wanted, limit)

    def read(self, note_keys: Collection[int], terms: Sequence[str]) -> list[LexicalHit]:
        """Every document of these notes with its counts of `terms`, ordered by note_key."""
        import tantivy

        if not note_keys:
            return []
        with failures_of("lexical", self._folder):
            query = tantivy.Query.term_set_query(self._schema, "note_key", sorted(set(note_keys)))
            searcher = self._newest().searcher
            hits = _hits(searcher, query, list(dict.fromkeys(terms)), _count(searcher, query))
        return sorted(hits, key=lambda hit: (hit.note_key, hit.digest))

    def document_frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        """How many live documents hold each term; deleted ones never count."""
        with failures_of("lexical", self._folder):
            view = self._newest()
            for term in terms:
                if term not in view.frequencies:
                    # `doc_freq` would count deleted documents until a merge; a search does not.
                    view.frequencies[term] = _count(view.searcher, self._term_query(term))
            return {term: view.frequencies[term] for term in terms}

    def statistics(self) -> tuple[int, int]:
        """(live documents, sum of their lengths in terms)."""
        import tantivy

        with failures_of("lexical", self._folder):
            view = self._newest()
            if view.statistics is None:
                total = {"total": {"sum": {"field": "length"}}}
                result = view.searcher.aggregate(tantivy.Query.all_query(), total)
                view.statistics = (view.searcher.num_docs, int(result["total"]["value"] or 0))
            return view.statistics

    def versions(self) -> dict[tuple[int, str], int]:
        """Every (note_key, digest) that is in the store, with how many documents it has."""
        import tantivy

        with failures_of("lexical", self._folder):
            # The filter makes the counts those of live documents; without it deleted ones are listed too.
            listed = self._newest().searcher.terms_with_prefix("version", "", tantivy.Query.all_query(), None)
        return {parse_version(version): count for version, count in listed}

    def count(self) -> int:
        """The number of live documents."""
        with failures_of("lexical", self._folder):
            return int(self._newest().searcher.num_docs)

    def verify(self) -> None:
        """Read every document, and ask of them whatever recall asks. Raises StoreError where an answer is wrong.

        Every key and version is looked up, and a share of the terms.
        """
        with failures_of("lexical", self._folder):
            documents, held = self._read_whole()
        if self.statistics() != (len(documents), sum(length for *_, length in documents)):
            raise self._wrong("counts wrongly")
        if self.versions() != Counter((key, digest) for key, digest, _ in documents):
            raise self._wrong("has lost the versions of its documents")
        for part in in_parts(sorted({key for key, *_ in documents}), KEYS_PER_QUERY):
            found = Counter((hit.note_key, hit.digest, hit.length) for hit in self.read(part, ()))
            keys = frozenset(part)
            if found != Counter(document for document in documents if document[0] in keys):
                raise self._wrong("does not find its documents by their keys")
        self._verify_terms(held)

    def _read_whole(self) -> tuple[list[tuple[int, str, int]], Counter[str]]:
        """Of every document its version and length; how many documents hold each term."""
        import tantivy

        searcher = self._newest().searcher
        documents: list[tuple[int, str, int]] = []
        held: Counter[str] = Counter()
        for _, address in searcher.search(tantivy.Query.all_query(), max(1, searcher.num_docs)).hits:
            doc: Any = searcher.doc(address)
            counts, length = bag_of(doc), int(doc.get_first("length"))
            if sum(counts.values()) != length:
                raise self._wrong("holds a document that is not as it was written")
            documents.append((*parse_version(doc.get_first("version")), length))
            held.update(counts.keys())
        return documents, held

    def _verify_terms(self, held: Counter[str]) -> None:
        """Terms are found where they stand, and the search that proposes candidates goes through."""
        import tantivy

        with failures_of("lexical", self._folder):
            searcher = self._newest().searcher
            step = 1 + len(held) // TERMS_VERIFIED
            for term in sorted(held)[::step]:
                wanted = tantivy.Query.term_query(self._schema, "terms", term, "freq")
                if _count(searcher, wanted) != held[term]:
                    raise self._wrong(f"has lost where {term!r} stands")
            some = sorted(held)[:: 1 + len(held) // TERMS_AT_ONCE]
        self.search(some, len(held))

    def _wrong(self, said: str) -> StoreError:
        return StoreError(f"the lexical store {self._folder} {said}", store="lexical", advice=REBUILD_ADVICE)

    def size_bytes(self) -> int:
        """What the folder takes on disk."""
        with failures_of("lexical", self._folder):
            return folder_bytes(self._folder)

    def maintain(self, *, force: bool = False) -> None:
        """Merge small segments, and remove files that nothing needs; without `force` only when there are many."""
        self._check_writable()
        with failures_of("lexical", self._folder):
            if force or self.is_untidy:
                self._merge_smallest()
                writer = self._index.writer(WRITER_HEAP_BYTES, WRITER_THREADS)
                writer.garbage_collect_files()
                writer.wait_merging_threads()

    @property
    def is_untidy(self) -> bool:
        """There is something for `maintain` to do; costs one look at the folder."""
        with failures_of("lexical", self._folder):
            return len(os.listdir(self._folder)) > FILES_IN_ORDER  # noqa: PTH208 - after every sync

    def _merge_smallest(self) -> None:
        """Write the documents of the smallest segments anew, as one segment, in one commit.

        A segment that holds no live document any more is dropped by Tantivy. It offers no merge of its own here.
        """
        import tantivy

        searcher = self._newest().searcher
        found = searcher.search(tantivy.Query.all_query(), max(1, searcher.num_docs), count=False)
        of_segment: dict[int, list[tantivy.DocAddress]] = {}
        for _, address in found.hits:
            of_segment.setdefault(address.segment_ord, []).append(address)
        if len(of_segment) <= SEGMENTS_LEFT:
            return
        smallest = sorted(of_segment.values(), key=len)[: 1 + len(of_segment) - SEGMENTS_LEFT]
        docs: list[Any] = [searcher.doc(address) for addresses in smallest for address in addresses]
        with self._writing() as writer:
            for doc in docs:
                writer.delete_documents_by_term("version", doc.get_first("version"))
            for doc in docs:
                writer.add_document(_copied(doc))

    def close(self) -> None:
        """Let go of the open files; a store that is asked again opens them again."""
        self._view = None

    def _check_writable(self) -> None:
        if not self._writable:
            raise StoreError(f"the lexical store {self._folder} was opened for reading only")

    @contextmanager
    def _writing(self) -> Iterator[tantivy.IndexWriter]:
        """One commit. Tantivy's own lock is held no longer than this, and it dies with the process."""
        self._check_writable()
        with failures_of("lexical", self._folder):
            writer = self._index.writer(WRITER_HEAP_BYTES, WRITER_THREADS)
            try:
                yield writer
                writer.commit()
            finally:
                # Without this a merge is abandoned and begun again at each commit, and its files stay.
                writer.wait_merging_threads()

    def _newest(self) -> _View:
        """The view of the newest commit; finding out that nothing changed costs one stat."""
        stamp = _commit_stamp(self._folder)
        view = self._view
        if view is None or view.stamp != stamp:
            if self._linked_in is not None:
                self._linked_in.follow()
            self._index.reload()
            view = self._view = _View(stamp, self._index.searcher())
        return view

    def _term_query(self, term: str) -> tantivy.Query:
        import tantivy

        return tantivy.Query.term_query(self._schema, "terms", safe(term), "freq")


@dataclass(slots=True)
class _View:
    """One commit, and what was counted in it."""

    stamp: tuple[int, int, int]
    searcher: tantivy.Searcher
    frequencies: dict[str, int] = field(default_factory=dict)
    statistics: tuple[int, int] | None = None


class _LinkedFolder:
    """A folder of our own whose files are links to those of a store that we may not write.

    Tantivy takes a lock, which is a file, before it reads. Deleted with the last reference.
    """

    def __init__(self, store: Path) -> None:
        self._store = store.absolute()
        self.path = Path(tempfile.mkdtemp(prefix="vaultmem-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
        self.follow()

    def follow(self) -> None:
        """Link what has come since."""
        for file in self._store.iterdir():
            if not file.name.endswith(".lock"):
                with suppress(FileExistsError):
                    (self.path / file.name).symlink_to(file)


def _open_index(folder: Path, writable: bool, linked_in: _LinkedFolder | None = None) -> tantivy.Index:
    import tantivy

    stamp, meta = folder / _STAMP_FILE, folder / "meta.json"
    if writable and is_vacant(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        tantivy.Index(_schema(), path=str(folder))
        stamp.write_text(json.dumps(_STAMP), encoding="utf-8")
    fields = tuple(entry["name"] for entry in json.loads(meta.read_text(encoding="utf-8"))["schema"])
    if json.loads(stamp.read_text(encoding="utf-8")) != _STAMP or fields != FIELDS:
        raise StoreError(f"{folder} is not a lexical store of this version", advice=REBUILD_ADVICE)
    index = tantivy.Index.open(str(linked_in.path if linked_in else folder))
    index.config_reader("manual")
    return index


def _schema() -> tantivy.Schema:
    """The fields of the index."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("note_key", stored=True, indexed=True, fast=True)
    builder.add_text_field("version", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("length", stored=True, fast=True)
    builder.add_text_field("terms", tokenizer_name="whitespace", index_option="freq")
    builder.add_bytes_field("bag", stored=True)
    return builder.build()


def _document(doc: LexicalDoc) -> tantivy.Document:
    """A version as a document to be added; terms without a positive count are left out."""
    terms = {safe(term): count for term, count in doc.terms.items() if count > 0}
    return _made(doc.note_key, version_of(doc.note_key, doc.digest), terms)


def _copied(doc: Any) -> tantivy.Document:
    """A stored document as one to be added; its terms, which are not stored, are those of its bag."""
    return _made(int(doc.get_first("note_key")), doc.get_first("version"), bag_of(doc))


def _made(note_key: int, version: str, terms: Mapping[str, int]) -> tantivy.Document:
    import tantivy

    made = tantivy.Document()
    made.add_unsigned("note_key", note_key)
    made.add_text("version", version)
    made.add_unsigned("length", sum(terms.values()))
    made.add_text("terms", " ".join(f"{term} " * count for term, count in terms.items()))
    made.add_bytes("bag", bag_text(terms).encode())
    return made


def _count(searcher: tantivy.Searcher, query: tantivy.Query) -> int:
    # A limit of 0 panics in Tantivy.
    found: Any = searcher.search(query, 1, count=True)
    return int(found.count)


def _hits(
    searcher: tantivy.Searcher, query: tantivy.Query, terms: Sequence[str], limit: int
) -> list[LexicalHit]:
    found = searcher.search(query, max(1, min(limit, searcher.num_docs)), count=False)
    wanted = needles(terms)
    return [hit_of(searcher.doc(address), wanted) for _, address in found.hits]


def _commit_stamp(folder: Path) -> tuple[int, int, int]:
    status = (folder / "meta.json").stat()
    return status.st_ino, status.st_mtime_ns, status.st_size
