"""Whether the threshold in force still separates hits from strangers in this vault, by the user's own golden set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultmem.errors import VaultmemError
from vaultmem.views import Check

if TYPE_CHECKING:
    from vaultmem.engine.engine import Engine


def threshold_check(engine: Engine) -> Check | None:
    """Ask the golden set of the settings; None when there is none. Takes one recall for each query."""
    from vaultmem.evaluation.evaluation import evaluate
    from vaultmem.evaluation.golden import read_golden

    config = engine.config
    if config.golden is None:
        return None
    try:
        golden = read_golden(config.golden)
        measured = evaluate(engine, golden, min_score=config.min_score, hint_limit=config.hint_limit)
    except VaultmemError as error:
        return Check("threshold", False, f"{config.golden}: {error}", is_of_caches=False)
    threshold = measured.threshold
    if not threshold.is_inside_overlap or threshold.overlap_range is None:
        detail = f"{threshold.current:.2f} separates hits from strangers in {len(golden.queries)} queries"
        return Check("threshold", True, detail, is_of_caches=False)
    low, high = threshold.overlap_range
    best = f"{threshold.best:.2f} would be better" if threshold.best is not None else threshold.reason
    detail = f"{threshold.current:.2f} lies where hits and strangers mix ({low:.2f} to {high:.2f}); {best}"
    return Check("threshold", False, detail, is_of_caches=False)
