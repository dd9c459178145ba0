"""An evaluation as JSON, what is kept of one, and what changed between two. Pure but for reading and writing a file."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaultmem.errors import UsageError
from vaultmem.evaluation.evaluation import Evaluation
from vaultmem.evaluation.figures import Answered, Figures, Gate, Threshold
from vaultmem.regular_file import read_whole

if TYPE_CHECKING:
    from vaultmem.views import Json

SAME_SCORE = 0.005
"""A score that moved by less did not change for a reader."""


def evaluation_json(evaluation: Evaluation) -> Json:
    """The evaluation as `eval --json` prints and `--save` keeps it; what is not a number becomes null."""
    document = {
        **figures_json(evaluation.figures),
        "hint_precision": evaluation.hint_precision,
        "silence": evaluation.silence,
        "false_hints": dict(evaluation.false_hints),
        "threshold": threshold_json(evaluation.threshold),
        "languages": {group: figures_json(figures) for group, figures in evaluation.languages.items()},
        "gates": [_gate_json(gate) for gate in evaluation.gates],
        "passes": evaluation.passes,
        "baselines": {
            base.name: {**figures_json(base.figures), "silence": base.silence}
            for base in evaluation.baselines
        },
        "unreviewed": evaluation.golden.unreviewed,
        "queries": [answered_json(answer) for answer in evaluation.answers],
    }
    numbers: Json = _plain(document)
    return numbers


def figures_json(figures: Figures) -> Json:
    """Figures under the names of `eval --json`."""
    return {
        "positives": figures.queries,
        "recall@1": figures.recall_1,
        "recall@5": figures.recall_5,
        "recall@10": figures.recall_10,
        "mrr@10": figures.mrr_10,
        "ndcg@10": figures.ndcg_10,
        "found": figures.found,
        "hint_recall": figures.shown,
    }


def threshold_json(threshold: Threshold) -> Json:
    """`best` is null when none is advised; `reason` then says why."""
    return {
        "current": threshold.current,
        "best": threshold.best,
        "overlap": threshold.overlap,
        "accuracy": threshold.accuracy,
        "overlap_range": threshold.overlap_range,
        "inside_overlap": threshold.is_inside_overlap,
        "reason": threshold.reason,
    }


def answered_json(answer: Answered) -> Json:
    """One query with what it got."""
    return {
        "query": answer.query.text,
        "kind": str(answer.query.kind),
        "relevant": list(answer.query.relevant),
        "rank": answer.rank,
        "score": answer.score,
        "best_id": answer.best_id,
        "hints": list(answer.hints),
        "right": answer.is_right,
    }


def _gate_json(gate: Gate) -> Json:
    return {
        "name": gate.name,
        "value": gate.value,
        "bar": gate.bar,
        "at_most": gate.is_ceiling,
        "holds": gate.holds,
    }


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return round(value, 6) if math.isfinite(value) else None
    return value


# --- two runs


@dataclass(frozen=True, slots=True)
class QueryChange:
    """One query whose answer differs between two runs. Ranks are None where nothing was ranked."""

    query: str
    kind: str
    rank_before: int | None
    rank_after: int | None
    score_before: float
    score_after: float
    was_right: bool
    is_right: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed from a kept run to this one."""

    figures: Mapping[str, tuple[float | None, float | None]]
    """Name to (before, after)."""
    changes: tuple[QueryChange, ...]
    """Queries that turned wrong first, then those that turned right, then other moves, the largest first."""
    only_before: int
    only_after: int
    """Queries that only one of the runs asked."""


def save_run(evaluation: Evaluation, path: Path) -> None:
    """Keep an evaluation for `compare_runs`. Raises UsageError when the file cannot be written."""
    try:
        text = json.dumps(evaluation_json(evaluation), ensure_ascii=False, indent=1)
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error}") from error


def read_run(path: Path) -> Json:
    """Read what `save_run` kept. Raises UsageError when it is no such file."""
    try:
        document = json.loads(read_whole(path).decode("utf-8"))
        if isinstance(document, dict) and isinstance(document["queries"], list):
            return document
    except (OSError, ValueError, KeyError, RecursionError) as error:
        raise UsageError(f"{path} is no kept evaluation: {error}", advice=_KEEP) from error
    raise UsageError(f"{path} is no kept evaluation", advice=_KEEP)


_KEEP = "Keep one with `vaultmem eval GOLDEN.jsonl --save FILE`."


def compare_runs(before: Json, after: Json) -> Comparison:
    """What changed between two evaluations in their JSON form."""
    names = [name for name, value in after.items() if isinstance(value, float | int) and name != "passes"]
    figures = {name: (before.get(name), after[name]) for name in names}
    old, new = ({_key(answer): answer for answer in run["queries"]} for run in (before, after))
    changes = [_change(old[key], new[key]) for key in new if key in old]
    moved = [change for change in changes if _is_change(change)]
    moved.sort(key=lambda c: (not (c.was_right and not c.is_right), c.was_right == c.is_right, -_size(c)))
    return Comparison(figures, tuple(moved), len(old.keys() - new.keys()), len(new.keys() - old.keys()))


def _key(answer: Json) -> tuple[str, str, tuple[str, ...]]:
    return answer["query"], answer["kind"], tuple(answer["relevant"])


def _change(old: Json, new: Json) -> QueryChange:
    return QueryChange(
        new["query"],
        new["kind"],
        old["rank"],
        new["rank"],
        old["score"],
        new["score"],
        old["right"],
        new["right"],
    )


def _is_change(change: QueryChange) -> bool:
    is_moved = change.rank_before != change.rank_after and change.kind == "positive"
    return is_moved or change.was_right != change.is_right or _size(change) >= SAME_SCORE


def _size(change: QueryChange) -> float:
    return abs(change.score_after - change.score_before)
