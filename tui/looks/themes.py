"""Two themes of our own beside Textual's: quiet grounds, one accent, colours that differ in lightness too."""

from __future__ import annotations

from textual.theme import Theme

from tui.looks.preferences import DARK, LIGHT

THEMES = (
    Theme(
        name=DARK,
        primary="#7aa2c9",
        secondary="#8f9ac6",
        accent="#d9a56b",
        warning="#e0b15e",
        error="#e07a7a",
        success="#86b98a",
        foreground="#d5d9e0",
        background="#14171c",
        surface="#1a1e25",
        panel="#222731",
        dark=True,
        variables={
            "block-cursor-background": "#2f3a49",
            "block-cursor-foreground": "#f2f4f7",
            "block-cursor-text-style": "bold",
            "block-cursor-blurred-background": "#262c36",
            "border": "#7aa2c9",
            "border-blurred": "#333a46",
            "footer-background": "#14171c",
            "footer-key-foreground": "#d9a56b",
            "input-selection-background": "#7aa2c9 35%",
            "scrollbar": "#333a46",
            "scrollbar-hover": "#465060",
            "scrollbar-active": "#7aa2c9",
            "scrollbar-background": "#14171c",
            "scrollbar-background-hover": "#14171c",
            "scrollbar-background-active": "#14171c",
            "scrollbar-corner-color": "#14171c",
        },
    ),
    Theme(
        name=LIGHT,
        primary="#2f6690",
        secondary="#5b5f97",
        accent="#a4581b",
        warning="#8a5a00",
        error="#b3372f",
        success="#2e7038",
        foreground="#23272e",
        background="#faf8f4",
        surface="#f2efe9",
        panel="#e8e4dc",
        dark=False,
        variables={
            "block-cursor-background": "#d5e1ec",
            "block-cursor-foreground": "#14171c",
            "block-cursor-text-style": "bold",
            "block-cursor-blurred-background": "#e6e6e4",
            "border": "#2f6690",
            "border-blurred": "#d3cec4",
            "footer-background": "#faf8f4",
            "footer-key-foreground": "#a4581b",
            "input-selection-background": "#2f6690 30%",
            "scrollbar": "#d3cec4",
            "scrollbar-hover": "#bdb7ab",
            "scrollbar-active": "#2f6690",
            "scrollbar-background": "#faf8f4",
            "scrollbar-background-hover": "#faf8f4",
            "scrollbar-background-active": "#faf8f4",
            "scrollbar-corner-color": "#faf8f4",
        },
    ),
)
