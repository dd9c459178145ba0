"""The scores as a picture."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.evaluation.known import golden, measured
from vaultmem.errors import UsageError
from vaultmem.evaluation.figures import Threshold
from vaultmem.evaluation.histogram import histogram_svg, save_histogram
from vaultmem.evaluation.report import score_bins

SVG = "{http://www.w3.org/2000/svg}"


def test_the_histogram_is_an_svg_picture_with_a_bar_for_each_bin_that_holds_something() -> None:
    evaluation = measured()
    picture = ElementTree.fromstring(histogram_svg(evaluation))
    bars = [rect for rect in picture.iter(f"{SVG}rect") if rect.find(f"{SVG}title") is not None]
    assert [bar.findtext(f"{SVG}title") for bar in bars] == [
        f"{count}" for counts in score_bins(evaluation) for count in counts if count
    ]
    words = {text.text for text in picture.iter(f"{SVG}text")}
    assert {"relevant memories", "best for an off-topic prompt", "threshold 0.50", "score"} <= words


def test_a_histogram_without_a_query_and_without_a_threshold_can_be_drawn() -> None:
    evaluation = measured(golden_set=golden(positives=12, negatives=12))
    none = dataclasses.replace(
        evaluation, answers=(), threshold=Threshold(0.5, None, math.nan, math.nan, None, "")
    )
    words = {text.text for text in ElementTree.fromstring(histogram_svg(none)).iter(f"{SVG}text")}
    assert "none is advised" in words


def test_a_histogram_is_kept_where_it_can_be(tmp_path: Path) -> None:
    save_histogram(measured(), tmp_path / "scores.SVG")
    assert (tmp_path / "scores.SVG").read_text("utf-8") == histogram_svg(measured())
    with pytest.raises(UsageError, match="there is no folder"):
        save_histogram(measured(), tmp_path / "no folder" / "scores.svg")
    for name in ("scores.png", "scores", ""):
        with pytest.raises(UsageError, match="is an SVG picture"):
            save_histogram(measured(), tmp_path / name)
