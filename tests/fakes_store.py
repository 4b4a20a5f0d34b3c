"""An S3 store on loopback: moto's server, in a thread of this process."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from pyarrow.fs import S3FileSystem

from spade.operating_settings import StoreSettings

KEYS = {"AWS_ACCESS_KEY_ID": "someone", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_EC2_METADATA_DISABLED": "true"}


@contextmanager
def s3() -> Iterator[StoreSettings]:
    """A store with a bucket of its own; keys are in the environment inside the block."""
    moto = pytest.importorskip("moto.server", reason="moto is not installed: pip install -e '.[dev]'")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint, bucket = f"http://{host}:{port}", f"spade-{secrets.token_hex(4)}"
    try:
        with patch.dict(os.environ, KEYS):
            S3FileSystem(endpoint_override=endpoint, region="us-east-1", allow_bucket_creation=True).create_dir(bucket)
            yield StoreSettings(url=f"s3://{bucket}/factory", endpoint=endpoint, region="us-east-1")
    finally:
        server.stop()
