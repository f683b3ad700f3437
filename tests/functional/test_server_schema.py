"""Whatever is sent, allowed by the OpenAPI description or not: no server error, and replies as it says."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.support.service import Running, http_client, serving, write_index

CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
]
EXAMPLES = 8


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(write_index(tmp_path_factory.mktemp("schema"))) as running:
        yield running


def test_no_server_error_and_true_replies(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with http_client(running.url) as http:
        schema = schemathesis.openapi.from_dict(http.get("/openapi.json").json())
    probed = [probe(found.ok(), running.url) for found in schema.get_all_operations()]
    assert len(probed) > 20


def probe(operation: Any, url: str) -> str:
    @settings(max_examples=EXAMPLES, suppress_health_check=list(HealthCheck), database=None, derandomize=True)
    @given(case=operation.as_strategy())
    def replies_are_as_described(case: Any) -> None:
        case.validate_response(case.call(base_url=url, timeout=60), checks=CHECKS)

    replies_are_as_described()
    return str(operation.label)


def test_the_description_is_whole(tmp_path: Path, running: Running) -> None:
    with http_client(running.url) as http:
        document = http.get("/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation.get("summary"), (method, path)
            assert operation.get("description"), (method, path)
            success = operation["responses"]["200"]["content"]
            assert any(media.get("schema") for media in success.values()), (method, path)
            for status in ("400", "401", "429", "503"):
                reference = operation["responses"][status]["content"]["application/json"]["schema"]["$ref"]
                assert reference.endswith("/ErrorReply")
