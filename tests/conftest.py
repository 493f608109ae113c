"""Run every test with strict rules and with a strict provider behind each compressed request."""

import os
from collections.abc import Iterator
from functools import wraps

import pytest

from holdfast.core.faults import active
from holdfast.core.ledger.entry import Compressed
from holdfast.core.ledger.head import Head
from holdfast.core.ledger.window import Item, in_force
from holdfast.engine.live_window import message_dicts
from holdfast.session.session import Session
from holdfast.text.jsontext import Json
from holdfast.wire.detect import MESSAGE_WIRES
from tests.examples import register
from tests.provider.strict import worse

# A rule that fails must fail its test, in this process and in those that tests start.
os.environ["HOLDFAST_STRICT"] = "1"
active().strict = True
register()


@pytest.fixture(scope="session", autouse=True)
def strict_provider() -> Iterator[None]:
    """Puts a provider that enforces its rules behind every request that the engine changed."""
    plain = Session.messages

    @wraps(plain)
    def messages(self: Session) -> list[dict[str, Json]]:
        sent = plain(self)
        window = self.ledger.live_window.window(whole=True)
        made = [entry.body for entry in in_force(window) if isinstance(entry.body, Compressed)]
        wire = (self.store.head(self.name) or Head()).wire
        # Compressions that a test wrote by hand, to see what the ledger makes of them, have no
        # trigger; the engine's own always do.
        if made and wire in MESSAGE_WIRES and all(body.trigger for body in made):
            whole = self.ledger.live_window.render_items(
                [Item(entry) for entry in self.ledger.path()]
            )
            assert worse(wire, message_dicts(whole), sent) == []
        return sent

    Session.messages = messages
    yield
    Session.messages = plain
