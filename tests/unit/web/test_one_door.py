"""Every request of the web room goes through the guard: nothing else there can open a connection."""

import ast
from collections.abc import Iterator
from pathlib import Path

import selfright.web

ROOT = Path(next(iter(selfright.web.__path__)))

# What could open a connection, and whole clients of providers, which bring their own.
CLIENTS = {
    "aiohttp", "anyio", "asyncssl", "curl_cffi", "ddgs", "ftplib", "h11", "h2", "http", "httpcore", "httpcore2",
    "httplib2", "httpx", "httpx2", "primp", "pycurl", "requests", "smtplib", "socket", "socketserver", "ssl", "tavily",
    "telnetlib", "trio", "urllib3", "websockets", "xmlrpc",
}  # fmt: skip
MODULES = {
    "urllib.request", "urllib.robotparser", "trafilatura.downloads", "trafilatura.spider", "lxml.html.html5parser",
}  # fmt: skip
NAMES = {"fetch_url", "fetch_response", "urlopen", "open_connection", "create_connection", "sock_connect", "subprocess"}
DOOR = "guard.py"


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value in CLIENTS - {"http", "tavily"}
        ):
            yield node.value  # the name of a module that import_module might be given


def breaches(source: str) -> list[str]:
    tree = ast.parse(source)
    modules = [name for name in imported(tree) if name.partition(".")[0] in CLIENTS or name in MODULES]
    called = [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in NAMES]
    named = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in NAMES]
    modules += [name for name in imported(tree) if name.rpartition(".")[2] in NAMES]
    return modules + called + named


def test_only_the_guard_opens_connections() -> None:
    found = {str(path.relative_to(ROOT)): breaches(path.read_text("utf-8")) for path in ROOT.rglob("*.py")}
    assert {"guard.py", "live.py", "services.py"} <= set(found)
    assert {name for name, lines in found.items() if lines} == {DOOR}


def test_the_search_would_see_another_door() -> None:
    for line in (
        "import httpx",
        "from urllib.request import urlopen",
        "import trafilatura\ntrafilatura.fetch_url('x')",
        "from trafilatura import fetch_url",
        "import importlib\nimportlib.import_module('requests')",
        "loop.create_connection(x)",
    ):
        assert breaches(line), line
    assert breaches("from urllib.parse import urlsplit\nfrom trafilatura import bare_extraction") == []


def test_extraction_asks_nobody(network_attempts: list[str]) -> None:
    """trafilatura could fetch pages itself; given a page, it does not."""
    from selfright.web.addresses import target_of
    from selfright.web.extract import read_reply
    from selfright.web.types import Reply

    page = b"""<html><head><link rel="canonical" href="http://198.51.100.7/x"><base href="http://198.51.100.7/">
    <title>T</title></head><body><article><p>Words of a page that has a picture.</p>
    <img src="http://198.51.100.7/a.png"></article></body></html>"""
    reply = Reply(target_of("http://198.51.100.7/page"), 200, {}, page, "text/html")
    assert "picture" in read_reply(reply).text
    assert network_attempts == []
