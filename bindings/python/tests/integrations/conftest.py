"""Settings of property tests: no clock, and the same examples in each run."""

from hypothesis import settings

settings.register_profile("ctx", deadline=None, derandomize=True)
settings.load_profile("ctx")
