"""Where an index is: paths and addresses, what is shown of them, and what an absent package says."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from selfright.domain.errors import MissingExtra, UsageError
from selfright.retrieval.locations import format_location, is_address, locate
from selfright.retrieval.stores.opening import folder_of, open_store
from selfright.settings import load_settings
from tests.support.histories import TOKENIZER


@pytest.mark.parametrize("path", ["index", "/srv/index", "C:/index", "my:index", Path("postgresql://a/b")])
def test_a_path_is_a_path(path: str | Path) -> None:
    assert not is_address(path)
    assert locate(path).engine == "embedded"
    assert locate(path).path == Path(path)


def test_addresses_are_read() -> None:
    place = locate("postgresql://me:a%2Fb@db.example:5433/shop?schema=papers&sslmode=require")
    assert (place.engine, place.name) == ("postgres", "papers")
    assert place.address.uri == "postgresql://me:a%2Fb@db.example:5433/shop?sslmode=require"
    lite, server = locate("milvus:///srv/a%20b.db?name=notes"), locate("milvus://host/notes")
    assert (lite.path, lite.name) == (Path("/srv/a b.db"), "notes")
    assert (server.host, server.port, server.name, server.path) == ("host", 19530, "notes", None)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:s3cr3t@db/shop?schema=a&password=s3cr3t",
        "milvus://me:s3cr3t@host:19530/notes?token=s3cr3t",
        "postgresql://me:p@s3cr3t@db/shop",
    ],
)
def test_what_is_shown_holds_no_password(address: str) -> None:
    assert "s3cr3t" not in format_location(address)
    assert "s3cr3t" not in repr(locate(address))
    settings = load_settings({"index": address}, {})
    assert settings.index == address
    assert "s3cr3t" not in repr(settings) + format_location(settings.index)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("mysql://host/db", "milvus://"),
        ("postgresql://host", "names no database"),
        ("postgresql://host/db?schema=a-b", "named by a letter"),
        ("milvus://host/a.b", "named by a letter"),
        ("milvus:///srv/index", "one file"),
        ("postgresql://me:s3cr3t@host:port/db", "cannot be read"),
    ],
)
def test_an_address_that_cannot_be_used_says_what_is_expected(address: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as error:
        locate(address)
    assert "s3cr3t" not in str(error.value)


def test_what_only_a_folder_can_do_says_so() -> None:
    assert folder_of("some/index", "verify") == Path("some/index")
    with pytest.raises(UsageError, match=r"index compact.*engine's own means"):
        folder_of("postgresql://me:s3cr3t@db/shop", "compact")


@pytest.mark.parametrize(
    ("address", "extra"), [("milvus://127.0.0.1/a", "milvus"), ("postgresql://127.0.0.1/a", "postgres")]
)
def test_an_absent_package_gives_the_command_that_installs_it(
    address: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtra, match=rf'pip install "selfright\[{extra}\]"'):
        open_store(address, TOKENIZER, None)


_WITHOUT = """
import sys
for name in ("psycopg", "psycopg_pool", "pgvector", "pymilvus", "milvus_lite"):
    sys.modules[name] = None
import selfright, selfright.api.selfright, selfright.settings
from selfright.retrieval.stores.opening import open_store
from selfright.retrieval.korean import HangulBigrams
from selfright.retrieval.tokenizer import BilingualTokenizer
open_store(sys.argv[1], BilingualTokenizer(HangulBigrams()), None, create=True).close()
"""


def test_a_folder_needs_none_of_the_engines(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT, str(tmp_path / "index")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
