"""Hypothesis strategies over the generators: one grammar for the runner, the fuzzer and the laws.

A text is drawn through a source of random numbers that Hypothesis controls, so that it shrinks. A
session is a list of numbers, a turn each: turns leave until those are left that matter.
"""

from collections.abc import Callable
from random import Random

from hypothesis import strategies as st

from tests.gauntlet import sessions, texts


def text(make: Callable[[Random], str]) -> st.SearchStrategy[str]:
    """Texts of a kind."""
    return st.randoms(use_true_random=False).map(make)


shell_lines = text(texts.shell)
shell_scripts = text(texts.script)
search_results = text(texts.searched)
logs = text(texts.log)
test_runs = text(texts.tested)
json_texts = text(texts.values)
tables = text(texts.table)
diffs = text(texts.diff)
patches = text(texts.patch)
prose = text(texts.prose)
slash_commands = text(texts.slashed)
edits = text(texts.edited)
seeds = st.integers(0, 2**32 - 1)
outputs = seeds.map(lambda seed: texts.output(Random(seed)))
"""Long texts: drawn by a number, because Hypothesis bounds how much it draws."""
pastes = seeds.map(lambda seed: texts.pasted(Random(seed)))
turns = st.lists(seeds.map(lambda seed: sessions.turn(Random(seed))), min_size=1, max_size=6)
wires = st.sampled_from(tuple(sessions.WIRES))
message_wires = st.sampled_from(sessions.MESSAGES)
documents = st.builds(sessions.document, wires, turns)
