"""How many examples Hypothesis tries: a fifth of them in `make test`, all in `make test-slow`.

Each run of the gate has another seed, so what one run does not try another does.
"""

import os

from hypothesis import HealthCheck, settings

# A deadline and the check for slow examples would measure the machine and not the code.
ALWAYS = settings(
    deadline=None, suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large)
)
FULL = 100
LEAST = 5


def register() -> None:
    """Name the profiles for `--hypothesis-profile`; without it all examples are tried."""
    settings.register_profile("gate", ALWAYS, max_examples=FULL // 5)
    settings.register_profile("full", ALWAYS, max_examples=FULL)
    settings.register_profile("thorough", ALWAYS, max_examples=10 * FULL)
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "full")


def examples(count: int) -> int:
    """How many to try under the profile in use, where a full run tries `count`."""
    return max(count * settings().max_examples // FULL, LEAST)
