"""Numbers as people read them. Pure: number in, text out."""

from __future__ import annotations


def count(number: int) -> str:
    """A whole number with its thousands apart: `12,400`."""
    return f"{number:,}"


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number and its noun: `1 note`, `2 notes`, `3 copies`."""
    return f"{count(number)} {noun if number == 1 else plural or noun + 's'}"


def size(size_bytes: int) -> str:
    """Bytes, by thousands: `812 B`, `4.1 kB`, `23 MB`."""
    if size_bytes < 1000:
        return f"{size_bytes} B"
    amount = float(size_bytes)
    for unit in ("kB", "MB", "GB", "TB"):
        amount /= 1000
        if amount < 999.5 or unit == "TB":
            return f"{amount:.1f} {unit}" if amount < 9.95 else f"{amount:,.0f} {unit}"
    raise AssertionError("unreachable: the last unit takes everything")
