"""Settings, parsed once into a frozen value. Later wins: defaults, `config.toml`, environment, flags."""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from vaultmem.errors import ConfigError

APP = "vaultmem"
ROOT_NAME = "March Memories"


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
    hint_limit: int = 3
    """At most so many hints for one query."""
    description_width: int = 160
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
    """CPU threads for embedding; None: half of the cores, four at most."""
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
    profiles_dir: Path = Path("~/.march/memory/profiles")
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
        values |= _from_environment(environ)
        values |= _from_flags(root, state_dir, embedder)
        values.setdefault("root", default_root())
        values.setdefault("state_dir", default_state_dir(values["root"]))
        values.setdefault("profiles_dir", Path("~/.march/memory/profiles").expanduser())
        return cls(config_file=file if found else None, **values)


def config_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Return where `config.toml` is looked for: `VAULTMEM_CONFIG`, else the user's configuration folder."""
    import platformdirs

    if named := environ.get("VAULTMEM_CONFIG"):
        return Path(named).expanduser()
    return Path(platformdirs.user_config_dir(APP)) / "config.toml"


def default_root() -> Path:
    """Return the memory root for a machine on which none is configured."""
    import platformdirs

    return Path(platformdirs.user_data_dir(APP)) / ROOT_NAME


def default_state_dir(root: Path) -> Path:
    """Return the state folder of a root: one folder each, by the root's name and a hash of its real place."""
    import platformdirs

    place = os.fsencode(root.resolve())
    slug = re.sub(r"[^\w-]+", "-", root.name.lower()).strip("-")[:40] or "root"
    return (
        Path(platformdirs.user_state_dir(APP)) / f"{slug}-{hashlib.blake2b(place, digest_size=5).hexdigest()}"
    )


# ------------------------------------------------------------------------------------------ reading values

Reader = Callable[[Any], Any]
_Choice = TypeVar("_Choice", bound=StrEnum)


def _path(value: Any) -> Path:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be a path")
    return Path(value).expanduser().absolute()


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a text")
    return value


def _number(low: float, high: float) -> Reader:
    def read(value: Any) -> float:
        number = float(value) if not isinstance(value, bool) else float("nan")
        if not low <= number <= high:
            raise ValueError(f"must be a number from {low:g} to {high:g}")
        return number

    return read


def _count(low: int, high: int) -> Reader:
    def read(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | str) or not low <= int(value) <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(value)

    return read


def _one_of(choices: type[_Choice]) -> Callable[[Any], _Choice]:
    def read(value: Any) -> _Choice:
        try:
            return choices(str(value).strip().lower())
        except ValueError:
            raise ValueError(f"must be one of {', '.join(choices)}") from None

    return read


@dataclass(frozen=True, slots=True)
class _Setting:
    field: str
    key: str  # in config.toml, `table.key`
    read: Reader
    variable: str = ""


_SETTINGS = (
    _Setting("root", "memory_root", _path, "MARCH_MEMORY_ROOT"),
    _Setting("state_dir", "state_dir", _path, "VAULTMEM_STATE_DIR"),
    _Setting("profiles_dir", "profiles_dir", _path, "VAULTMEM_PROFILES_DIR"),
    _Setting("golden", "golden", _path, "VAULTMEM_GOLDEN"),
    _Setting("min_score", "recall.min_score", _number(0, 1), "MARCH_MEMORY_RECALL_MIN_SCORE"),
    _Setting("hint_limit", "recall.limit", _count(1, 100), "VAULTMEM_RECALL_LIMIT"),
    _Setting("description_width", "recall.description_width", _count(20, 2000), "VAULTMEM_DESCRIPTION_WIDTH"),
    _Setting("suppression_runs", "recall.suppression_runs", _count(0, 1000), "VAULTMEM_SUPPRESSION_RUNS"),
    _Setting("hint_budget_chars", "recall.budget_chars", _count(100, 100_000), "VAULTMEM_HINT_BUDGET_CHARS"),
    _Setting("engine", "embedding.engine", _one_of(EngineChoice), "VAULTMEM_EMBEDDER"),
    _Setting("model", "embedding.model", _text, "VAULTMEM_MODEL"),
    _Setting("query_prompt", "embedding.query_prompt", _text, "VAULTMEM_QUERY_PROMPT"),
    _Setting("passage_prompt", "embedding.passage_prompt", _text, "VAULTMEM_PASSAGE_PROMPT"),
    _Setting("threads", "embedding.threads", _count(1, 256), "VAULTMEM_THREADS"),
    _Setting("watch_mode", "watch.mode", _one_of(WatchMode), "VAULTMEM_WATCH"),
    _Setting("scan_interval_s", "watch.scan_interval_s", _number(1, 86_400), "VAULTMEM_SCAN_INTERVAL_S"),
    _Setting("dirty_check_s", "watch.dirty_check_s", _number(0, 86_400), "VAULTMEM_DIRTY_CHECK_S"),
    _Setting("debounce_ms", "watch.debounce_ms", _count(0, 60_000), "VAULTMEM_DEBOUNCE_MS"),
)
_BY_KEY = {setting.key: setting for setting in _SETTINGS}


def _from_file(path: Path) -> tuple[dict[str, Any], bool]:
    try:
        document = tomllib.loads(path.read_text("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        return {}, False
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None
    except ValueError as error:  # TOML and UTF-8 errors alike
        raise ConfigError(f"{path} is not valid TOML: {error}") from None
    values = {}
    for key, value in _flatten(document):
        if key not in _BY_KEY:
            advice = f"known are {', '.join(_BY_KEY)}"
            raise ConfigError(f"{path}: there is no setting `{key}`", advice=advice)
        values[_BY_KEY[key].field] = _read(_BY_KEY[key], value, f"{path}: `{key}`")
    return values, True


def _flatten(document: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    flat: list[tuple[str, Any]] = []
    for key, value in document.items():
        flat += _flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else [(prefix + key, value)]
    return flat


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """An empty variable counts as not set."""
    return {
        setting.field: _read(setting, environ[setting.variable], setting.variable)
        for setting in _SETTINGS
        if environ.get(setting.variable)
    }


def _from_flags(root: Any, state_dir: Any, embedder: str | None) -> dict[str, Any]:
    flags = {"root": ("memory_root", "--root", root), "state_dir": ("state_dir", "--state-dir", state_dir)}
    values = {
        field: _read(_BY_KEY[key], os.fspath(value), flag)
        for field, (key, flag, value) in flags.items()
        if value is not None
    }
    if embedder is not None:
        values["engine"] = _read(_BY_KEY["embedding.engine"], embedder, "--embed")
    return values


def _read(setting: _Setting, value: Any, source: str) -> Any:
    try:
        return setting.read(value)
    except (ValueError, TypeError) as error:
        reason = str(error) if str(error).startswith("must") else f"cannot be read: {error}"
        raise ConfigError(f"{source} is {value!r}, but {reason}") from None
