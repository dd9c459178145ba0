"""The documents and forms around the code: what they point at is there, and what they promise is what is checked."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


def load(file: Path) -> Any:
    return yaml.safe_load(file.read_text("utf-8"))


@pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_a_link_in_a_document_leads_somewhere(file: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", file.read_text("utf-8"))
    lost = [each for each in targets if "://" not in each and not (file.parent / each).exists()]
    assert lost == []


def test_every_python_that_the_package_names_is_tried_on_every_system() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    matrix = load(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == named
    assert project["requires-python"] == f">={named[0]}"
    assert {system.partition("-")[0] for system in matrix["os"]} == {"ubuntu", "macos"}


def test_the_hooks_before_a_commit_use_the_tools_of_the_project() -> None:
    hooks = [hook for repo in load(ROOT / ".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]]
    assert {hook["language"] for hook in hooks} == {"system"}
    checks = re.search(r"^check:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text("utf-8"), flags=re.M)
    assert checks is not None
    for command in re.findall(r"\$\(BIN\)/([\w-]+)", checks[1]):
        assert any(hook["entry"].startswith(f".venv/bin/{command}") for hook in hooks), command


@pytest.mark.parametrize(
    "file", [each for each in FORMS if each.stem != "config"], ids=lambda file: file.stem
)
def test_a_form_for_issues_has_what_the_host_wants_of_one(file: Path) -> None:
    form = load(file)
    assert {"name", "description", "body"} <= form.keys()
    asked = [part for part in form["body"] if part["type"] != "markdown"]
    names = [part["id"] for part in asked]
    assert len(names) == len(set(names)) and all(part["attributes"]["label"] for part in asked)
    assert any(part.get("validations", {}).get("required") for part in asked)
