"""Settings, parsed once into a frozen value. Later wins: defaults, `config.toml`, environment, flags."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from vaultmem.errors import ConfigError
from vaultmem.regular_file import read_whole

APP = "vaultmem"
ROOT_NAME = "March Memories"
EVENTS_FOLDER = ".vaultmem/events"
"""Where usage events lie, relative to the memory root."""
FIRST_ADVICE = "No vault is set up yet: `vaultmem init --vault DIR`, with the folder of your Obsidian vault."
MOST_BYTES = 4 << 20
"""No settings are longer."""
PROFILES_DIR = Path("~/.march/memory/profiles")

HINT_LIMIT, ASSISTANT_HINT_LIMIT = 3, 2
"""At most so many hints for a user message where no setting says otherwise, and for an assistant turn."""
DESCRIPTION_WIDTH = 160
"""A hint shows so many characters of a description where no setting says otherwise."""


class EngineChoice(StrEnum):
    """Which embedding engine to use; `auto` takes the bundled one where it can be installed."""

    AUTO = "auto"
    BUNDLED = "bundled"
    SENTENCE_TRANSFORMERS = "sentence-transformers"
    NONE = "none"


class WatchMode(StrEnum):
    """How changes are noticed while running; `auto` is native with a fallback to polling."""

    AUTO = "auto"
    NATIVE = "native"
    POLLING = "polling"


@dataclass(frozen=True, slots=True)
class Config:
    """Every setting, with one sentence each. Build it with `Config.load`."""

    root: Path
    """The memory root: the folder whose notes are indexed, and nothing outside it."""
    state_dir: Path
    """Where the caches of this root lie; all of it can be deleted."""
    config_file: Path | None = None
    """The file that was read; None when there is none."""
    min_score: float = 0.5
    """A memory is hinted from this score (0 to 1) upward."""
    hint_limit: int = HINT_LIMIT
    """At most so many hints for one query."""
    description_width: int = DESCRIPTION_WIDTH
    """A description is cut to so many characters in a hint."""
    engine: EngineChoice = EngineChoice.AUTO
    """Which embedding engine to use."""
    model: str | None = None
    """Model name or local folder for sentence-transformers; None: multilingual-e5-small."""
    query_prompt: str | None = None
    """Put before a query when it is embedded; None: what the model itself names."""
    passage_prompt: str | None = None
    """Put before a passage when it is embedded; None: what the model itself names."""
    threads: int | None = None
    """CPU threads for embedding; None: the engine's own choice, small enough to leave the machine usable."""
    watch_mode: WatchMode = WatchMode.AUTO
    """How changes are noticed while running."""
    scan_interval_s: float = 60.0
    """A light scan at this interval runs in every watch mode."""
    dirty_check_s: float = 5.0
    """A recall, search or open first scans when the last scan is older than this."""
    debounce_ms: int = 150
    """Changes that follow each other within this time are one set."""
    suppression_runs: int = 10
    """A user hint is not repeated within so many runs of a session."""
    hint_budget_chars: int = 2000
    """At most so many characters of hints are put into a context."""
    profiles_dir: Path = PROFILES_DIR
    """Where `agent.md` and `user.md` lie."""
    golden: Path | None = None
    """The user's own golden set, which doctor looks at."""

    @classmethod
    def load(
        cls,
        root: str | os.PathLike[str] | None = None,
        state_dir: str | os.PathLike[str] | None = None,
        embedder: str | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> Config:
        """Read the settings; the arguments are flags and win. Raises ConfigError that names where a value is from."""
        file = config_path(environ)
        values, found = _from_file(file)
        if not found and environ.get("VAULTMEM_CONFIG"):
            raise ConfigError(
                f"VAULTMEM_CONFIG names {file}, and there is no such file",
                advice="Correct the variable, or make the file with `vaultmem init`.",
            )
        values |= _from_environment(environ)
        values |= _from_flags({"--root": root, "--state-dir": state_dir, "--embed": embedder})
        values.setdefault("root", default_root())
        values.setdefault("state_dir", default_state_dir(values["root"]))
        values.setdefault("profiles_dir", PROFILES_DIR.expanduser())
        values = {
            key: value.absolute() if isinstance(value, Path) else value for key, value in values.items()
        }
        _refuse_nested(values["root"], values["state_dir"])
        return cls(config_file=file if found else None, **values)

    @property
    def first_advice(self) -> str:
        """What to do when the memory root is not there, while nobody has set up a vault yet; empty afterwards."""
        is_set_up = self.config_file is not None or self.root != default_root()
        return "" if is_set_up else FIRST_ADVICE

    def with_engine(self, choice: str) -> Config:
        """The same settings with another embedding engine. Raises ConfigError."""
        return replace(self, **_from_flags({"--embed": choice}))


def config_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Where `config.toml` is looked for: `VAULTMEM_CONFIG`, else the user's configuration folder."""
    import platformdirs

    if named := environ.get("VAULTMEM_CONFIG"):
        return Path(named).expanduser()
    return Path(platformdirs.user_config_dir(APP)) / "config.toml"


def default_root() -> Path:
    """The memory root for a machine on which none is configured."""
    import platformdirs

    return Path(platformdirs.user_data_dir(APP)) / ROOT_NAME


def default_state_dir(root: Path) -> Path:
    """The state folder of a root: one folder each, by the root's name and a hash of its real place."""
    import platformdirs

    place = os.fsencode(root.resolve())
    slug = re.sub(r"[^\w-]+", "-", root.name.lower()).strip("-")[:40] or "root"
    return (
        Path(platformdirs.user_state_dir(APP)) / f"{slug}-{hashlib.blake2b(place, digest_size=5).hexdigest()}"
    )


def _refuse_nested(root: Path, state_dir: Path) -> None:
    """Raises ConfigError where one lies in the other, whatever links lead there.

    Sync tools would copy the caches with the notes; and what lies in the state dir may be deleted at any time.
    """
    real_root, real_state = (Path(os.path.realpath(place)) for place in (root, state_dir))
    if real_state.is_relative_to(real_root):
        wrong = f"the state folder {state_dir} lies inside the memory root {root}"
    elif real_root.is_relative_to(real_state):
        wrong = f"the memory root {root} lies inside the state folder {state_dir}, which may be deleted at any time"
    else:
        return
    advice = (
        "Choose another with --state-dir, VAULTMEM_STATE_DIR or `state_dir` in config.toml, or name none."
    )
    raise ConfigError(wrong, advice=advice)


# --- reading values

ReadValue: TypeAlias = Callable[[Any], Any]  # raises ValueError with what the value must be
_Choice = TypeVar("_Choice", bound=StrEnum)


def _path(value: Any) -> Path:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError("a path")
    return Path(value).expanduser()


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text")
    return value


def _number(low: float, high: float) -> ReadValue:
    def read(value: Any) -> float:
        try:
            number = float("nan" if isinstance(value, bool) else value)
        except (TypeError, ValueError):
            number = float("nan")
        if not low <= number <= high:
            raise ValueError(f"a number from {low:g} to {high:g}")
        return number

    return read


def _count(low: int, high: int) -> ReadValue:
    def read(value: Any) -> int:
        if (
            isinstance(value, bool | float)
            or not str(value).strip().isdecimal()
            or not low <= int(value) <= high
        ):
            raise ValueError(f"a whole number from {low} to {high}")
        return int(value)

    return read


def _one_of(choices: type[_Choice]) -> Callable[[Any], _Choice]:
    def read(value: Any) -> _Choice:
        word = str(value).strip().lower()
        if word not in set(choices):
            raise ValueError(f"one of {', '.join(choices)}")
        return choices(word)

    return read


@dataclass(frozen=True, slots=True)
class _Setting:
    field: str
    key: str  # in config.toml, `table.key`
    variable: str  # in the environment
    read: ReadValue


_SETTINGS = (
    _Setting("root", "memory_root", "MARCH_MEMORY_ROOT", _path),
    _Setting("state_dir", "state_dir", "VAULTMEM_STATE_DIR", _path),
    _Setting("profiles_dir", "profiles_dir", "VAULTMEM_PROFILES_DIR", _path),
    _Setting("golden", "golden", "VAULTMEM_GOLDEN", _path),
    _Setting("min_score", "recall.min_score", "MARCH_MEMORY_RECALL_MIN_SCORE", _number(0, 1)),
    _Setting("hint_limit", "recall.limit", "VAULTMEM_RECALL_LIMIT", _count(1, 100)),
    _Setting("description_width", "recall.description_width", "VAULTMEM_DESCRIPTION_WIDTH", _count(20, 2000)),
    _Setting("suppression_runs", "recall.suppression_runs", "VAULTMEM_SUPPRESSION_RUNS", _count(0, 1000)),
    _Setting("hint_budget_chars", "recall.budget_chars", "VAULTMEM_HINT_BUDGET_CHARS", _count(100, 100_000)),
    _Setting("engine", "embedding.engine", "VAULTMEM_EMBEDDER", _one_of(EngineChoice)),
    _Setting("model", "embedding.model", "VAULTMEM_MODEL", _text),
    _Setting("query_prompt", "embedding.query_prompt", "VAULTMEM_QUERY_PROMPT", _text),
    _Setting("passage_prompt", "embedding.passage_prompt", "VAULTMEM_PASSAGE_PROMPT", _text),
    _Setting("threads", "embedding.threads", "VAULTMEM_THREADS", _count(1, 256)),
    _Setting("watch_mode", "watch.mode", "VAULTMEM_WATCH", _one_of(WatchMode)),
    _Setting("scan_interval_s", "watch.scan_interval_s", "VAULTMEM_SCAN_INTERVAL_S", _number(1, 86_400)),
    _Setting("dirty_check_s", "watch.dirty_check_s", "VAULTMEM_DIRTY_CHECK_S", _number(0, 86_400)),
    _Setting("debounce_ms", "watch.debounce_ms", "VAULTMEM_DEBOUNCE_MS", _count(0, 60_000)),
)
_BY_KEY = {setting.key: setting for setting in _SETTINGS}
_FLAGS = {"--root": "memory_root", "--state-dir": "state_dir", "--embed": "embedding.engine"}


def _from_file(path: Path) -> tuple[dict[str, Any], bool]:
    """The settings of a file and whether there is one. Relative paths in it start from its folder."""
    try:
        document = tomllib.loads(read_whole(path, MOST_BYTES).decode("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}, False
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None
    except (ValueError, RecursionError) as error:  # TOML and UTF-8 errors alike
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
    values = {}
    for key, value in _flatten(document):
        if key not in _BY_KEY:
            raise ConfigError(
                f"{path}: there is no setting `{key}`", advice=f"Known are {', '.join(_BY_KEY)}."
            )
        read = _read(_BY_KEY[key], value, f"{path}: `{key}`")
        values[_BY_KEY[key].field] = path.parent / read if isinstance(read, Path) else read
    return values, True


def _flatten(document: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in document.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """What the environment sets; an empty variable counts as not set."""
    return {
        setting.field: _read(setting, environ[setting.variable], setting.variable)
        for setting in _SETTINGS
        if environ.get(setting.variable)
    }


def _from_flags(flags: Mapping[str, Any]) -> dict[str, Any]:
    return {
        _BY_KEY[_FLAGS[flag]].field: _read(_BY_KEY[_FLAGS[flag]], os.fspath(value), flag)
        for flag, value in flags.items()
        if value is not None
    }


def _read(setting: _Setting, value: Any, source: str) -> Any:
    try:
        return setting.read(value)
    except ValueError as error:
        raise ConfigError(f"{source} is {value!r}, but must be {error}") from None
    except RuntimeError as error:  # `~nobody` cannot be expanded
        raise ConfigError(f"{source} is {value!r}: {error}") from None
