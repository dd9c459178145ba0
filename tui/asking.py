"""How a widget asks the engine: one thread worker, one call, one message back. Nothing here ever raises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from textual.dom import DOMNode
from textual.message import Message
from textual.worker import get_current_worker

from tui.host import host
from tui.messages import CallFailed

if TYPE_CHECKING:
    from vaultmem import Engine

T = TypeVar("T")
K = TypeVar("K")


def ask(
    asker: DOMNode,
    call: Callable[[Engine], T],
    answer: Callable[[T], Message],
    *,
    what: str,
    group: str = "",
    is_exclusive: bool = True,
    on_error: Callable[[Exception], Message] | None = None,
) -> bool:
    """Call the engine in a thread; `asker` gets `answer(result)`, or a `CallFailed` (or what `on_error` makes).

    `what` says what is being done ("reading the notes"). Of an exclusive `group` only the newest answer is
    delivered. False, and nothing asked, while there is no engine.
    """
    engine = host(asker).engine
    if engine is None:
        return False
    work = partial(_work, asker, lambda: answer(call(engine)), on_error or partial(failure, what))
    asker.run_worker(work, thread=True, group=group or what, exclusive=is_exclusive, exit_on_error=False)
    return True


def _work(asker: DOMNode, call: Callable[[], Message], on_error: Callable[[Exception], Message]) -> None:
    worker = get_current_worker()
    try:
        message = call()
    except Exception as error:  # whatever the engine raises, the dashboard goes on and says so
        message = on_error(error)
    if not worker.is_cancelled and asker.is_attached:
        asker.post_message(message)


def failure(what: str, error: Exception) -> CallFailed:
    """An exception as a message: what was being done, what went wrong, what to do."""
    return CallFailed(what, error_text(error), getattr(error, "advice", ""))


def error_text(error: Exception) -> str:
    """An exception in words; the type's name where it brings none of its own."""
    text = str(error).strip()
    if hasattr(error, "advice"):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


@dataclass(frozen=True, slots=True)
class Results(Generic[K, T]):
    """What came of the same call for several notes."""

    done: Mapping[K, T]
    refused: Mapping[K, str]
    """Why each of the others was refused."""


def for_each(keys: Iterable[K], call: Callable[[K], T]) -> Results[K, T]:
    """The same call for several notes, in their order. One refusal stops no other."""
    done: dict[K, T] = {}
    refused: dict[K, str] = {}
    for key in keys:
        try:
            done[key] = call(key)
        except Exception as error:  # each refusal is shown with its reason
            advice = getattr(error, "advice", "")
            refused[key] = (
                f"{error_text(error)}. {advice}".rstrip(". ") + "." if advice else error_text(error)
            )
    return Results(done, refused)
