"""How long Hypothesis looks: by default a minute for all laws, ten times that when asked."""

import os

from hypothesis import HealthCheck, settings

ALWAYS = settings(
    deadline=None, suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large)
)

settings.register_profile("default", ALWAYS, max_examples=100)
settings.register_profile("ci", ALWAYS, max_examples=100, derandomize=True)
settings.register_profile("thorough", ALWAYS, max_examples=1_000)
settings.load_profile(
    os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if "CI" in os.environ else "default")
)
