"""What the kinds of events share: the policy of the program at hand, and its session opened."""

import os
from pathlib import Path

from holdfast.config import load
from holdfast.core.plan.policy import Policy
from holdfast.opening import open as open_session
from holdfast.session import Session
from holdfast.surfaces.hooks.happening import Happened

PROFILES = {"claude-code": "claude-code", "codex": "codex"}
"""The profile that goes with a program, where the user chose none."""


def policy_of(happened: Happened) -> Policy:
    """What the user decided, over what suits the program.

    Raises:
        BadSetting: a setting cannot be meant.
    """
    root = Path(happened.root)
    found = load(root, os.environ, outside=False)
    chosen = next(one for one in found.values if one.name == "profile")
    if chosen.origin != "default":
        return found.policy
    profile = PROFILES.get(happened.agent, "claude-code")
    return load(root, {**os.environ, "HOLDFAST_PROFILE": profile}, outside=False).policy


def opened(happened: Happened, policy: Policy | None = None) -> Session:
    """The session that something happened in."""
    chosen = policy or policy_of(happened)
    return open_session(
        happened.session,
        root=happened.root,
        agent=happened.lane,
        model=happened.model or None,
        policy=chosen,
    )
