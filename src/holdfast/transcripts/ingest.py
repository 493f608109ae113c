"""Ingest session files into a store: every byte is stored, and known lines are not added again.

Of a file that was read before, only the new lines are added; if it was rewritten from some line on,
the new lines become a branch from there. Entries that were read before are never removed.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.append import Arrival, Batch, Draft, append_arrivals
from holdfast.core.ledger.chain import meaning
from holdfast.core.ledger.entry import Derived, Entry, ToolReturned
from holdfast.core.ledger.head import UNCOUNTED, Document, Head
from holdfast.core.ledger.notes import Original, is_note, notes_in
from holdfast.core.measure.models import Model, find_model, keep_vocabulary
from holdfast.core.measure.tokens import CountTokens, count_body
from holdfast.core.plan.policy import Policy
from holdfast.engine.counts import update_counts
from holdfast.engine.never_store import NeverStoreFilter
from holdfast.engine.originals import originals_by_call, with_original
from holdfast.errors import Conflict, Erased, Unreadable
from holdfast.models.tokenizers import counter
from holdfast.stores.store import REWRITTEN, Build, Store, retry_on_conflict
from holdfast.text.jsontext import Json, as_object, encode, without_surrogates
from holdfast.text.patterns import Pattern
from holdfast.transcripts.known_lines import KnownDocument, shorten_document
from holdfast.transcripts.open import breaks_off, error_reason, open_session_file
from holdfast.transcripts.reader_state import save_reader
from holdfast.wire import claude_code, gemini, opaque_lines, opencode
from holdfast.wire.detect import MESSAGE_WIRES, TRANSCRIPT_WIRES, WIRES, could_be, fits_any
from holdfast.wire.documents import open_document
from holdfast.wire.jsonl import NOISE_BYTES
from holdfast.wire.pieces import Piece
from holdfast.wire.wire import LineReader

BATCH_BYTES = 8 * 1024 * 1024
BATCH_PIECES = 2_000
"""Most that one transaction writes; limits memory, and the work lost if the process is killed."""
WAITING_ENTRIES = 1_000
"""Entries in which an original waits for its result: the host may have been killed before it."""
NOTE_KINDS = frozenset({"noted"})
LOOKAHEAD = 200
"""Pieces that are read to find the name of the session."""

# Matches "\0", "\x08" and "\ufffd"; must not match "\t", "\n", "\x1b" or "é".
NON_TEXT = Pattern(r"[\0-\x07\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd]")
"""Characters that text does not contain; bytes that are not UTF-8 are decoded as U+FFFD."""
MAX_NON_TEXT_PERCENT = 10
"""Percentage of such characters that a damaged or wrongly encoded text may contain."""
SAMPLED_BYTES = 64 * 1024
"""Bytes of each line that are checked for such characters."""

MARK_BYTES = 256
"""Bytes of the last line that are hashed, to recognize the file the next time."""

BREAKS_OFF = "the compressed file breaks off here"

ByteProgress = Callable[[int], None]
"""Called with the number of bytes read since the last call."""


class Flaw(Struct, frozen=True):
    """A piece that could not be read completely; its bytes are stored nevertheless."""

    line: int
    reason: str
    read: bool
    """Whether some of it could be read."""


class Ingested(Struct, frozen=True):
    """The result of ingesting one file."""

    path: str
    session: str
    wire: str
    pieces: int
    """Lines or messages in the file."""
    added: int
    """Entries that were added."""
    branched: bool
    flaws: tuple[Flaw, ...] = ()


def ingest(
    path: str | os.PathLike[str],
    store: Store,
    *,
    wire: str = "",
    session: str = "",
    policy: Policy | None = None,
    progress: ByteProgress | None = None,
    again: bool = False,
    counting: bool = True,
) -> Ingested:
    """Read a session file into the store.

    A session that was purged or has expired is refused, except with `again`. Without `counting`,
    tokens are counted later, when they are needed.

    Raises:
        Unreadable: nothing in the file could be read.
        Erased: the session was purged, or has expired.
    """
    if wire and wire not in WIRES:
        raise Unreadable(str(path), f"{wire!r} is not a format; use one of {', '.join(WIRES)}")
    attempts: list[FileIngestion] = []

    def attempt() -> Ingested:
        stamp = stamp_of(Path(path))
        with open_session_file(Path(path)) as stream:
            try:
                ingestion, pieces = _begin(Path(path), stream, wire, policy or Policy())
                ingestion.again, ingestion.counting, ingestion.stamp = again, counting, stamp
                attempts.append(ingestion)
                result = ingestion.ingest_all(store, session, pieces, progress or _no_progress)
                return _add_break_flaw(result) if breaks_off(stream) else result
            except OSError as error:
                raise Unreadable(str(path), error_reason(error)) from None

    result = retry_on_conflict(session or str(path), attempt)
    return replace(result, added=sum(ingestion.added for ingestion in attempts))


def _begin(
    path: Path, stream: BinaryIO, wire: str, policy: Policy
) -> tuple["FileIngestion", Iterator[Piece]]:
    """Read the first pieces of a file, check that it can be read, and return its ingestion."""
    document = open_document(stream, wire=wire)
    rules = NeverStoreFilter(policy.never_store)
    if not rules.idle:
        _find_withheld_calls(path, wire, rules)
    head = list(islice(document.pieces, LOOKAHEAD))
    if not head and breaks_off(stream):
        raise Unreadable(str(path), BREAKS_OFF)
    _refuse_unreadable(str(path), document.wire, head)
    if not wire and document.wire == opaque_lines.NAME:
        _refuse_binary(str(path), head)
    ingestion = FileIngestion(path, document.wire, head, policy, rules)
    return ingestion, chain(_pop_each(head), document.pieces)


def _pop_each(head: list[Piece]) -> Iterator[Piece]:
    """Yield the pieces and remove them from the list, so that long pieces are freed early."""
    head.reverse()
    while head:
        yield head.pop()


def _no_progress(size: int) -> None:
    del size


def _find_withheld_calls(path: Path, wire: str, rules: NeverStoreFilter) -> None:
    """Find the calls that the rules withhold, before reading: a result may precede its call."""
    with open_session_file(path) as stream:
        for piece in open_document(stream, wire=wire).pieces:
            rules.find_calls(piece.value)


def _add_break_flaw(result: Ingested) -> Ingested:
    return replace(result, flaws=(*result.flaws, Flaw(result.pieces, BREAKS_OFF, read=True)))


def _refuse_unreadable(path: str, wire: str, head: Sequence[Piece]) -> None:
    """Refuse a file in which nothing can be read, before anything is written."""
    not_empty = [piece for piece in head if piece.raw.strip(NOISE_BYTES)]
    if not not_empty:
        raise Unreadable(path, "it is empty")
    values = [piece.value for piece in not_empty if piece.value is not None]
    if wire == opaque_lines.NAME or (len(head) == LOOKAHEAD and not values):
        return
    if not values:
        raise Unreadable(
            path, not_empty[0].flaw or "nothing in it can be read", line=not_empty[0].line
        )
    if not fits_any(wire, values):
        raise Unreadable(path, f"nothing in it has the format {wire}")


def _refuse_binary(path: str, head: Sequence[Piece]) -> None:
    """Refuse a file of an unknown format that is not text, such as an image.

    Raises:
        Unreadable: the file is not text.
    """
    text = b"\n".join(piece.raw[:SAMPLED_BYTES] for piece in head).decode("utf-8", "replace")
    non_text = len(NON_TEXT.findall(text))
    if non_text * 100 > len(text) * MAX_NON_TEXT_PERCENT:
        raise Unreadable(path, "it is not a session file: its content is not text")


def _refuse_erased(store: Store, session: str) -> None:
    """Refuse an erased session, as reading its file again would bring it back."""
    tombstones = [
        tombstone for tombstone in store.tombstones(session) if tombstone.reason != REWRITTEN
    ]
    if tombstones:
        last = max(tombstones, key=lambda tombstone: tombstone.at)
        size = sum(tombstone.size for tombstone in tombstones)
        raise Erased("session", session, reason=last.reason, size=size, at=last.at)


class FileIngestion:
    """The ingestion of one file."""

    def __init__(
        self,
        path: Path,
        wire: str,
        head: Sequence[Piece],
        policy: Policy,
        rules: NeverStoreFilter,
        source: str | None = None,
        reader: LineReader | None = None,
    ) -> None:
        self.path, self.wire, self.head, self.policy = path, wire, head, policy
        self.source = self._source_of_path() if source is None else source
        self.origin = sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:16]
        self.withholder = rules
        self.reader = reader
        if reader is None and wire in TRANSCRIPT_WIRES:
            self.reader = TRANSCRIPT_WIRES[wire].Reader()
        self.flaws: list[Flaw] = []
        self.stamp = ""
        """The stamp of the file before it was read: see `stamp_of`."""
        self.again = False
        """Whether a session that was erased may be read again."""
        self.counting = True
        """Whether tokens are counted while the file is read; if not, they are counted later."""
        self.pieces = self.total = self.added = self.line = 0
        self.vocabulary = find_model(policy.model).vocabulary
        """The vocabulary that the session is counted in."""
        self.read_bytes = self.settled_bytes = 0
        """Bytes read, and the offset up to which the file will not change."""
        self.last_line = b""
        self.originals: dict[tuple[str, str], Original] = {}
        self.looked = 0
        """The number of the last entry among which originals were looked for."""
        self.used: set[tuple[str, str]] = set()
        """Agent and call of the originals whose results this file brought."""
        self.sightings = 0
        """Expected number of sightings of the document; differs if another process adds some."""

    def ingest_all(
        self, store: Store, session: str, pieces: Iterable[Piece], progress: ByteProgress
    ) -> Ingested:
        """Ingest the whole file.

        Raises:
            Unreadable: the name cannot be stored, or the session has another wire.
            Erased: the session was purged, or has expired.
        """
        name = session or self._session_name(store)
        if without_surrogates(name) != name:
            raise Unreadable(
                "name", f"{without_surrogates(name)!r} contains characters that cannot be encoded"
            )
        # A session that has only notes, such as of a new prompt, has no documents either.
        if not self.again and not (store.head(name) or Head()).documents:
            _refuse_erased(store, name)
        self.wire = self._choose_wire(store, name)
        self.source = self.source or self._source_of_second_file(store, name)
        head = store.head(name)
        self.sightings = (head or Head()).documents.get(self.source, Document()).seen
        self.vocabulary = self._vocabulary_for(head or Head())
        if head is not None:
            self._learn(store, name, 0)
        known = KnownDocument(store, name, self.source)
        rest = known.skip_known(self._arrivals(pieces, progress))
        self._write_all(store, name, rest, known)
        if known.diverged:
            self._append(store, name, shorten_document(self.source, self.total))
        self._save_position(store, name)
        if self.counting:
            update_counts(store, name, self._model())
        return self._result(name, branched=known.diverged)

    def ingest_new(
        self, store: Store, name: str, pieces: Iterable[Piece], known: Document
    ) -> Ingested:
        """Ingest the lines that were added since the file was last read to its end."""
        self.total, self.read_bytes, self.sightings = known.length - 1, known.offset, known.seen
        self.vocabulary = self._vocabulary_for(store.head(name) or Head())
        self._learn(store, name, known.upto)
        self._write_all(
            store,
            name,
            self._arrivals(pieces, _no_progress),
            KnownDocument(store, name, self.source),
        )
        self._save_position(store, name)
        return self._result(name)

    def _learn(self, store: Store, name: str, since: int) -> None:
        """Remember the withheld calls and the originals among the stored entries."""
        self.looked = (store.head(name) or Head()).seq
        if not self.withholder.idle:
            # A result to withhold may belong to a call that was read long before.
            self.withholder.remember(store.read(name))
        self.originals = originals_by_call(_originals_since(store, name, since))

    def _refuse_outdated(self, store: Store, name: str) -> None:
        """Refuse to write lines that were read before a hook stored the original of a result.

        Raises:
            Conflict: a hook stored one since; its result may be among the lines.
        """
        if originals_by_call(_originals_since(store, name, self.looked)).keys() - self.originals:
            found = (store.head(name) or Head()).seq
            raise Conflict(name, expected=self.looked, found=found)

    def _next_look(self, store: Store, name: str) -> int:
        """Return the number after which the next call looks for originals.

        The result of an original may come with a later line.
        """
        upto = (store.head(name) or Head()).seq
        since = self.looked - WAITING_ENTRIES
        waiting = [
            entry.seq
            for entry, original in notes_in(_originals_since(store, name, since), Original)
            if (entry.lane, original.call) not in self.used
        ]
        return min((seq - 1 for seq in waiting), default=upto)

    def _save_position(self, store: Store, name: str) -> None:
        """Save how far a file was read, so that the next call continues there."""
        if self.reader is None:
            return
        upto = self._next_look(store, name)

        def build(head: Head) -> Batch:
            known = head.documents.get(self.source)
            if known is None:
                return Batch(head)
            marked = replace(
                known,
                path=str(self.path.absolute()),
                offset=self.settled_bytes,
                stamp=self.stamp,
                mark=sha256(self.last_line[-MARK_BYTES:]).hexdigest()[:16]
                if self.settled_bytes
                else "",
                upto=upto,
            )
            return Batch(replace(head, documents={**head.documents, self.source: marked}))

        head = self._append(store, name, build).head
        if isinstance(self.reader, gemini.Reader | opencode.Reader):
            save_reader(store, name, self.source, head, self.reader)

    def _append(self, store: Store, name: str, build: Build) -> Batch:
        """Append to the session, unless another process has added lines of the same file.

        Raises:
            Conflict: it has; its lines have to be read first.
        """

        def unless_overtaken(head: Head) -> Batch:
            sightings = head.documents.get(self.source, Document()).seen
            if sightings != self.sightings:
                raise Conflict(name, expected=self.sightings, found=sightings)
            return build(head)

        self._refuse_outdated(store, name)
        batch = store.append(name, unless_overtaken)
        self.sightings = batch.head.documents.get(self.source, Document()).seen
        return batch

    def _result(self, name: str, *, branched: bool = False) -> Ingested:
        return Ingested(
            path=str(without_surrogates(str(self.path))),
            session=name,
            wire=self.wire,
            pieces=self.pieces,
            added=self.added,
            branched=branched,
            flaws=tuple(self.flaws),
        )

    def _source_of_second_file(self, store: Store, name: str) -> str:
        """Return a source name for a second file of the same chat, so that it is no rewrite."""
        known = (store.head(name) or Head()).documents.get("")
        if self.wire != gemini.NAME or known is None or known.origin == self.origin:
            return ""
        return "" if self._continues(store, name) else stem_of(self.path)

    def _choose_wire(self, store: Store, name: str) -> str:
        """Return the wire to read the file in: that of the session, if it fits.

        Raises:
            Unreadable: the session has another wire, which does not fit.
        """
        known = (store.head(name) or Head()).wire
        if known in ("", opaque_lines.NAME, self.wire):
            return self.wire
        values = [piece.value for piece in self.head if piece.value is not None]
        if known in MESSAGE_WIRES and self.wire in MESSAGE_WIRES and could_be(known, values):
            return known
        reason = f"session {name!r} holds {known}, and this is {self.wire}"
        raise Unreadable(str(self.path), reason)

    def _model(self) -> Model | None:
        return find_model(self.policy.model) if self.policy.model else None

    def _source_of_path(self) -> str:
        """Return the name of the document in its session; empty for the main document."""
        if self.wire != claude_code.NAME:
            return ""
        values = (piece.value for piece in self.head if piece.value is not None)
        answers = (claude_code.is_of_sub_agent(value) for value in values)
        return (
            stem_of(self.path)
            if next((answer for answer in answers if answer is not None), None)
            else ""
        )

    def _session_name(self, store: Store) -> str:
        if self.reader is not None:
            wire = TRANSCRIPT_WIRES[self.wire]
            values = (piece.value for piece in self.head if piece.value is not None)
            name_in_file = next((name for value in values if (name := wire.session_of(value))), "")
            if name_in_file:
                return name_in_file
        stem = stem_of(self.path)
        known = (store.head(stem) or Head()).documents.get("")
        if known is None or known.origin == self.origin or self._continues(store, stem):
            return stem
        # Another file of the same name was read before; the two must not become one session.
        return f"{stem}-{self.origin[:8]}"

    def _continues(self, store: Store, session: str) -> bool:
        """Return whether this file begins with the known lines of a session."""
        pairs = zip(store.sightings(session), self.head, strict=False)
        return all(
            not sighting.first or sighting.raw == self._without_withheld(piece)[0]
            for sighting, piece in pairs
        )

    def _arrivals(self, pieces: Iterable[Piece], progress: ByteProgress) -> Iterator[Arrival]:
        for piece in pieces:
            self._record_piece(piece, progress)
            raw, lead, drafts = self._read_piece(piece, self.total)
            taken = [Arrival(raw, drafts, lead, self.source, self.total)]
            self.total += 1
            # Keep no reference to the arrival while suspended, so that a long line is freed.
            del piece, raw
            yield taken.pop()

    def _record_piece(self, piece: Piece, progress: ByteProgress) -> None:
        """Count a piece, report progress, and record its flaw."""
        self.line = piece.line or self.line + 1
        self.pieces += bool(piece.raw)
        progress(len(piece.raw) + len(piece.lead))
        # A line is settled when its line end has been read, or the next line has begun.
        self.settled_bytes = self.read_bytes if not piece.raw and piece.lead == b"\n" else 0
        self.read_bytes += len(piece.raw) + len(piece.lead)
        self.last_line = piece.raw or self.last_line
        if piece.flaw:
            read = piece.noise or piece.value is not None
            self.flaws.append(Flaw(self.line, piece.flaw, read))

    def _read_piece(self, piece: Piece, pos: int) -> tuple[bytes, bytes, tuple[Draft, ...]]:
        """Return the stored bytes and lead of a piece, and its drafts."""
        raw, value = self._without_withheld(piece)
        lead = piece.lead if self.withholder.idle else self.withholder.scrub(piece.lead)
        if self.wire == opaque_lines.NAME:
            return raw, lead, opaque_lines.read_line(raw)
        if value is None:
            return raw, lead, ()
        if self.reader is not None:
            drafts = self.reader.read(value, pos)
            self.used.update(
                (draft.lane, draft.body.call)
                for draft in drafts
                if isinstance(draft.body, ToolReturned)
            )
            return (
                raw,
                lead,
                tuple(with_original(draft, self.originals, self._count) for draft in drafts),
            )
        return raw, lead, tuple(Draft(body) for body in MESSAGE_WIRES[self.wire].read(value))

    def _count(self, text: str) -> int:
        return counter(self.vocabulary)(text)

    def _vocabulary_for(self, head: Head) -> str:
        return keep_vocabulary(find_model(self.policy.model or head.model), head).vocabulary

    def _without_withheld(self, piece: Piece) -> tuple[bytes, dict[str, Json] | None]:
        """Return the bytes and value of a piece without the content that the rules withhold."""
        if self.withholder.idle:
            return piece.raw, piece.value
        scrubbed = self.withholder.scrub(piece.raw)
        if piece.value is None:
            return scrubbed, None
        value = as_object(self.withholder.apply(piece.value))
        # The bytes may hold more than the value, such as a member that occurs twice.
        unchanged = value is piece.value and scrubbed == piece.raw
        return piece.raw if unchanged else encode(value), value

    def _write_all(
        self, store: Store, name: str, arrivals: Iterable[Arrival], known: KnownDocument
    ) -> None:
        count = counter(self.vocabulary) if self.counting else None
        for batch in _batches(arrivals):
            counted = [_count_arrival(arrival, count) for arrival in batch]
            self._write_batch(store, name, counted, known)

    def _write_batch(
        self, store: Store, name: str, arrivals: Sequence[Arrival], known: KnownDocument
    ) -> None:
        vocabulary = self.vocabulary

        def build(head: Head) -> Batch:
            stamped = replace(head, wire=self.wire, vocabulary=vocabulary)
            usable = not head.vocabulary or head.vocabulary == vocabulary
            stamped = stamped if usable else replace(stamped, stale=True)
            batch = append_arrivals(
                known.rewind_head(stamped),
                arrivals,
                entries_at=known.entries_at,
                find_seq=known.number_of,
                is_noted=known.has_note,
            )
            return _with_origin(batch, self.source, self.origin)

        batch = self._append(store, name, build)
        known.mark_written()
        self.added += len(batch.entries)


def _originals_since(store: Store, session: str, since: int) -> list[Entry]:
    """Return the notes after entry `since` that store originals."""
    notes = store.events(session, since=max(since, 0), kinds=NOTE_KINDS)
    return [entry for entry in notes if is_note(entry.body, Original)]


def stamp_of(path: Path) -> str:
    """Return inode, size and time of a file; if they are unchanged, the file has no new lines."""
    try:
        info = path.stat()
    except (OSError, ValueError):  # it is in a database, was deleted, or is not a valid path
        return ""
    return f"{info.st_ino:x}-{info.st_size:x}-{info.st_mtime_ns:x}"


def stem_of(path: Path) -> str:
    """Return the name of a file without its ending."""
    name = path.name.removesuffix(".gz")
    plain = name.removesuffix(".jsonl").removesuffix(".json") or path.name
    return str(without_surrogates(plain))


def _count_arrival(arrival: Arrival, count: CountTokens | None) -> Arrival:
    return replace(arrival, drafts=tuple(_count_draft(d, count) for d in arrival.drafts))


def _count_draft(draft: Draft, count: CountTokens | None) -> Draft:
    if isinstance(draft.body, Derived):
        return draft
    tokens = count_body(draft.body, count) if count is not None else UNCOUNTED
    return replace(draft, meant=meaning(draft.body), tokens=tokens)


def _batches(arrivals: Iterable[Arrival]) -> Iterator[list[Arrival]]:
    batch: list[Arrival] = []
    size = 0
    for arrival in arrivals:
        batch.append(arrival)
        size += len(arrival.raw)
        if size >= BATCH_BYTES or len(batch) >= BATCH_PIECES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _with_origin(batch: Batch, source: str, origin: str) -> Batch:
    # The offset is set only when the whole file was read: another process, or a call after a kill,
    # compares line by line until then.
    document = replace(batch.head.documents[source], origin=origin, offset=0, stamp="")
    documents = {**batch.head.documents, source: document}
    return replace(batch, head=replace(batch.head, documents=documents))
