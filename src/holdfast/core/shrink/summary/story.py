"""Read the path of a session chapter by chapter: rows that are merged, and moments to choose from.

A chapter is a stretch of entries that ends before a request of the user, or at a size. It is read
once; where it ends depends only on the entries before, so a session that is read line by line gives
the same story as one that is read whole. The entries after the last chapter are read each time.
"""

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec.structs import replace

from holdfast.core.ledger.entry import EntryId, Said, ToolCalled, ToolReturned, is_request
from holdfast.core.ledger.summary import Quote, Summary
from holdfast.core.ledger.window import Item
from holdfast.core.measure.tokens import tokens_from_bytes
from holdfast.core.observe.moments.moment import Moment
from holdfast.core.observe.moments.read import moments_in
from holdfast.core.observe.moments.story import Block, PathContent, Story, StoryReading
from holdfast.core.observe.results.todos import writes_item
from holdfast.core.observe.scene import Scene, read_scene
from holdfast.core.observe.sentences import own_words
from holdfast.core.shrink.summary.choose import choose, moment_of_fact
from holdfast.core.shrink.summary.merge import bounded, merge, with_full_paths
from holdfast.core.shrink.summary.quoting import short_name
from holdfast.core.shrink.summary.root import with_absolute_paths
from holdfast.core.shrink.summary.rows import guiding_rows, is_anchor, rows_of_scene
from holdfast.core.shrink.summary.text import read_summary
from holdfast.text.utf8 import to_bytes

MIN_CHAPTER, MAX_CHAPTER = 24, 120
"""Entries of a chapter that ends before a request, and of one that ends between two steps."""
LONGEST_CHAPTER = 480
"""Entries of a chapter that ends anywhere, because a call never got its result."""
MAX_LISTED = 240
"""Entries for items of a list, such as tasks, that later chapters are read with."""
BLOCK_TOKENS = 24_000
"""Tokens of the moments that are kept of two blocks of the same level."""


def story_from(known: Summary) -> Story:
    """Return the story of a session that continues another one."""
    moments = tuple(map(moment_of_fact, known.facts))
    return Story(replace(known, facts=()), _with_moments((), moments))


def read_on(story: Story, items: Sequence[Item]) -> StoryReading:
    """Read the chapters that are complete; `items` are those of the context and all after them."""
    context = [item for item in items if item.entry.seq <= story.seq]
    later = [item for item in items if item.entry.seq > story.seq]
    while length := _chapter_length(later):
        chapter, following = later[:length], later[length : length + 1]
        rows, moments = _read(story, context, chapter, following)
        context = _context_of(context, chapter)
        last = chapter[-1].entry
        story = Story(
            rows,
            _with_moments(story.blocks, moments),
            last.id,
            last.seq,
            _quoted(story, chapter, rows),
            tuple(item.entry.seq for item in context),
        )
        later = later[length:]
    return StoryReading(story, (*context, *later))


@lru_cache(maxsize=2)
def read_to_end(reading: StoryReading) -> PathContent:
    """Return what a path says to its end."""
    story = reading.story
    known = tuple(moment for block in story.blocks for moment in block.moments)
    context = [item for item in reading.rest if item.entry.seq <= story.seq]
    later = [item for item in reading.rest if item.entry.seq > story.seq]
    if not later:
        return PathContent(story.rows, known)
    rows, moments = _read(story, context, later, ())
    return PathContent(rows, (*known, *moments))


def guiding_rows_to_end(reading: StoryReading) -> Summary:
    """Return of the rows of a path only those that say what to do: see `guiding_rows`."""
    story = reading.story
    context = [item for item in reading.rest if item.entry.seq <= story.seq]
    later = [item for item in reading.rest if item.entry.seq > story.seq]
    known = _only_guiding(story.rows)
    if not later:
        return known
    for summary in _sent_back(later):
        known = merge(known, _only_guiding(summary))
    merged = merge(known, guiding_rows(*_chapter_scene(context, later, ())))
    return bounded(_in_order(merged, _quoted(story, later, merged)))


def _only_guiding(rows: Summary) -> Summary:
    return Summary(
        intent=rows.intent,
        constraints=rows.constraints,
        words=rows.words,
        decisions=rows.decisions,
        progress=rows.progress,
    )


def _quoted(story: Story, chapter: Sequence[Item], rows: Summary) -> tuple[str, ...]:
    """Return the short names of the entries that the rows quote of the user, oldest first."""
    shown = {short_name(quote.entry) for quote in (*rows.words, *rows.intent.requests)}
    new = (short_name(item.entry.id) for item in chapter)
    return tuple(name for name in (*story.asked, *new) if name in shown)


def _in_order(rows: Summary, quoted: Sequence[str]) -> Summary:
    """Return rows with the user's words in their order: an older request may follow newer words."""
    places = {name: at for at, name in enumerate(quoted)}
    words = sorted(rows.words, key=lambda quote: places.get(short_name(quote.entry), -1))
    first = rows.intent.original.entry
    at = sum(
        places.get(short_name(quote.entry), -1) < places.get(short_name(first), -1)
        for quote in words
    )
    if at and all(quote.entry != first for quote in words):
        # A command came before the first request: a quote without text marks where that was.
        words.insert(at, Quote("", first))
    return replace(rows, words=tuple(words))


def _chapter_length(items: Sequence[Item]) -> int:
    """Return the length of the first chapter; 0 if it is not known yet where it ends."""
    waiting: set[str] = set()
    for at, item in enumerate(items):
        body = item.entry.body
        # A request may come while a tool is at work: the result belongs to the chapter of its call.
        answered = not waiting or at >= MAX_CHAPTER
        if at >= MIN_CHAPTER and answered and _is_asked(body):
            return at
        if at >= LONGEST_CHAPTER or (at >= MAX_CHAPTER and not waiting and _begins_step(items, at)):
            return at
        if isinstance(body, ToolCalled):
            waiting.add(body.call)
        elif isinstance(body, ToolReturned):
            waiting.discard(body.call)
    return 0


def _begins_step(items: Sequence[Item], at: int) -> bool:
    entry, before = items[at].entry, items[at - 1].entry
    return entry.message != before.message


def _context_of(context: Sequence[Item], chapter: Sequence[Item]) -> list[Item]:
    """Return the newest request, the newest text of the agent, and the calls for items of a list.

    A later call changes such an item by its number only.
    """
    items = (*context, *chapter)
    bodies = [item.entry.body for item in items]
    asked = (at for at in reversed(range(len(items))) if _is_asked(bodies[at]))
    said = (at for at in reversed(range(len(items))) if _is_agents(bodies[at]))
    calls = {body.call for body in bodies if isinstance(body, ToolCalled) if writes_item(body.tool)}
    listed = [at for at, body in enumerate(bodies) if _is_call_or_result(body, calls)]
    places = {next(asked, -1), next(said, -1), *listed[-MAX_LISTED:]} - {-1}
    return [items[at] for at in sorted(places)]


def _is_call_or_result(body: object, calls: Container[str]) -> bool:
    return isinstance(body, ToolCalled | ToolReturned) and body.call in calls


def _is_asked(body: object) -> bool:
    return isinstance(body, Said) and is_request(body) and bool(own_words(body.text))


def _is_agents(body: object) -> bool:
    return isinstance(body, Said) and body.role == "assistant" and not body.by


def _read(
    story: Story, context: Sequence[Item], chapter: Sequence[Item], following: Sequence[Item]
) -> tuple[Summary, tuple[Moment, ...]]:
    """Return the rows after a chapter, and the moments of it."""
    rows = _rows_after(story, context, chapter, following)
    sent_back = (fact for summary in _sent_back(chapter) for fact in summary.facts)
    scene, names = _chapter_scene(context, chapter, following)
    return rows, (*map(moment_of_fact, sent_back), *moments_in(scene, only=names))


def _rows_after(
    story: Story, context: Sequence[Item], chapter: Sequence[Item], following: Sequence[Item]
) -> Summary:
    rows = story.rows
    for summary in _sent_back(chapter):
        rows = merge(rows, replace(summary, facts=()))
    new = rows_of_scene(*_chapter_scene(context, chapter, following), rows.errors)
    known, files = with_full_paths(rows.files, new.files)
    merged = merge(replace(rows, files=known), replace(new, files=files))
    rows = _in_order(replace(merged, errors=new.errors), _quoted(story, chapter, merged))
    return bounded(rows)


def _chapter_scene(
    context: Sequence[Item], chapter: Sequence[Item], following: Sequence[Item]
) -> tuple[Scene, frozenset[EntryId]]:
    """Return the scene that a chapter is understood in, and the names of its entries."""
    asks = (item for item in following if _is_asked(item.entry.body))
    scene = _scene_of((*context, *chapter, *asks))
    return scene, frozenset(item.entry.id for item in chapter)


def _sent_back(items: Iterable[Item]) -> Iterator[Summary]:
    """Yield the summaries that a client without a ledger sent back."""
    for item in items:
        if is_anchor(item) and isinstance(item.body, Said):
            known = read_summary(item.body.text)
            if known is not None:
                yield with_absolute_paths(known)


def _scene_of(items: Iterable[Item]) -> Scene:
    return read_scene([item for item in items if not is_anchor(item)])


def _with_moments(blocks: tuple[Block, ...], moments: tuple[Moment, ...]) -> tuple[Block, ...]:
    """Add moments; of two blocks of the same level that are large together, keep the best."""
    made = [*blocks, _block(0, moments)]
    while len(made) > 1 and made[-1].level == made[-2].level:
        moments = (*made[-2].moments, *made[-1].moments)
        level, tokens = made[-1].level, made[-2].tokens + made[-1].tokens
        if level == 0 and tokens <= BLOCK_TOKENS:
            made[-2:] = [Block(0, tokens, moments)]
            break
        kept = choose(moments, BLOCK_TOKENS, count=_size_of)
        made[-2:] = [_block(level + 1, kept)]
    return tuple(made)


def _block(level: int, moments: tuple[Moment, ...]) -> Block:
    return Block(level, sum(_size_of(moment.text) for moment in moments), moments)


def _size_of(text: str) -> int:
    return tokens_from_bytes(len(to_bytes(text)))
