"""What an open engine is made of, each part once: whatever looks after one of its jobs is handed these."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from vaultmem.config import Config
from vaultmem.embedding.embedder import Embedder, EngineChosen, describe_choice, open_embedder
from vaultmem.engine.keeper import Keeper
from vaultmem.engine.subscribers import Subscribers
from vaultmem.files.vault import Vault
from vaultmem.stores.access import Access


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The parts of one open engine. Safe to use from threads."""

    config: Config
    embedder: Embedder | None
    chosen: EngineChosen
    """What embeds here, and why."""
    vault: Vault
    access: Access
    subscribers: Subscribers
    keeper: Keeper

    @classmethod
    def of(
        cls,
        config: Config,
        given: Embedder | None = None,
        *,
        hold: bool,
        wake: Callable[[], None],
        is_scanning: Callable[[], bool],
    ) -> Self:
        """Make the parts; `given` embeds in place of what the settings lead to. The rest is told to the keeper.

        Raises EmbedderError.
        """
        embedder, chosen = _embedder(config, given)
        vault = Vault(config.root, config.first_advice)
        access, subscribers = Access(config.state_dir, hold=hold), Subscribers()
        keeper = Keeper(
            vault,
            access,
            embedder,
            subscribers,
            wake=wake,
            is_scanning=is_scanning,
            dirty_check_s=config.dirty_check_s,
        )
        return cls(config, embedder, chosen, vault, access, subscribers, keeper)


def _embedder(config: Config, given: Embedder | None) -> tuple[Embedder | None, EngineChosen]:
    if given is not None:
        return given, EngineChosen(given.engine, given.model, "given by the caller")
    opened = open_embedder(
        config.engine,
        model=config.model,
        query_prompt=config.query_prompt,
        passage_prompt=config.passage_prompt,
        threads=config.threads,
    )
    return opened, describe_choice(config.engine, config.model)
