"""An engine whose answers are known, and golden sets for it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from vaultmem.errors import StoreError
from vaultmem.evaluation.evaluation import Evaluation, evaluate
from vaultmem.evaluation.golden import GoldenQuery, GoldenSet, Kind
from vaultmem.recall.answer import Candidate, Hint, Mode, Recall
from vaultmem.recall.scoring import Signals, Verdict


class KnownEngine:
    """An engine that finds memory `mN` for a query that holds `mN`, at the score that the query asks for."""

    def __init__(self, memories: int = 12, wrong: Callable[[str], bool] = lambda query: False) -> None:
        self.wrong = wrong
        self.views = [
            SimpleNamespace(
                id=f"m{number}",
                name=f"缓存 {number}" if number % 2 else f"cache layer {number}",
                description=f"高频变化层 {number}，放在后面"
                if number % 2
                else f"changing layers {number} go last",
                tags=("cache", f"layer-{number % 4}"),
                status="active",
                admitted=True,
                path=f"{number}.md",
            )
            for number in range(memories)
        ]

    def notes(self) -> tuple[Any, ...]:
        return tuple(self.views)

    def open_memory(self, id: str) -> Any:  # noqa: A002
        (view,) = [view for view in self.views if view.id == id]
        body = f"# {view.name}\n\n## decision about ordering\n\ntext {id}\n"
        return SimpleNamespace(**{**view.__dict__, "body": body})

    def recall(self, query: str, *, limit: int | None = None, min_score: float | None = None) -> Recall:
        if self.wrong(query):
            raise StoreError("the store is torn", advice="rebuild it")
        named, _, score = query.partition("@")
        found = [(view.id, float(score or 0.9)) for view in self.views if view.id == named.split()[-1]]
        found += [(view.id, 0.1) for view in self.views[:3] if view.id not in dict(found)]
        signals = Signals(dense=0.5, bm25=0.0)
        candidates = tuple(
            Candidate(note_id, score, Verdict.HINTED, signals, f"{note_id}.md", note_id, "d", n)
            for n, (note_id, score) in enumerate(sorted(found, key=lambda pair: -pair[1]))
        )
        hints = tuple(Hint(c.id, c.score, c.name, c.description, c.path) for c in candidates[:limit])
        return Recall(query, hints, candidates, Mode.HYBRID)


def golden(positives: int = 12, negatives: int = 12, score: str = "") -> GoldenSet:
    asked = [
        GoldenQuery(f"tell me m{n}{score}", (f"m{n}",), Kind.POSITIVE, "en" if n % 3 else "zh")
        for n in range(positives)
    ]
    silent = [GoldenQuery(f"off topic {n}", (), Kind.NEGATIVE, "en", "foreign") for n in range(negatives)]
    return GoldenSet((*asked, *silent))


def measured(engine: KnownEngine | None = None, golden_set: GoldenSet | None = None) -> Evaluation:
    return evaluate(engine or KnownEngine(), golden_set or golden(), min_score=0.5, hint_limit=3)
