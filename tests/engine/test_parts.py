"""What an engine is made of, each part once."""

from __future__ import annotations

from vaultmem.config import Config
from vaultmem.engine.parts import Parts


def test_an_embedder_that_is_given_takes_the_place_of_the_settings(parts, world):
    assert parts.embedder is world.embedder
    assert (parts.chosen.engine, parts.chosen.reason) == ("hashing", "given by the caller")


def test_what_embeds_by_the_settings_is_told_with_its_reason(world):
    config = Config(world.root, world.state_dir).with_engine("none")
    made = Parts.of(config, hold=False, wake=lambda: None, is_scanning=lambda: False)
    assert made.embedder is None
    assert "switched off by the settings" in made.chosen.reason
