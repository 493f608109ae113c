"""Open a session: combine settings, project and store into one `Session`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.core.measure.tokens import check_token_count
from holdfast.core.plan.policy import Policy
from holdfast.project.clock import timestamp
from holdfast.project.paths import agentwire_config, find_root, ledger_path, loa_config, project_id
from holdfast.project.settings import load
from holdfast.session.session import Session
from holdfast.stores.store import Store

if TYPE_CHECKING:
    from holdfast.models.naming import Summarizer


def open_store(root: Path, *, project: str | None = None) -> Store:
    """Return the store of the project at `root`; it is created if it does not exist."""
    from holdfast.stores.sqlite import SqliteStore

    store = SqliteStore(str(ledger_path(root)), project=project or project_id(root))
    if project is None:
        known = store.projects()
        # A project that was moved or renamed keeps its ledger.
        if len(known) == 1 and store.project not in known:
            store.project = known[0]
    return store


def open(
    session: str,
    *,
    root: str | os.PathLike[str] | None = None,
    project: str | None = None,
    task: str | None = None,
    agent: str | None = None,
    model: str | None = None,
    window: int | None = None,
    policy: Policy | None = None,
    summarizer: "Summarizer | None" = None,
    store: Store | None = None,
) -> Session:
    """Open a session of this project; it is created with its first message.

    `model` is the agent's model id, `agent` a sub-agent with its own window, `task` the name of the
    current task: its summary is written under that name, and a new task ends the previous one.
    Values that are not given come from the environment, the project's settings and the user's.
    `summarizer` is the model that `compact` asks for prose: its name, or a function from text to
    text.

    Raises:
        BadSetting: a setting has an invalid value, or there is no summarizer of that name.
    """
    if window is not None:
        check_token_count("window", window)
    if summarizer:
        from holdfast.models.naming import resolve_model  # late: most sessions have none

        resolve_model(summarizer)
    place = find_root(os.fspath(root) if root else None, os.environ, Path.cwd())

    def with_names(found: Policy) -> Policy:
        size = found.window if window is None else window
        return replace(found, model=model or found.model, window=size)

    chosen = with_names(policy or load(place, os.environ, outside=False).policy)
    outside = (loa_config(place), agentwire_config(os.environ))
    waits = policy is None and any(path.is_file() for path in outside)
    return Session(
        session,
        store if store is not None else open_store(place, project=project),
        policy=chosen,
        agent=agent or "",
        root=str(place),
        clock=timestamp,
        owns_store=store is None,
        task=task or "",
        model=model or "",
        summarizer=summarizer,
        load_policy=(lambda: with_names(load(place, os.environ).policy)) if waits else None,
    )
