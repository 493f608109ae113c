"""Reading sessions that agents wrote to disk: every byte is kept, and what is known is not added.

A file that was read before adds its tail; one that was rewritten from some line on becomes a
branch from there. Nothing of what was read before goes away.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from holdfast.core.ledger.append import Arrival, Batch, Draft, arrive
from holdfast.core.ledger.chain import meaning
from holdfast.core.ledger.entry import Derived, Entry
from holdfast.core.ledger.head import UNCOUNTED, Document, Head
from holdfast.core.measure.models import Model, counted_as, find
from holdfast.core.measure.tokens import CountTokens, count_body
from holdfast.core.plan.policy import Policy
from holdfast.engine.counts import settle
from holdfast.engine.never_store import Withholder
from holdfast.engine.originals import by_call, is_original, met
from holdfast.errors import Conflict, Erased, Unreadable
from holdfast.models.tokenizers import counter
from holdfast.stores.store import REWRITTEN, Build, Store, retried
from holdfast.text.jsontext import Json, as_object, cleaned, encode
from holdfast.transcripts.known_lines import Seen, shortened
from holdfast.transcripts.open import is_broken, opened, reason_of
from holdfast.transcripts.reader_state import keep_reader
from holdfast.wire import claude_code, gemini, opaque_lines, opencode
from holdfast.wire.detect import MESSAGE_WIRES, TRANSCRIPT_WIRES, WIRES, anything_fits, could_be
from holdfast.wire.documents import open_document
from holdfast.wire.jsonl import NOISE
from holdfast.wire.pieces import Piece
from holdfast.wire.wire import LineReader

BATCH_BYTES = 8 * 1024 * 1024
BATCH_PIECES = 2_000
"""What one transaction writes at the most: bounds memory, and what a kill makes us read again."""
LOOKAHEAD = 200
"""Pieces read before the session has to have a name."""

NO_TEXT = re.compile(r"[\0-\x07\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd]")
"""Characters that no text holds; U+FFFD is what became of bytes that are not UTF-8."""
MOST_ODD = 10
"""Percent of such characters that a damaged or wrongly encoded text may still hold."""
TASTED = 64 * 1024
"""Bytes of each line that are looked at for that."""

MARKED = 256
"""Bytes of a file's last line by which it is known again."""

BREAK = "the compressed file breaks off here"

Progress = Callable[[int], None]
"""Told how many bytes were read since it was last told."""


class Flaw(Struct, frozen=True):
    """A piece that could not be read as it should; its bytes are kept all the same."""

    line: int
    reason: str
    read: bool
    """Whether something could be made of it."""


class Ingested(Struct, frozen=True):
    """What reading one file did."""

    path: str
    session: str
    wire: str
    pieces: int
    """Lines or messages in the file."""
    added: int
    """Entries that were not known."""
    branched: bool
    flaws: tuple[Flaw, ...] = ()


def ingest(
    path: str | os.PathLike[str],
    store: Store,
    *,
    wire: str = "",
    session: str = "",
    policy: Policy | None = None,
    progress: Progress | None = None,
    again: bool = False,
    counting: bool = True,
) -> Ingested:
    """Read a session file into the store.

    What was purged or has expired stays away, unless it is to be read `again`. Without `counting`,
    whoever needs to know how large it is counts.

    Raises:
        Unreadable: nothing in it could be read.
        Erased: its session was purged, or expired.
    """
    if wire and wire not in WIRES:
        raise Unreadable(str(path), f"{wire!r} is no format; choose one of {', '.join(WIRES)}")
    tries: list[Reading] = []

    def attempt() -> Ingested:
        stamp = stamp_of(Path(path))
        with opened(Path(path)) as stream:
            try:
                reading, pieces = _begun(Path(path), stream, wire, policy or Policy())
                reading.again, reading.counts, reading.stamp = again, counting, stamp
                tries.append(reading)
                done = reading.into(store, session, pieces, progress or _silent)
                return _with_break(done) if is_broken(stream) else done
            except OSError as error:
                raise Unreadable(str(path), reason_of(error)) from None

    done = retried(session or str(path), attempt)
    return replace(done, added=sum(reading.added for reading in tries))


def _begun(
    path: Path, stream: BinaryIO, wire: str, policy: Policy
) -> tuple["Reading", Iterator[Piece]]:
    """The reading of a file of which enough was seen to know that it can be read."""
    document = open_document(stream, wire=wire)
    rules = Withholder(policy.never_store)
    if not rules.idle:
        _foresee(path, wire, rules)
    head = list(islice(document.pieces, LOOKAHEAD))
    if not head and is_broken(stream):
        raise Unreadable(str(path), BREAK)
    _refuse_hopeless(str(path), document.wire, head)
    if not wire and document.wire == opaque_lines.NAME:
        _refuse_binary(str(path), head)
    reading = Reading(path, document.wire, head, policy, rules)
    return reading, chain(_drained(head), document.pieces)


def _drained(head: list[Piece]) -> Iterator[Piece]:
    """Pieces given away one by one: the longest ones need not be kept."""
    head.reverse()
    while head:
        yield head.pop()


def _silent(size: int) -> None:
    del size


def _foresee(path: Path, wire: str, rules: Withholder) -> None:
    """Find the calls that the rules hit first: a result may stand before its call."""
    with opened(path) as stream:
        for piece in open_document(stream, wire=wire).pieces:
            rules.find_calls(piece.value)


def _with_break(done: Ingested) -> Ingested:
    return replace(done, flaws=(*done.flaws, Flaw(done.pieces, BREAK, read=True)))


def _refuse_hopeless(path: str, wire: str, head: Sequence[Piece]) -> None:
    """Stop before anything is written when nothing here can be read."""
    filled = [piece for piece in head if piece.raw.strip(NOISE)]
    if not filled:
        raise Unreadable(path, "it is empty")
    values = [piece.value for piece in filled if piece.value is not None]
    if wire == opaque_lines.NAME or (len(head) == LOOKAHEAD and not values):
        return
    if not values:
        raise Unreadable(path, filled[0].flaw or "nothing in it can be read", line=filled[0].line)
    if not anything_fits(wire, values):
        raise Unreadable(path, f"nothing in it is {wire}")


def _refuse_binary(path: str, head: Sequence[Piece]) -> None:
    """Refuse a file of no known format that is not even text, such as an image.

    Raises:
        Unreadable: it is not text.
    """
    text = b"\n".join(piece.raw[:TASTED] for piece in head).decode("utf-8", "replace")
    odd = len(NO_TEXT.findall(text))
    if odd * 100 > len(text) * MOST_ODD:
        raise Unreadable(path, "it is not a session: what it holds is not text")


def _refuse_erased(store: Store, session: str) -> None:
    """Stop before what was let go of comes back, as it would each time that a file is read."""
    stones = [one for one in store.tombstones(session) if one.reason != REWRITTEN]
    if stones:
        last = max(stones, key=lambda one: one.at)
        size = sum(one.size for one in stones)
        raise Erased("session", session, reason=last.reason, size=size, at=last.at)


class Reading:
    """The reading of one file."""

    def __init__(
        self,
        path: Path,
        wire: str,
        head: Sequence[Piece],
        policy: Policy,
        rules: Withholder,
        source: str | None = None,
        reader: LineReader | None = None,
    ) -> None:
        self.path, self.wire, self.head, self.policy = path, wire, head, policy
        self.source = self._source() if source is None else source
        self.origin = sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:16]
        self.withholder = rules
        self.transcript = reader
        if reader is None and wire in TRANSCRIPT_WIRES:
            self.transcript = TRANSCRIPT_WIRES[wire].Reader()
        self.flaws: list[Flaw] = []
        self.stamp = ""
        """What the file looked like before it was read."""
        self.again = False
        """Whether a session is read that was erased before."""
        self.counts = True
        """Whether tokens are counted as it is read: that can wait."""
        self.pieces = self.total = self.added = self.line = 0
        self.vocabulary = find(policy.model).vocabulary
        """The vocabulary that the session is counted in."""
        self.bytes = self.settled = 0
        """Bytes read, and those up to which the file will not change any more."""
        self.last = b""
        self.originals: dict[tuple[str, str], Entry] = {}
        self.seen = 0
        """Sightings of the document that are ours or were there: others may be reading it too."""

    def into(
        self, store: Store, session: str, pieces: Iterable[Piece], progress: Progress
    ) -> Ingested:
        """Read all of it."""
        name = session or self._name(store)
        if cleaned(name) != name:
            raise Unreadable("name", f"{cleaned(name)!r} holds what no text can hold")
        # A note, of a prompt that was just typed, makes a session anew and brings nothing back.
        if not self.again and not (store.head(name) or Head()).documents:
            _refuse_erased(store, name)
        self.wire = self._settled_wire(store, name)
        self.source = self.source or self._another(store, name)
        stood = store.head(name)
        self.seen = (stood or Head()).documents.get(self.source, Document()).seen
        self.vocabulary = self._vocabulary(stood or Head())
        if stood is not None:
            self._recall(store.read(name))
        known = Seen(store, name, self.source)
        rest = known.skip(self._arrivals(pieces, progress))
        self._write_all(store, name, rest, known)
        if known.diverged:
            self._append(store, name, shortened(self.source, self.total))
        self._mark(store, name)
        if self.counts:
            settle(store, name, self._model())
        return self._done(name, branched=known.diverged)

    def on(self, store: Store, name: str, pieces: Iterable[Piece], known: Document) -> Ingested:
        """Read what came since a file was last read to its end, by who remembers what was."""
        self.total, self.bytes, self.seen = known.length - 1, known.offset, known.seen
        self.vocabulary = self._vocabulary(store.head(name) or Head())
        # What must not be stored may answer a call that was read the time before, or long ago.
        self._recall(store.read(name, since=known.upto if self.withholder.idle else 0))
        self._write_all(
            store, name, self._arrivals(pieces, _silent), Seen(store, name, self.source)
        )
        self._mark(store, name)
        return self._done(name)

    def _recall(self, entries: Iterable[Entry]) -> None:
        """Learn from what is stored what the lines to come have to meet."""
        known = [entry for entry in entries if not self.withholder.idle or is_original(entry)]
        self.withholder.remember(known)
        self.originals = by_call(known)

    def _mark(self, store: Store, name: str) -> None:
        """Keep how far a file was read, so that the next time begins there."""
        if self.transcript is None:
            return

        def build(head: Head) -> Batch:
            known = head.documents.get(self.source)
            if known is None:
                return Batch(head)
            marked = replace(
                known,
                path=str(self.path.absolute()),
                offset=self.settled,
                stamp=self.stamp,
                mark=sha256(self.last[-MARKED:]).hexdigest()[:16] if self.settled else "",
                upto=head.seq,
            )
            return Batch(replace(head, documents={**head.documents, self.source: marked}))

        head = self._append(store, name, build).head
        if isinstance(self.transcript, gemini.Reader | opencode.Reader):
            keep_reader(store, name, self.source, head, self.transcript)

    def _append(self, store: Store, name: str, build: Build) -> Batch:
        """Write, unless somebody else has read more of the same file in the meantime.

        Raises:
            Conflict: somebody has; what is theirs has to be read before going on.
        """

        def unless_overtaken(head: Head) -> Batch:
            seen = head.documents.get(self.source, Document()).seen
            if seen != self.seen:
                raise Conflict(name, expected=self.seen, found=seen)
            return build(head)

        batch = store.append(name, unless_overtaken)
        self.seen = batch.head.documents.get(self.source, Document()).seen
        return batch

    def _done(self, name: str, *, branched: bool = False) -> Ingested:
        return Ingested(
            path=str(cleaned(str(self.path))),
            session=name,
            wire=self.wire,
            pieces=self.pieces,
            added=self.added,
            branched=branched,
            flaws=tuple(self.flaws),
        )

    def _another(self, store: Store, name: str) -> str:
        """What a second file of the same chat is called, so that it takes nothing back."""
        known = (store.head(name) or Head()).documents.get("")
        if self.wire != gemini.NAME or known is None or known.origin == self.origin:
            return ""
        return "" if self._continues(store, name) else stem_of(self.path)

    def _settled_wire(self, store: Store, name: str) -> str:
        """The wire to read in: the session's, where that is possible.

        Raises:
            Unreadable: the session holds another.
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
        return find(self.policy.model) if self.policy.model else None

    def _source(self) -> str:
        """The document's name inside its session: empty for the main one."""
        if self.wire != claude_code.NAME:
            return ""
        values = (piece.value for piece in self.head if piece.value is not None)
        told = (claude_code.is_sub_agents(value) for value in values)
        return stem_of(self.path) if next((told for told in told if told is not None), None) else ""

    def _name(self, store: Store) -> str:
        if self.transcript is not None:
            wire = TRANSCRIPT_WIRES[self.wire]
            values = (piece.value for piece in self.head if piece.value is not None)
            named = next((name for value in values if (name := wire.session_of(value))), "")
            if named:
                return named
        stem = stem_of(self.path)
        known = (store.head(stem) or Head()).documents.get("")
        if known is None or known.origin == self.origin or self._continues(store, stem):
            return stem
        # Another file of the same name was read before: they must not become one session.
        return f"{stem}-{self.origin[:8]}"

    def _continues(self, store: Store, session: str) -> bool:
        """Whether this file is the one known under a name, or what became of it."""
        pairs = zip(store.sightings(session), self.head, strict=False)
        return all(not seen.first or seen.raw == self._stored(piece)[0] for seen, piece in pairs)

    def _arrivals(self, pieces: Iterable[Piece], progress: Progress) -> Iterator[Arrival]:
        for piece in pieces:
            self._watch(piece, progress)
            raw, lead, drafts = self._read(piece, self.total)
            given = [Arrival(raw, drafts, lead, self.source, self.total)]
            self.total += 1
            # Given away, not kept: what was read from the longest lines is no longer needed.
            del piece, raw
            yield given.pop()

    def _watch(self, piece: Piece, progress: Progress) -> None:
        """Write down what is wrong with a piece as it passes."""
        self.line = piece.line or self.line + 1
        self.pieces += bool(piece.raw)
        progress(len(piece.raw) + len(piece.lead))
        # A line is settled once the next one has begun, or its end of line is there.
        self.settled = self.bytes if not piece.raw and piece.lead == b"\n" else 0
        self.bytes += len(piece.raw) + len(piece.lead)
        self.last = piece.raw or self.last
        if piece.flaw:
            read = piece.noise or piece.value is not None
            self.flaws.append(Flaw(self.line, piece.flaw, read))

    def _read(self, piece: Piece, pos: int) -> tuple[bytes, bytes, tuple[Draft, ...]]:
        """A piece as it is stored, and what it holds."""
        raw, value = self._stored(piece)
        lead = piece.lead if self.withholder.idle else self.withholder.scrub(piece.lead)
        if self.wire == opaque_lines.NAME:
            return raw, lead, opaque_lines.read_line(raw)
        if value is None:
            return raw, lead, ()
        if self.transcript is not None:
            read = self.transcript.read(value, pos)
            return raw, lead, tuple(met(draft, self.originals, self._count) for draft in read)
        return raw, lead, tuple(Draft(body) for body in MESSAGE_WIRES[self.wire].read(value))

    def _count(self, text: str) -> int:
        return counter(self.vocabulary)(text)

    def _vocabulary(self, head: Head) -> str:
        return counted_as(find(self.policy.model or head.model), head).vocabulary

    def _stored(self, piece: Piece) -> tuple[bytes, dict[str, Json] | None]:
        """A piece less what the rules keep out."""
        if self.withholder.idle:
            return piece.raw, piece.value
        scrubbed = self.withholder.scrub(piece.raw)
        if piece.value is None:
            return scrubbed, None
        value = as_object(self.withholder.apply(piece.value))
        # Bytes may hold more than the value they are read as: a member that is there twice.
        whole = value is piece.value and scrubbed == piece.raw
        return piece.raw if whole else encode(value), value

    def _write_all(self, store: Store, name: str, arrivals: Iterable[Arrival], known: Seen) -> None:
        count = counter(self.vocabulary) if self.counts else None
        for batch in _batches(arrivals):
            ready = [_counted(arrival, count) for arrival in batch]
            self._write(store, name, ready, known)

    def _write(
        self,
        store: Store,
        name: str,
        arrivals: Sequence[Arrival],
        known: Seen,
    ) -> None:
        vocabulary = self.vocabulary

        def build(head: Head) -> Batch:
            stamped = replace(head, wire=self.wire, vocabulary=vocabulary)
            usable = not head.vocabulary or head.vocabulary == vocabulary
            stamped = stamped if usable else replace(stamped, stale=True)
            batch = arrive(
                known.moved(stamped),
                arrivals,
                place=known.place,
                find=known.find,
                noted=known.noted,
            )
            return _from_file(batch, self.source, self.origin)

        batch = self._append(store, name, build)
        known.wrote()
        self.added += len(batch.entries)


def stamp_of(path: Path) -> str:
    """What a file looks like from outside: as long as that is the same, nothing is new in it."""
    try:
        found = path.stat()
    except (OSError, ValueError):  # it is in a database, gone, or no path at all
        return ""
    return f"{found.st_ino:x}-{found.st_size:x}-{found.st_mtime_ns:x}"


def stem_of(path: Path) -> str:
    """What a file is called, whatever its kind."""
    name = path.name.removesuffix(".gz")
    plain = name.removesuffix(".jsonl").removesuffix(".json") or path.name
    return str(cleaned(plain))


def _counted(arrival: Arrival, count: CountTokens | None) -> Arrival:
    return replace(arrival, drafts=tuple(_counted_draft(d, count) for d in arrival.drafts))


def _counted_draft(draft: Draft, count: CountTokens | None) -> Draft:
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


def _from_file(batch: Batch, source: str, origin: str) -> Batch:
    # How far the file was read is not known again before all of it is: who comes in between, or
    # after a kill, compares line by line.
    document = replace(batch.head.documents[source], origin=origin, offset=0, stamp="")
    documents = {**batch.head.documents, source: document}
    return replace(batch, head=replace(batch.head, documents=documents))
