"""Settings of property tests: no clock, and the same examples in each run. LiteLLM does not download prices."""

import os

from hypothesis import settings

settings.register_profile("ctx", deadline=None, derandomize=True)
settings.load_profile("ctx")
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
