"""Text search in the files as they are on disk now.

ripgrep   the search by the `rg` program, and the choice of who searches
fallback  the same search by Python, where there is no `rg`
sources   the notes and their bytes, opened through no link
lines     what is looked for, and lines found → matches with the lines around them, cut to be read
"""
