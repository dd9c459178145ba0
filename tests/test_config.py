"""Settings: where they come from, which one wins, and what is refused."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from vaultmem.config import Config, EngineChoice, WatchMode, config_path, default_root, default_state_dir
from vaultmem.errors import ConfigError


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """Settings in an empty file."""
    (tmp_path / "config.toml").touch()
    return {"VAULTMEM_CONFIG": str(tmp_path / "config.toml")}


def write(environ: dict[str, str], text: str) -> Path:
    path = Path(environ["VAULTMEM_CONFIG"])
    path.write_text(text, "utf-8")
    return path


def test_without_any_setting_the_defaults_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platformdirs.user_config_dir", lambda app: str(tmp_path / app))
    config = Config.load(environ={})
    assert config.config_file is None
    assert (config.min_score, config.hint_limit, config.engine) == (0.5, 3, EngineChoice.AUTO)
    assert config.root.name == "March Memories" and config.root.is_absolute()
    assert config.state_dir.name.startswith("march-memories-")
    assert config.profiles_dir == Path("~/.march/memory/profiles").expanduser()


def test_later_sources_win(environ: dict[str, str], tmp_path: Path) -> None:
    write(
        environ,
        f'memory_root = "{tmp_path}/file"\n[recall]\nmin_score = 0.4\nlimit = 5\n[embedding]\nengine = "none"\n',
    )
    assert Config.load(environ=environ).root == tmp_path / "file"
    environ |= {"MARCH_MEMORY_ROOT": str(tmp_path / "env"), "MARCH_MEMORY_RECALL_MIN_SCORE": "0.6"}
    config = Config.load(environ=environ)
    assert (config.root, config.min_score, config.hint_limit) == (tmp_path / "env", 0.6, 5)
    config = Config.load(root=tmp_path / "flag", state_dir="st", embedder="bundled", environ=environ)
    assert (config.root, config.engine) == (tmp_path / "flag", EngineChoice.BUNDLED)
    assert config.state_dir == Path.cwd() / "st"
    assert config.config_file == tmp_path / "config.toml"


def test_an_empty_variable_is_not_set(environ: dict[str, str]) -> None:
    assert Config.load(environ=environ | {"MARCH_MEMORY_RECALL_MIN_SCORE": ""}).min_score == 0.5


def test_relative_paths_of_the_file_start_from_its_folder(environ: dict[str, str], tmp_path: Path) -> None:
    write(environ, 'memory_root = "notes"\ngolden = "~/golden.jsonl"\n')
    config = Config.load(environ=environ)
    assert (config.root, config.golden) == (tmp_path / "notes", Path("~/golden.jsonl").expanduser())


def test_every_setting_of_the_file_is_read(environ: dict[str, str]) -> None:
    write(
        environ,
        'profiles_dir = "/p"\n[recall]\ndescription_width = 80\nsuppression_runs = 0\nbudget_chars = 500\n'
        '[embedding]\nmodel = "m"\nquery_prompt = "q: "\npassage_prompt = ""\nthreads = 2\n'
        '[watch]\nmode = "Polling"\nscan_interval_s = 30\ndirty_check_s = 0\ndebounce_ms = 20\n',
    )
    config = Config.load(environ=environ)
    assert (config.profiles_dir, config.description_width, config.suppression_runs) == (Path("/p"), 80, 0)
    assert (config.model, config.query_prompt, config.passage_prompt, config.threads) == ("m", "q: ", "", 2)
    assert (config.watch_mode, config.scan_interval_s, config.dirty_check_s) == (WatchMode.POLLING, 30.0, 0.0)
    assert (config.debounce_ms, config.hint_budget_chars) == (20, 500)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("memroot = '/x'\n", "no setting `memroot`"),
        ("[recall]\nminscore = 1\n", "no setting `recall.minscore`"),
        ("[recall]\nmin_score = 2\n", "`recall.min_score` is 2, but must be a number from 0 to 1"),
        ("[recall]\nmin_score = nan\n", "must be a number"),
        ("[recall]\nmin_score = true\n", "must be a number"),
        ("[recall]\nlimit = 1.5\n", "must be a whole number from 1 to 100"),
        ("[recall]\nlimit = false\n", "must be a whole number"),
        ("recall = 3\n", "no setting `recall`"),
        ("memory_root = ''\n", "must be a path"),
        ("memory_root = 3\n", "must be a path"),
        ("[embedding]\nengine = 'gpu'\n", "must be one of auto, bundled, sentence-transformers, none"),
        ("[embedding]\nmodel = 3\n", "must be a text"),
        ("[recall\n", "is not valid TOML"),
    ],
)
def test_a_mistake_in_the_file_names_the_file(environ: dict[str, str], text: str, reason: str) -> None:
    path = write(environ, text)
    with pytest.raises(ConfigError) as caught:
        Config.load(environ=environ)
    assert reason in str(caught.value) and str(path) in str(caught.value)


def test_a_file_that_is_not_utf8_is_told(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"memory_root = '\xff'\n")
    with pytest.raises(ConfigError, match="not valid TOML"):
        Config.load(environ=environ)


def test_a_file_that_is_a_folder_is_told(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "config.toml").unlink()
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        Config.load(environ=environ)


def test_a_mistake_elsewhere_names_the_variable_or_the_flag(environ: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"MARCH_MEMORY_RECALL_MIN_SCORE is 'high', but must be a number"):
        Config.load(environ=environ | {"MARCH_MEMORY_RECALL_MIN_SCORE": "high"})
    with pytest.raises(ConfigError, match=r"--embed is 'gpu'"):
        Config.load(embedder="gpu", environ=environ)
    with pytest.raises(ConfigError, match=r"--root is ''"):
        Config.load(root="", environ=environ)
    with pytest.raises(ConfigError, match=r"MARCH_MEMORY_ROOT is '~nobody-here/x'"):
        Config.load(environ=environ | {"MARCH_MEMORY_ROOT": "~nobody-here/x"})


def test_each_root_has_its_own_state_folder(tmp_path: Path) -> None:
    one, two = tmp_path / "a" / "Notes", tmp_path / "b" / "Notes"
    one.mkdir(parents=True)
    (tmp_path / "link").symlink_to(one)
    assert default_state_dir(one) != default_state_dir(two)
    assert (
        default_state_dir(tmp_path / "link").name.split("-")[-1] == default_state_dir(one).name.split("-")[-1]
    )
    assert default_state_dir(Path("/")).name.startswith("root-")


def test_the_config_file_can_be_named() -> None:
    assert config_path({}).name == "config.toml"
    assert config_path({"VAULTMEM_CONFIG": "~/x.toml"}) == Path("~/x.toml").expanduser()


@pytest.mark.parametrize("name", ["gone.toml", "no/folder/config.toml", "config.toml/below"])
def test_a_file_that_the_variable_names_must_be_there(
    environ: dict[str, str], tmp_path: Path, name: str
) -> None:
    environ["VAULTMEM_CONFIG"] = str(tmp_path / name)
    with pytest.raises(ConfigError, match=f"VAULTMEM_CONFIG names .*{name}") as error:
        Config.load(environ=environ)
    assert "vaultmem init" in error.value.advice
    assert Config.load(environ=environ | {"VAULTMEM_CONFIG": ""}).min_score == 0.5


def test_only_where_nobody_has_chosen_a_root_the_first_advice_is_to_set_up_a_vault(tmp_path: Path) -> None:
    nowhere = Config.load(environ={"VAULTMEM_STATE_DIR": str(tmp_path)})
    unset = replace(nowhere, root=default_root(), config_file=None)
    assert "vaultmem init" in unset.first_advice
    assert replace(unset, config_file=tmp_path / "config.toml").first_advice == ""
    assert replace(unset, root=tmp_path).first_advice == ""


# --- files and folders that cannot be meant


def test_a_device_a_pipe_a_folder_or_a_film_is_no_settings_file(
    environ: dict[str, str], tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "film").touch()
    os.truncate(tmp_path / "film", 5 << 30)
    places = {"/dev/zero": "device", str(tmp_path / "pipe"): "pipe", str(tmp_path): "is a directory"}
    for place, reason in (places | {str(tmp_path / "film"): "larger than 4 mib"}).items():
        with pytest.raises(ConfigError, match=f"{place} cannot be read: .*{reason}"):
            Config.load(environ=environ | {"VAULTMEM_CONFIG": place})


def test_the_null_device_holds_no_settings(environ: dict[str, str]) -> None:
    assert Config.load(environ=environ | {"VAULTMEM_CONFIG": "/dev/null"}).min_score == 0.5


def test_settings_nested_without_end_are_not_valid(environ: dict[str, str]) -> None:
    write(environ, "a = " + "[" * 100_000)
    with pytest.raises(ConfigError, match="not valid TOML"):
        Config.load(environ=environ)


@pytest.mark.parametrize(
    ("root", "state_dir", "reason"),
    [
        ("notes", "notes", "inside the memory root"),
        ("notes", "notes/.caches", "inside the memory root"),
        ("notes", "link/caches", "inside the memory root"),
        ("link", "notes/caches", "inside the memory root"),
        ("notes", "other/../notes/caches", "inside the memory root"),
        ("state/notes", "state", "inside the state folder"),
        ("state/dense-notes", "state", "inside the state folder"),
        ("notes/inner", "link", "inside the state folder"),
    ],
)
def test_neither_of_root_and_state_dir_lies_in_the_other(
    environ: dict[str, str], tmp_path: Path, root: str, state_dir: str, reason: str
) -> None:
    (tmp_path / "notes" / "inner").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "notes")
    with pytest.raises(ConfigError, match=reason) as refused:
        Config.load(root=tmp_path / root, state_dir=tmp_path / state_dir, environ=environ)
    assert "--state-dir" in refused.value.advice
    assert not (tmp_path / "notes" / ".caches").exists()


def test_folders_beside_each_other_may_have_names_that_begin_alike(
    environ: dict[str, str], tmp_path: Path
) -> None:
    config = Config.load(root=tmp_path / "notes", state_dir=tmp_path / "notes-state", environ=environ)
    assert config.state_dir == tmp_path / "notes-state"
