"""A server that speaks S3, in place of a store."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request

# The server looks at who asks; the test says whether it checks the keys.
ASKS = (
    "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, "
    "SignedHeaders=host, Signature=none"
)


class Store:
    """A server with an empty bucket, which the environment names as the store."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.server = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.environ.update(
            AWS_ENDPOINT=self.url,
            AWS_ALLOW_HTTP="true",
            AWS_ACCESS_KEY_ID="test",
            AWS_SECRET_ACCESS_KEY="test",
            AWS_REGION="us-east-1",
        )
        deadline = time.monotonic() + 60
        while True:
            try:
                self.ask("PUT", "bucket")
                return
            except OSError:
                assert time.monotonic() < deadline, "the server does not answer"
                time.sleep(0.05)

    def close(self):
        self.server.kill()
        self.server.wait()

    def ask(self, method, path, body=b""):
        headers = {"Authorization": ASKS, "Content-Type": "application/octet-stream"}
        asked = urllib.request.Request(f"{self.url}/{path}", body or None, headers, method=method)
        # Whatever proxy is set, the server is here.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(asked, timeout=60) as answer:
            return answer.read()

    def get(self, name):
        return self.ask("GET", f"bucket/{name}")

    def put(self, name, content):
        self.ask("PUT", f"bucket/{name}", content)

    @contextlib.contextmanager
    def refusing_keys(self, refuses):
        """The server checks keys meanwhile, and knows none."""
        if refuses:
            self.ask("POST", "moto-api/reset-auth", b"0")
        try:
            yield
        finally:
            self.ask("POST", "moto-api/reset-auth", b"inf")
