"""Rules about plain text, whoever wrote it. Pure: text in, value out.

amounts     numbers as people read them
cuts        where a long text may be cut without harm to a letter or a sentence
folding     text in one spelling
languages   Chinese, English or other
logs        what is logged, told harmlessly
moments     now, and a moment as text
shown       text made safe to show, cut to a width
terms       text → lexical terms, and the words that say nothing
visible     what of a text is seen: emoji as their sequences, letters with their marks
"""
