"""For all tests: no deadline on single examples, since machines differ and are shared."""

from hypothesis import settings

settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
