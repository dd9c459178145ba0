"""Now, and a moment as vaultmem writes it: in notes, in usage events, in JSON and on the terminal."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    """This moment, aware, in UTC."""
    return datetime.now(UTC)


def local(moment: datetime) -> datetime:
    """The same moment as this machine's clocks show it; in UTC where TZ names no zone that can be."""
    try:
        return moment.astimezone()
    except ValueError:  # an offset of a day or more
        return moment.astimezone(UTC)


def utc_text(moment: datetime) -> str:
    """UTC, ISO 8601, milliseconds, `Z`; a moment without a zone is this machine's."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
