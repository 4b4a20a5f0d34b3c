"""Untrusted programs: the driver that runs inside, and the host side that starts, watches and kills it."""
