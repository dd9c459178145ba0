"""The commands: the words each takes, and the one engine call that it makes."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from vaultmem.cli.agent_commands import AGENT_COMMANDS
from vaultmem.cli.edit_commands import EDIT_COMMANDS
from vaultmem.cli.eval_command import EVAL_COMMANDS
from vaultmem.cli.input import Command, Options, Words, config_of, count, open_engine, read_question, share
from vaultmem.cli.output import (
    CANNOT_WORK,
    DONE,
    NO,
    answer,
    answer_json,
    answer_json_line,
    complain,
    is_terminal,
    mute,
    narrate,
    reassure,
)
from vaultmem.errors import ConflictError, EngineError, UsageError

if TYPE_CHECKING:
    from vaultmem.events import Event
    from vaultmem.recall.answer import Recall
    from vaultmem.worker.client import Memories

WRITER_LOOKED_FOR_S = 1.0
"""How often a watcher beside another one looks whether it has become the writer, and so the one to ask."""


# --- the caches


def sync(options: Options) -> int:
    """One pass to completion."""
    from vaultmem.cli import render_json, render_text
    from vaultmem.cli.progress import ProgressLine

    with open_engine(options) as engine, ProgressLine(sys.stderr) as line:
        report = engine.sync(embed=not options.no_embed, full=options.full, progress=line.show)
    parts = engine.parts
    _tell_without_vectors(options, parts.embedder is None and not options.no_embed, parts.chosen.reason)
    answer_json(render_json.sync_json(report)) if options.json else answer(render_text.sync_text(report))
    return DONE


def _tell_without_vectors(options: Options, is_so: bool, reason: str) -> None:
    if is_so and not options.json:
        narrate(f"no vectors: {reason}")


def _sync_words(words: Words) -> None:
    words.add_argument("--no-embed", action="store_true", help="words only; vectors stay pending")
    words.add_argument("--full", action="store_true", help="distrust file times and hash every note")


def reindex(options: Options) -> int:
    """Build both stores again beside the live ones."""
    from vaultmem.cli import render_json, render_text
    from vaultmem.cli.progress import ProgressLine

    with open_engine(options) as engine, ProgressLine(sys.stderr) as line:
        report = engine.reindex(progress=line.show)
    answer_json(render_json.sync_json(report)) if options.json else answer(render_text.sync_text(report))
    return DONE


def watch(options: Options) -> int:
    """The worker in the foreground, until it is interrupted or nobody reads its events any more."""
    from vaultmem.hooks.turns import Turns
    from vaultmem.text.logs import log_harmlessly
    from vaultmem.worker.server import Worker

    log_harmlessly()
    ended, lost = threading.Event(), list[EngineError]()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN or number != signal.SIGHUP:  # else nohup started it
            signal.signal(number, lambda *_: ended.set())
    with open_engine(options, hold=True) as engine, contextlib.ExitStack() as serving:
        engine.subscribe(_printer(ended, lost) if options.json else _narrate_event)
        if not options.json:
            pid = engine.parts.access.writer_pid
            role = "" if engine.is_writer else f" (beside process {pid}, which writes)"
            narrate(f"watching {engine.config.root}{role}; Ctrl-C ends")
        engine.follow()
        is_serving = False
        while not ended.wait(0.0 if engine.is_writer and not is_serving else WRITER_LOOKED_FOR_S):
            if engine.is_writer and not is_serving:  # from the start, or since another writer ended
                turns = serving.enter_context(contextlib.closing(Turns(engine)))
                try:
                    serving.enter_context(Worker(engine, turns.answer_hook))
                except (EngineError, OSError) as error:  # everything but answering others goes on
                    complain(_unreachable(error))
                is_serving = True
    if lost:
        raise lost[0]
    return DONE


def _unreachable(error: Exception) -> EngineError:
    told = f"hooks and other commands cannot find this worker, and do their work alone: {error}"
    return EngineError(told, advice=getattr(error, "advice", ""))


def _printer(ended: threading.Event, lost: list[EngineError]) -> Callable[[Event], None]:
    def show(event: Event) -> None:
        try:
            _print_event(event)
        except BrokenPipeError:
            mute(sys.stdout)
            ended.set()
        except EngineError as error:  # kept for the end: the hub of events takes no exception
            lost.append(error)
            ended.set()

    return show


def _print_event(event: Event) -> None:
    from vaultmem.cli.render_json import event_json

    answer_json_line(event_json(event))


def _narrate_event(event: Event) -> None:
    from vaultmem.cli.progress import told

    text = told(event)
    if text:
        narrate(text)


def status(options: Options) -> int:
    """What the caches hold and who writes."""
    from vaultmem.cli import render_json, render_text

    with open_engine(options) as engine:
        found = engine.status()
    answer_json(render_json.status_json(found)) if options.json else answer(render_text.status_text(found))
    return CANNOT_WORK if found.state == "root_missing" else DONE


def doctor(options: Options) -> int:
    """The notes' health and the caches' integrity."""
    from vaultmem.cli import render_json, render_text

    with open_engine(options) as engine:
        report = engine.doctor(repair=options.repair)
    answer_json(render_json.doctor_json(report)) if options.json else answer(render_text.doctor_text(report))
    if not report.caches_agree:
        return CANNOT_WORK
    return DONE if report.healthy else NO


def init(options: Options) -> int:
    """Find the vault, make the memory root and the settings."""
    from vaultmem.install.init import set_up

    made = set_up(vault=options.vault, root=options.root)
    if options.json:
        answer_json({"root": str(made.root), "config": str(made.config), "created": list(made.created)})
    else:
        answer(f"memory root  {made.root}\nsettings     {made.config}")
        narrate(f"made: {', '.join(made.created)}" if made.created else "everything was there already")
        if made.replaced:
            narrate(f"before, the memory root was {made.replaced}; its notes are still there")
        if not made.is_in_vault:
            narrate("no Obsidian vault was found: choose yours with `vaultmem init --vault DIR`")
    return DONE


# --- asking


def notes(options: Options) -> int:
    """The catalog for people."""
    from vaultmem.cli import render_json, render_text
    from vaultmem.notes.tags import TAG_FORM, normalise_tag

    tag = normalise_tag(options.tag) if options.tag else None
    if tag == "":
        raise UsageError(f"{options.tag!r} is no tag", advice=TAG_FORM)
    with open_engine(options) as engine:
        found = engine.notes()
    chosen = [
        note
        for note in found
        if (options.all or options.status or options.code or (note.id and note.status == "active"))
        and (tag is None or tag in note.tags or any(t.startswith(f"{tag}/") for t in note.tags))
        and (options.status is None or note.status == options.status)
        and (options.code is None or options.code in note.diagnostics)
    ]
    if options.json:
        answer_json([render_json.note_json(note) for note in chosen])
    else:
        answer(render_text.notes_text(chosen))
    return DONE


def _notes_words(words: Words) -> None:
    from vaultmem.notes.problems import Code

    words.add_argument("--all", action="store_true", help="also notes without an id, and those not active")
    words.add_argument("--tag", help="with this tag or one below it")
    words.add_argument("--status", choices=("active", "deprecated", "invalid"))
    words.add_argument(
        "--code", choices=[code.value for code in Code], metavar="CODE", help="with this diagnostic"
    )


def recall(options: Options) -> int:
    """The hints a query would get."""
    from vaultmem.cli import render_json, render_text

    query = read_question() if options.query == "-" else options.query
    config = config_of(options)
    found = _asked(
        options,
        lambda memories: memories.recall(
            query,
            limit=config.hint_limit if options.limit is None else options.limit,
            min_score=config.min_score if options.min_score is None else options.min_score,
            project=options.project,
        ),
    )
    if found.trouble and not options.json:
        narrate(found.trouble)
    if options.json:
        answer_json(render_json.recall_json(found, explain=options.explain))
    else:
        answer(render_text.recall_text(found, explain=options.explain, width=config.description_width))
        if not found.hints:
            reassure("no hint: nothing in the vault is worth a line here")
    return DONE


def _asked(options: Options, ask: Callable[[Memories], Recall]) -> Recall:
    """The answer of a worker that is there anyway, else of an engine of one's own."""
    from vaultmem.worker.client import WorkerClient

    client = None if options.engine else WorkerClient.connect(config_of(options))
    if client is not None:
        with contextlib.suppress(OSError):  # it died while it was asked, or is too slow
            return ask(client)
    with open_engine(options) as engine:
        return ask(engine)


def _recall_words(words: Words) -> None:
    words.add_argument("query", metavar="QUERY", help="the prompt; - reads it from stdin")
    words.add_argument("--limit", type=count, help="at most so many hints (default 3)")
    words.add_argument("--min-score", type=share, help="hint from this score upward (default 0.5)")
    words.add_argument("--project", metavar="P", help="favour memories tagged project/P a little")
    words.add_argument("--explain", action="store_true", help="every candidate, with the parts of its score")


def search(options: Options) -> int:
    """ripgrep over the notes as they are now."""
    from vaultmem.cli import render_json, render_text

    with open_engine(options) as engine:
        found = engine.search(
            options.pattern, limit=options.limit, fixed=options.fixed, include_all=options.all
        )
    for warning in found.warnings:
        narrate(f"vaultmem: {warning}")
    if options.json:
        answer_json([render_json.match_json(match) for match in found.matches])
    else:
        answer(render_text.matches_text(found.matches))
        if not found.matches:
            reassure("no line of any memory matches")
    return DONE if found.matches else NO


def _search_words(words: Words) -> None:
    words.add_argument("pattern", metavar="PATTERN", help="a regular expression (ripgrep's)")
    words.add_argument("--limit", type=count, default=20, help="at most so many lines (default 20)")
    words.add_argument("--fixed", action="store_true", help="the pattern is plain text")
    words.add_argument("--all", action="store_true", help="every note, whatever its status")


def open_note(options: Options) -> int:
    """A note's Markdown, whole."""
    from vaultmem.cli import render_json
    from vaultmem.recall.hints import by_shown_id

    with open_engine(options) as engine:
        try:
            memory = by_shown_id(engine.open_memory, options.id)
        except ConflictError as error:
            if options.json:
                answer_json(render_json.copies_json(engine.copies(options.id)))
            complain(error)
            return error.exit_code
    if options.json:
        answer_json(render_json.memory_json(memory))
    else:
        answer(memory.text, end="")
    return DONE


# --- looking


def tui(options: Options) -> int:
    """The dashboard."""
    # It reads the first and draws on the last.
    if not all(map(is_terminal, (sys.stdin, sys.stdout, sys.stderr))):
        raise UsageError(
            "the dashboard needs a terminal", advice="`vaultmem status` and `doctor` print text."
        )
    from tui.start import run

    return run(config_of(options), read_only=options.read_only)


COMMANDS: dict[str, Command] = {
    "init": Command(
        "find the Obsidian vault, make the memory root and the settings",
        init,
        lambda words: words.add_argument(
            "--vault", metavar="DIR", help="which vault, when there are several"
        ),
    ),
    "sync": Command("bring the caches up to date with the notes, once", sync, _sync_words),
    "watch": Command("the background worker: follow every change until interrupted", watch),
    "status": Command("what the caches hold and who writes them", status),
    "doctor": Command(
        "the notes' health and the caches' integrity",
        doctor,
        lambda words: words.add_argument("--repair", action="store_true", help="rebuild what disagrees"),
    ),
    "notes": Command("list the notes", notes, _notes_words),
    "recall": Command("the hints that a prompt would get", recall, _recall_words),
    "search": Command("text search over the notes as they are now", search, _search_words),
    "open": Command("print a memory, whole", open_note, lambda words: words.add_argument("id", metavar="ID")),
    "reindex": Command("build the derived stores again", reindex),
    "tui": Command(
        "the dashboard: triage, preview, mend",
        tui,
        lambda words: words.add_argument("--read-only", action="store_true", help="change no note"),
    ),
    **EDIT_COMMANDS,
    **EVAL_COMMANDS,
    **AGENT_COMMANDS,
}
