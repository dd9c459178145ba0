"""`vaultmem eval`: measure recall on a golden set, keep and compare runs, or propose a set for this vault."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from vaultmem.cli.input import Command, Options, Words, open_engine, share
from vaultmem.cli.output import DONE, NO, answer, answer_json, narrate
from vaultmem.errors import RefusedError, UsageError

if TYPE_CHECKING:
    from vaultmem.evaluation.evaluation import Evaluation
    from vaultmem.views import Json


PROPOSED_FILE = "golden.jsonl"


def evaluate(options: Options) -> int:
    """Measure, or with --from-vault propose."""
    if options.from_vault:
        return _propose(options, Path(options.golden or PROPOSED_FILE))
    if options.golden is None:
        raise UsageError(
            "which golden set?", advice="vaultmem eval GOLDEN.jsonl, or vaultmem eval --from-vault"
        )
    from vaultmem.evaluation.histogram import check_picture, save_histogram
    from vaultmem.evaluation.record import evaluation_json, read_run, save_run

    if options.plot:
        check_picture(Path(options.plot))
    before = read_run(Path(options.compare)) if options.compare else None
    evaluation = _measured(options)
    if options.save:
        save_run(evaluation, Path(options.save))
    if options.plot:
        save_histogram(evaluation, Path(options.plot))
    document = evaluation_json(evaluation)
    if options.json:
        answer_json(document)
    else:
        _print(evaluation, before, document)
    return DONE if evaluation.passes else NO


def _measured(options: Options) -> Evaluation:
    from vaultmem.cli.progress import CountLine
    from vaultmem.evaluation.evaluation import evaluate as measure
    from vaultmem.evaluation.figures import metrics_library
    from vaultmem.evaluation.golden import read_golden

    golden = read_golden(Path(options.golden))
    metrics_library()  # where it is missing, nothing else needs saying
    with open_engine(options) as engine, CountLine(sys.stderr, "queries") as line:
        config = engine.config
        pending = engine.status().dense.pending
        if pending:
            narrate(
                f"{pending} notes wait for vectors and are found by words alone: run `vaultmem sync` first"
            )
        min_score = config.min_score if options.min_score is None else options.min_score
        return measure(engine, golden, min_score=min_score, hint_limit=config.hint_limit, progress=line.show)


def _print(evaluation: Evaluation, before: Json | None, after: Json) -> None:
    from vaultmem.evaluation.record import compare_runs
    from vaultmem.evaluation.report import comparison_lines, report_lines

    for line in report_lines(evaluation):
        answer(line or " ")
    if before is not None:
        for line in comparison_lines(compare_runs(before, after)):
            answer(line or " ")


def _propose(options: Options, file: Path) -> int:
    from vaultmem.evaluation.proposals import propose_golden

    if file.exists():
        raise RefusedError(
            f"{file} is there already", advice="Name another file: vaultmem eval --from-vault FILE"
        )
    with open_engine(options) as engine:
        golden = propose_golden(engine)
    try:
        file.write_text(golden.to_lines(), encoding="utf-8")
    except OSError as error:
        raise RefusedError(f"cannot write {file}: {error.strerror}") from None
    counts = {"file": str(file), "queries": len(golden.queries), "unreviewed": golden.unreviewed}
    if options.json:
        answer_json(counts)
    else:
        answer(f"{file}: {len(golden.queries)} queries, none of them reviewed")
        narrate('Read it, correct what is wrong, and delete `"reviewed": false` where a query is right.')
    return DONE


def _words(words: Words) -> None:
    words.add_argument("golden", nargs="?", metavar="GOLDEN.jsonl", help="one query a line")
    words.add_argument(
        "--from-vault", action="store_true", help="propose a set for this vault, to be reviewed"
    )
    words.add_argument("--plot", metavar="FILE.svg", help="draw the scores of hits and strangers")
    words.add_argument("--save", metavar="FILE", help="keep this run")
    words.add_argument("--compare", metavar="FILE", help="show what changed since a kept run")
    words.add_argument("--min-score", type=share, metavar="S", help="measure as if this were the threshold")


EVAL_COMMANDS: dict[str, Command] = {"eval": Command("measure recall on a golden set", evaluate, _words)}
