"""Profiles: who the agent is and who the user is, put into the context whole at every session's start.

Two Markdown files of the user's (`~/.march/memory/profiles/agent.md` and `user.md`), outside the memory root:
never indexed, searched or hinted. Stable facts belong here; events belong into memories.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from vaultmem.errors import EngineError
from vaultmem.regular_file import open_regular
from vaultmem.text.shown import harmless, harmless_block

if TYPE_CHECKING:
    from vaultmem.config import Config

LIMIT = 4_400
"""Of one profile, in the unit of the client: Claude Code shows a hook 10,000 characters, Codex about as many
bytes, and both profiles and their labels travel together."""
READ_LIMIT_BYTES = 1 << 20

TEMPLATES = {
    "agent": """# Agent profile

How the agent works, speaks and collaborates here. It is read at the start of every session.

- Language:
- Way of working:
- Always / never:
""",
    "user": """# User profile

Stable facts, preferences and long-term goals of the user. It is read at the start of every session.

- Name and role:
- Preferences:
- Goals:
""",
}
"""Name of a profile → the text it begins with. Their order is the order in the context."""


@dataclass(frozen=True, slots=True)
class Profile:
    """One profile as read from disk. `text` is what an agent may be shown, at most LIMIT long."""

    name: str
    path: Path
    text: str
    size: int
    """Of the whole file's text, in the unit of the limit."""

    @property
    def is_cut(self) -> bool:
        """The file is longer than what is shown of it."""
        return self.size > LIMIT

    @property
    def is_untouched(self) -> bool:
        """It is still the template: empty headings would only cost the agent's attention."""
        return self.text.split() in (TEMPLATES[self.name].split(), [])

    @property
    def label(self) -> str:
        """The line under which it stands in the context."""
        return f"[{self.name}_profile]"

    @property
    def warning(self) -> str:
        """What the user should know, or empty."""
        if not self.is_cut:
            return ""
        return f"{self.path} is longer than {LIMIT:,} ({self.size:,}): only its beginning reaches the agent"


def characters(text: str) -> int:
    """The unit in which Claude Code measures what a hook says."""
    return len(text)


def utf8_bytes(text: str) -> int:
    """The unit in which Codex measures (four to a token)."""
    return len(text.encode("utf-8", "replace"))


def read_profiles(folder: Path, measure: Callable[[str], int] = characters) -> tuple[Profile, ...]:
    """Both profiles, in the order in which they are injected; a missing file is made from its template.

    Raises:
        OSError: a file can be neither read nor made.
    """
    return tuple(_read(name, folder / f"{name}.md", measure) for name in TEMPLATES)


def profiles_block(profiles: Sequence[Profile]) -> str:
    """What a client puts into the context: the profiles that somebody has written in."""
    told = (profile for profile in profiles if not profile.is_untouched)
    return "\n\n".join(f"{profile.label}\n{profile.text.strip()}" for profile in told)


def _read(name: str, path: Path, measure: Callable[[str], int]) -> Profile:
    try:
        with open_regular(path) as file:
            data = file.read(READ_LIMIT_BYTES)
    except FileNotFoundError:
        data = TEMPLATES[name].encode()
        _create(path, data)
    text = harmless_block(data.decode("utf-8-sig", "replace").replace("\r\n", "\n"))
    return Profile(name, path, _cut(text, measure), measure(text))


def _create(path: Path, data: bytes) -> None:
    from vaultmem.files import atomic  # seldom wanted

    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    atomic.create_file(path, data, mode=0o600)  # where another session made it this instant, that one stands


def _cut(text: str, measure: Callable[[str], int]) -> str:
    """The longest beginning within the limit, at the end of a line where one is near."""
    if measure(text) <= LIMIT:
        return text
    low, high = 0, min(len(text), LIMIT)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if measure(text[:middle]) < LIMIT - 1 else (low, middle - 1)
    line_end = text.rfind("\n", low // 2, low)
    return text[: line_end if line_end > 0 else low].rstrip() + "\n…"


def run_profile(config: Config, stdout: IO[str], stderr: IO[str], *, as_json: bool = False) -> int:
    """`vaultmem profile`: both profiles as an agent is shown them; warnings go to stderr.

    Raises:
        EngineError: they can be neither read nor made.
    """
    try:
        profiles = read_profiles(config.profiles_dir)
    except OSError as error:
        raise EngineError(
            f"the profiles in {config.profiles_dir} cannot be read or made: {error.strerror or error}",
            advice="Set profiles_dir in config.toml to a folder that can be written.",
        ) from None
    if as_json:
        import json

        keys = ("name", "path", "text", "size", "warning")
        rows = [{key: getattr(profile, key) for key in keys} for profile in profiles]
        stdout.write(json.dumps(rows, ensure_ascii=False, default=str) + "\n")
    else:
        stdout.write(
            "\n\n".join(f"# {each.path}\n{each.label}\n{each.text.strip()}" for each in profiles) + "\n"
        )
    for profile in profiles:
        if profile.warning:
            stderr.write(f"vaultmem: {harmless(profile.warning)}\n")
        if profile.is_untouched:
            stderr.write(
                f"vaultmem: fill in {harmless(str(profile.path))}: no agent is shown an empty profile\n"
            )
    return 0
