"""Texts → vectors, and what a model's vectors look like before they say anything.

embedder     the engines that run a model: bundled, sentence-transformers or none
calibration  the means and levels of a model, by which its cosines become comparable
cores        how many threads the libraries may take, set before they are loaded
"""
