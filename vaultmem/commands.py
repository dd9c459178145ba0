"""The commands: the words each takes, and the one engine call that it makes."""

from __future__ import annotations

import argparse
import contextlib
import json
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaultmem import cli
from vaultmem.agent_commands import AGENT_COMMANDS
from vaultmem.errors import ConflictError, UsageError

if TYPE_CHECKING:
    from vaultmem.events import Event

Words = argparse.ArgumentParser
Options = argparse.Namespace


@dataclass(frozen=True, slots=True)
class Command:
    """What `vaultmem NAME` does, in a line; the words it takes; the function that does it."""

    summary: str
    run: Callable[[Options], int]
    words: Callable[[Words], Any] = lambda words: None


# --- the caches


def sync(options: Options) -> int:
    """One pass to completion."""
    from vaultmem import render
    from vaultmem.progress import ProgressLine

    with cli.open_engine(options) as engine, ProgressLine(sys.stderr) as line:
        report = engine.sync(embed=not options.no_embed, full=options.full, progress=line.show)
    _tell_without_vectors(options, engine.embedder is None and not options.no_embed, engine.chosen.reason)
    cli.answer_json(render.sync_json(report)) if options.json else cli.answer(render.sync_text(report))
    return cli.DONE


def _tell_without_vectors(options: Options, is_so: bool, reason: str) -> None:
    if is_so and not options.json:
        cli.narrate(f"no vectors: {reason}")


def _sync_words(words: Words) -> None:
    words.add_argument("--no-embed", action="store_true", help="words only; vectors stay pending")
    words.add_argument("--full", action="store_true", help="distrust file times and hash every note")


def reindex(options: Options) -> int:
    """Delete the derived stores and build them again."""
    from vaultmem import render
    from vaultmem.progress import ProgressLine

    with cli.open_engine(options) as engine, ProgressLine(sys.stderr) as line:
        report = engine.reindex(progress=line.show)
    cli.answer_json(render.sync_json(report)) if options.json else cli.answer(render.sync_text(report))
    return cli.DONE


def watch(options: Options) -> int:
    """The worker in the foreground, until it is interrupted."""
    from vaultmem.worker import Worker

    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with cli.open_engine(options, hold=True, watch=True) as engine:
        show = _print_event if options.json else _narrate_event
        engine.subscribe(show)
        if not options.json:
            role = "" if engine.is_writer else f" (beside process {engine.access.writer_pid}, which writes)"
            cli.narrate(f"watching {engine.config.root}{role}; Ctrl-C ends")
        with Worker(engine) if engine.is_writer else contextlib.nullcontext():
            ended.wait()
    return cli.DONE


def _print_event(event: Event) -> None:
    from vaultmem import render

    fields = asdict(event)
    document: dict[str, Any] = {"event": type(event).__name__}
    for key, value in fields.items():
        document[key] = render.moment(value) if isinstance(value, datetime) else value
    print(json.dumps(document, ensure_ascii=False, default=str), flush=True)


def _narrate_event(event: Event) -> None:
    from vaultmem.progress import told

    text = told(event)
    if text:
        cli.narrate(text)


def status(options: Options) -> int:
    """What the caches hold and who writes."""
    from vaultmem import render

    with cli.open_engine(options) as engine:
        found = engine.status()
    cli.answer_json(render.status_json(found)) if options.json else cli.answer(render.status_text(found))
    return cli.CANNOT_WORK if found.state == "root_missing" else cli.DONE


def doctor(options: Options) -> int:
    """The notes' health and the caches' integrity."""
    from vaultmem import render

    with cli.open_engine(options) as engine:
        report = engine.doctor(repair=options.repair)
    cli.answer_json(render.doctor_json(report)) if options.json else cli.answer(render.doctor_text(report))
    if not report.caches_agree:
        return cli.CANNOT_WORK
    return cli.DONE if report.healthy else cli.NO


def init(options: Options) -> int:
    """Find the vault, make the memory root and the settings."""
    from vaultmem.setting_up import set_up

    made = set_up(vault=options.vault, root=options.root)
    if options.json:
        cli.answer_json({"root": str(made.root), "config": str(made.config), "created": list(made.created)})
    else:
        cli.answer(f"memory root  {made.root}\nsettings     {made.config}")
        cli.narrate(f"made: {', '.join(made.created)}" if made.created else "everything was there already")
    return cli.DONE


# --- asking


def notes(options: Options) -> int:
    """The catalog for people."""
    from vaultmem import render
    from vaultmem.notes import normalise_tag

    with cli.open_engine(options) as engine:
        found = engine.notes()
    tag = normalise_tag(options.tag) if options.tag else None
    chosen = [
        note
        for note in found
        if (options.all or options.status or options.code or (note.id and note.status == "active"))
        and (tag is None or tag in note.tags or any(t.startswith(f"{tag}/") for t in note.tags))
        and (options.status is None or note.status == options.status)
        and (options.code is None or options.code in note.diagnostics)
    ]
    if options.json:
        cli.answer_json([render.note_json(note) for note in chosen])
    else:
        cli.answer(render.notes_text(chosen))
    return cli.DONE


def _notes_words(words: Words) -> None:
    from vaultmem.problems import Code

    words.add_argument("--all", action="store_true", help="also notes without an id, and those not active")
    words.add_argument("--tag", help="with this tag or one below it")
    words.add_argument("--status", choices=("active", "deprecated", "invalid"))
    words.add_argument(
        "--code", choices=[code.value for code in Code], metavar="CODE", help="with this diagnostic"
    )


def recall(options: Options) -> int:
    """The hints a query would get."""
    from vaultmem import render

    query = cli.read_stdin() if options.query == "-" else options.query
    config = cli.config_of(options)
    with _asking(options) as engine:
        found = engine.recall(
            query,
            limit=config.hint_limit if options.limit is None else options.limit,
            min_score=config.min_score if options.min_score is None else options.min_score,
            project=options.project,
        )
    if found.trouble and not options.json:
        cli.narrate(f"recall uses words alone: {found.trouble}")
    if options.json:
        cli.answer_json(render.recall_json(found, explain=options.explain))
    else:
        cli.answer(render.recall_text(found, explain=options.explain, width=config.description_width))
    return cli.DONE


@contextlib.contextmanager
def _asking(options: Options) -> Any:
    """A worker that is there anyway, else an engine of one's own."""
    from vaultmem.worker import WorkerClient

    client = None if options.engine else WorkerClient.connect(cli.config_of(options))
    if client is not None:
        with contextlib.closing(client):
            yield client
    else:
        with cli.open_engine(options) as engine:
            yield engine


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 0 to 1")
    return value


def _recall_words(words: Words) -> None:
    words.add_argument("query", metavar="QUERY", help="the prompt; - reads it from stdin")
    words.add_argument("--limit", type=int, help="at most so many hints (default 3)")
    words.add_argument("--min-score", type=_share, help="hint from this score upward (default 0.5)")
    words.add_argument("--project", metavar="P", help="favour memories tagged project/P a little")
    words.add_argument("--explain", action="store_true", help="every candidate, with the parts of its score")


def search(options: Options) -> int:
    """ripgrep over the notes as they are now."""
    from vaultmem import render

    with cli.open_engine(options) as engine:
        found = engine.search(
            options.pattern, limit=options.limit, fixed=options.fixed, include_all=options.all
        )
    for warning in found.warnings:
        cli.narrate(f"vaultmem: {warning}")
    if options.json:
        cli.answer_json([render.match_json(match) for match in found.matches])
    else:
        cli.answer(render.matches_text(found.matches))
    return cli.DONE if found.matches else cli.NO


def _search_words(words: Words) -> None:
    words.add_argument("pattern", metavar="PATTERN", help="a regular expression (ripgrep's)")
    words.add_argument("--limit", type=int, default=20, help="at most so many lines (default 20)")
    words.add_argument("--fixed", action="store_true", help="the pattern is plain text")
    words.add_argument("--all", action="store_true", help="every note, whatever its status")


def open_note(options: Options) -> int:
    """A note's Markdown, whole."""
    from vaultmem import render

    with cli.open_engine(options) as engine:
        try:
            memory = engine.open_memory(options.id)
        except ConflictError as error:
            if options.json:
                cli.answer_json(render.copies_json(engine.copies(options.id)))
            cli.complain(error)
            return error.exit_code
    if options.json:
        cli.answer_json(render.memory_json(memory))
    else:
        sys.stdout.write(memory.text)
        sys.stdout.flush()
    return cli.DONE


# --- editing


def save(options: Options) -> int:
    """A new memory, or new fields of an old one."""
    from vaultmem import render

    body = cli.read_stdin() if options.body == "-" else options.body
    with cli.open_engine(options) as engine:
        saved = engine.save(
            id=options.id,
            name=options.name,
            description=options.description,
            tags=options.tag,
            body=body,
            dry_run=options.dry_run,
        )
    if options.json:
        cli.answer_json(render.saved_json(saved))
    else:
        cli.answer(f"{saved.memory.id} | {saved.memory.path}")
        if saved.similar:
            cli.narrate(f"says nearly the same as: {', '.join(saved.similar)}")
    return cli.DONE


def _save_words(words: Words) -> None:
    words.add_argument("--id", help="change this memory; without it a new one is written")
    words.add_argument("--name", help="a short name")
    words.add_argument("--description", help="one sentence; it is what a hint shows")
    words.add_argument(
        "--tag", nargs="+", action="extend", metavar="T", help="tags; on a change they replace all"
    )
    words.add_argument("--body", metavar="TEXT", help="the text; - reads it from stdin")
    words.add_argument("--dry-run", action="store_true", help="write nothing")


def tag(options: Options) -> int:
    """Edit the tags entry and nothing else."""
    if options.add is None and options.remove is None and options.set is None:
        raise UsageError("nothing to do", advice="Give --add, --remove or --set with one or more tags.")
    with cli.open_engine(options) as engine:
        edited = engine.edit_tags(
            options.id,
            add=options.add or (),
            remove=options.remove or (),
            set=options.set,
            path=_path(options, engine.config.root),
            dry_run=options.dry_run,
        )
    return _show_edit(options, edited)


def _tag_words(words: Words) -> None:
    words.add_argument("id", metavar="ID")
    for flag, text in (
        ("--add", "add these tags"),
        ("--remove", "remove these"),
        ("--set", "have exactly these"),
    ):
        words.add_argument(flag, nargs="+", action="extend", metavar="T", help=text)
    _edit_words(words)


def _edit_words(words: Words) -> None:
    words.add_argument("--path", metavar="P", help="which note, when several have the id")
    words.add_argument("--dry-run", action="store_true", help="print the diff, write nothing")


def _status_command(name: str) -> Command:
    def run(options: Options) -> int:
        from vaultmem.notes import Status

        wanted = Status.DEPRECATED if name == "deprecate" else Status.ACTIVE
        with cli.open_engine(options) as engine:
            edited = engine.set_status(
                options.id, wanted, path=_path(options, engine.config.root), dry_run=options.dry_run
            )
        return _show_edit(options, edited)

    def words(words: Words) -> None:
        words.add_argument("id", metavar="ID")
        _edit_words(words)

    summary = {"deprecate": "keep a memory, but hint it no more", "activate": "hint a memory again"}[name]
    return Command(summary, run, words)


def adopt(options: Options) -> int:
    """Give a note without an id, or a conflicting copy, a fresh one."""
    with cli.open_engine(options) as engine:
        options.path = options.note
        path = _path(options, engine.config.root) or options.note
        edited = engine.adopt(path, dry_run=options.dry_run)
    return _show_edit(options, edited)


def _adopt_words(words: Words) -> None:
    words.add_argument("note", metavar="PATH", help="relative to the memory root")
    words.add_argument("--dry-run", action="store_true", help="print the diff, write nothing")


def _path(options: Options, root: Path) -> str | None:
    """The path as the catalog spells it; an absolute one, or one from here, is understood too."""
    if options.path is None:
        return None
    given = Path(options.path)
    for place in (given, Path.cwd() / given):
        with contextlib.suppress(ValueError):
            if place.is_absolute() and (given.is_absolute() or not (root / given).exists()):
                return place.resolve().relative_to(root.resolve()).as_posix()
    return given.as_posix()


def _show_edit(options: Options, edited: Any) -> int:
    from vaultmem import render

    if options.json:
        cli.answer_json(render.edited_json(edited))
    else:
        cli.answer(edited.diff.rstrip("\n"))
        if not edited.changed:
            cli.narrate(f"{edited.path} is already so")
    return cli.DONE


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
    "save": Command("write a new memory, or change one", save, _save_words),
    "tag": Command("edit a memory's tags", tag, _tag_words),
    "deprecate": _status_command("deprecate"),
    "activate": _status_command("activate"),
    "adopt": Command("give a note without an id, or a copy, a fresh one", adopt, _adopt_words),
    "reindex": Command("build the derived stores again", reindex),
} | {name: Command(*parts) for name, parts in AGENT_COMMANDS.items()}
