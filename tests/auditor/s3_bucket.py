"""A bucket on an S3 server of the tests' own."""

from __future__ import annotations

import os

import fsspec
import pytest


def a_bucket(address: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty bucket, with all in the environment that it takes to reach it."""
    import boto3  # noqa: PLC0415 - as in conftest.py

    for name, value in (
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", address),
        ("no_proxy", "*"),
    ):
        monkeypatch.setenv(name, value)
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    bucket = f"games-{os.urandom(4).hex()}"
    boto3.client("s3").create_bucket(Bucket=bucket)
    return f"s3://{bucket}/finished"
