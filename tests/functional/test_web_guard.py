"""No page leads to where nobody may go: addresses, names, redirects, ports, and bodies that never end."""

import asyncio
import gzip
import ssl
import subprocess
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from selfright.domain.errors import PageRefused, PageUnusable, WebError
from selfright.web.addresses import WEB_PORTS, Permissions, target_of
from selfright.web.guard import Guard, _CheckedBackend
from selfright.web.types import PAGES, Reply, Request, RequestCounter, RequestLimits
from tests.support.web_rooms import QUICK, guard, names
from tests.support.web_servers import Answer, WebServer, serving, site


@dataclass
class Town:
    """A page that may be read, under the name ``open.example``, and the servers that must not be reached."""

    open: WebServer
    forbidden: list[WebServer]

    @property
    def hits(self) -> list[tuple[str, int, list[str]]]:
        return [(one.url, one.connections, one.paths) for one in self.forbidden if one.connections or one.asked]

    @property
    def page(self) -> str:
        return f"http://open.example:{self.open.port}"


SECRET = Answer.html("<p>the secret</p>")


@pytest.fixture(scope="module")
def servers() -> Iterator[Town]:
    pages: dict[str, Answer] = {"/": Answer.html("<p>open</p>")}
    with (
        serving(site(pages)) as open_one,
        serving(lambda _: SECRET, "127.0.0.2") as two,
        serving(lambda _: SECRET, "127.9.9.9") as nine,
        serving(lambda _: SECRET, "::1") as six,
    ):
        yield Town(open_one, [two, nine, six])


@pytest.fixture
def town(servers: Town) -> Town:
    for one in [servers.open, *servers.forbidden]:
        one.asked.clear()
        one.connections = 0
    return servers


def fetch(transport: Guard, url: str) -> Reply:
    return asyncio.run(transport.follow(Request(target_of(url), types=PAGES), RequestCounter()))


def town_guard(town: Town, *more: str, **table: list[str]) -> Guard:
    """Lets ``open.example`` be read, which is 127.0.0.1; the names of ``table`` are known too."""
    known = {"open.example": ["127.0.0.1"], **{name.replace("_", "."): found for name, found in table.items()}}
    return guard(f"open.example:{town.open.port}", *more, table=known)


# Where each of these would go: to the forbidden servers (with their port put in), or out of this machine, where the
# guard of the tests would see it.
ADDRESSES = [
    "http://127.0.0.2:{two}/", "http://127.9.9.9:{nine}/", "http://[::1]:{six}/", "http://localhost:{two}/",
    "http://localhost.:{two}/", "http://foo.localhost:{two}/", "http://LOCALHOST:{two}/",
    "http://2130706434:{two}/", "http://0x7f000002:{two}/", "http://0x7f.0.0.2:{two}/", "http://0177.0.0.2:{two}/",
    "http://017700000002:{two}/", "http://127.2:{two}/", "http://127.0.2:{two}/", "http://0127.0.0.2:{two}/",
    "http://127.0.0.2.:{two}/", "http://127.0.0.02:{two}/", "http://127.0.0.2%00:{two}/",
    "http://[::ffff:127.0.0.2]:{two}/", "http://[::ffff:7f00:2]:{two}/", "http://[0:0:0:0:0:ffff:127.0.0.2]:{two}/",
    "http://[::127.0.0.2]:{two}/", "http://[64:ff9b::127.0.0.2]:{two}/", "http://[64:ff9b::7f00:2]:{two}/",
    "http://[64:ff9b:1::7f00:2]:{two}/", "http://[2002:7f00:2::]:{two}/", "http://[2001:0:7f00:2::1]:{two}/",
    "http://[::1%25lo]:{six}/", "http://[::1%lo]:{six}/", "http://[fe80::1%25eth0]/", "http://[::]:{six}/",
    "http://0.0.0.0:{two}/", "http://0:{two}/", "http://1２7.0.0.2:{two}/", "http://１２７。０。０。２:{two}/",
    "http://①②⑦.⓪.⓪.②:{two}/", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:{two}/",
    "http://open.example@127.0.0.2:{two}/", "http://open.example:80@127.0.0.2:{two}/", "http://127.0.0.2:{two}\\@open.example/",
    "http://open.example#@127.0.0.2:{two}/", "http://127.0.0.2:{two}", "https://127.0.0.2:{two}/",
    "http://inside.example:{two}/", "http://mixed.example:{two}/", "http://six.example:{six}/", "http://odd.example:{two}/",
    "http://169.254.169.254/latest/meta-data/", "http://metadata.example/", "http://[fd00:ec2::254]/", "http://100.100.100.200/",
    "http://168.63.129.16/", "http://192.0.0.192/", "http://metadata/", "http://metadata.google.internal/",
    "http://10.0.0.1/", "http://172.16.0.1/", "http://192.168.0.1/", "http://100.64.0.1/", "http://198.18.0.1/",
    "http://192.0.2.1/", "http://224.0.0.1/", "http://255.255.255.255/", "http://240.0.0.1/", "http://[fc00::1]/",
    "http://[fec0::1]/", "http://[ff02::1]/", "http://[2001:db8::1]/", "http://[3fff::1]/", "http://[100::1]/",
    "http://[5f00::1]/", "http://[4000::1]/", "http://router/", "http://printer.local/",
    "file:///etc/passwd", "ftp://127.0.0.2/", "gopher://127.0.0.2:{two}/_x", "data:text/html,hi", "javascript:alert(1)",
    "//127.0.0.2:{two}/", "127.0.0.2:{two}", "", "http://", "http:///", "http://:80/", "http://[::1/", "http://a..b/",
    "http://open.example:99999/", "http://open.example:0/", "http://open.example:22/", "http://open.example:6379/",
    "http://open.example:²/", "http://-/", "http://a b/", "http://open.example\t@127.0.0.2/",
    "http://" + "a" * 3000 + "/",
]  # fmt: skip

TABLE = {
    "inside_example": ["127.0.0.2"],
    "mixed_example": ["93.184.216.34", "127.0.0.2"],
    "six_example": ["::1"],
    "odd_example": ["::ffff:127.0.0.2"],
    "metadata_example": ["169.254.169.254"],
    "localhost": ["127.0.0.2", "::1"],
}


def filled(town: Town, url: str) -> str:
    two, nine, six = (one.port for one in town.forbidden)
    return url.replace("{two}", str(two)).replace("{nine}", str(nine)).replace("{six}", str(six))


def wary(town: Town, *more: str) -> Guard:
    """Would ask any host on any port of the town, so that only addresses can keep it from the forbidden servers."""
    allowed = Permissions.of([f"open.example:{town.open.port}", *more])
    ports = WEB_PORTS | {one.port for one in town.forbidden}
    table = {"open.example": ["127.0.0.1"], **undotted(TABLE)}
    return Guard(replace(allowed, ports=ports), QUICK, names(table))


@pytest.mark.parametrize("url", ADDRESSES)
def test_no_spelling_of_an_address_gets_through(town: Town, url: str) -> None:
    with pytest.raises(PageRefused) as refused:
        fetch(wary(town), filled(town, url))
    assert town.hits == []
    assert "secret" not in str(refused.value)


# As a Location, what has no scheme or no host means the server that sends it.
ELSEWHERE = [url for url in ADDRESSES if url.partition(":")[2].strip("/") and not url.startswith(("//", "127."))]


@pytest.mark.parametrize("url", ELSEWHERE)
def test_no_redirect_to_it_gets_through(town: Town, url: str) -> None:
    location = filled(town, url).replace("\t", "%09").encode().decode("latin-1")
    with serving(lambda _: Answer.redirect(location)) as hop:
        transport = wary(town, f"hop.example:{hop.port}")
        transport._resolve = names({**undotted(TABLE), "hop.example": ["127.0.0.1"]})
        with pytest.raises(PageRefused):
            fetch(transport, f"http://hop.example:{hop.port}/go")
        assert hop.paths == ["/go"]
    assert town.hits == []


def undotted(table: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name.replace("_", "."): found for name, found in table.items()}


def test_the_forbidden_servers_would_have_answered(town: Town) -> None:
    """What the tests above rest on: the same addresses are reached where they are allowed."""
    two, nine, six = town.forbidden
    transport = guard(*(f"{one.host}:{one.port}" for one in town.forbidden))
    for one in (two, nine, six):
        assert b"secret" in fetch(transport, f"{one.url}/").body
    assert len(town.hits) == 3


def test_allowed_names_still_work(town: Town) -> None:
    reply = fetch(town_guard(town), town.page)
    assert (reply.status, reply.media_type, b"open" in reply.body) == (200, "text/html", True)
    assert town.open.asked[0].headers["host"] == f"open.example:{town.open.port}"


def test_a_name_that_changes_its_address_after_the_check(town: Town) -> None:
    """The connection goes to the address that was checked: nobody asks for the name a second time."""
    answers = [["127.0.0.1"], ["127.0.0.2"]]
    asked: list[str] = []

    async def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return answers[min(len(asked), 2) - 1]

    allowed = Permissions.of([f"127.0.0.1:{town.open.port}", f"turn.example:{town.open.port}"])
    transport = Guard(allowed, QUICK, rebinding)
    assert b"open" in fetch(transport, f"http://turn.example:{town.open.port}/").body
    assert asked == ["turn.example"]
    assert town.hits == []


def test_a_name_that_changes_its_address_between_two_redirects() -> None:
    turns = iter([["127.0.0.1"], ["169.254.169.254"]])

    async def rebinding(host: str, _port: int) -> list[str]:
        return next(turns)

    with serving(lambda _: Answer.redirect("/again")) as hop:
        transport = Guard(Permissions.of([f"turn.example:{hop.port}"]), QUICK, rebinding)
        with pytest.raises(PageRefused, match="metadata"):
            fetch(transport, f"http://turn.example:{hop.port}/")
        assert hop.paths == ["/"]


@pytest.mark.parametrize("found", [[], ["nonsense"], ["fe80::1%lo"], ["8.8.8.8"] * 65, ["8.8.8.8", "nonsense"]])
def test_a_resolver_that_says_nothing_of_use(found: list[str]) -> None:
    with pytest.raises(WebError):
        fetch(guard(table={"a.example": found}), "http://a.example/")


def test_a_resolver_that_says_nothing_at_all() -> None:
    async def silent(host: str, port: int) -> list[str]:
        await asyncio.sleep(60)
        return []

    began = time.monotonic()
    with pytest.raises(PageUnusable, match="took longer"):
        fetch(Guard(limits=RequestLimits(seconds=0.2), resolve=silent), "http://a.example/")
    assert time.monotonic() - began < 1.5


def test_a_connection_that_ends_elsewhere_than_checked_is_closed() -> None:
    closed: list[bool] = []

    class Elsewhere:
        def get_extra_info(self, _name: str) -> tuple[str, int]:
            return "127.0.0.9", 80

        async def aclose(self) -> None:
            closed.append(True)

    class Wire:
        async def connect_tcp(self, *_: object) -> Elsewhere:
            return Elsewhere()

    target = target_of("http://127.0.0.1/")
    backend = _CheckedBackend(Permissions.of(["127.0.0.1"]), target, names({}), 1.0, RequestCounter())
    backend._wire = Wire()
    with pytest.raises(PageRefused, match="another address"):
        asyncio.run(backend.connect_tcp("127.0.0.1", 80))
    assert closed == [True]


def test_redirects_are_followed_checked_and_counted(town: Town) -> None:
    with serving(site({"/a": Answer.redirect("b", 301), "/b": Answer.redirect(f"{town.page}/", 308)})) as hop:
        transport = town_guard(town, f"hop.example:{hop.port}", hop_example=["127.0.0.1"])
        tally = RequestCounter()
        reply = asyncio.run(transport.follow(Request(target_of(f"http://hop.example:{hop.port}/a")), tally))
    assert reply.target.url == f"{town.page}/"
    assert tally.requests == 3
    assert {"cookie", "referer"}.isdisjoint(town.open.asked[0].headers)


def test_redirects_end(town: Town) -> None:
    count = iter(range(100))
    with (
        serving(lambda _: Answer.redirect(f"/{next(count)}")) as endless,
        serving(lambda _: Answer.redirect("/")) as circle,
    ):
        transport = guard(f"a.example:{endless.port}", f"b.example:{circle.port}",
                        table={"a.example": ["127.0.0.1"], "b.example": ["127.0.0.1"]})  # fmt: skip
        with pytest.raises(PageUnusable, match="more than 5 times"):
            fetch(transport, f"http://a.example:{endless.port}/")
        assert len(endless.asked) == 6
        with pytest.raises(PageUnusable, match="circle"):
            fetch(transport, f"http://b.example:{circle.port}/")
        assert len(circle.asked) == 1


def test_all_redirects_together_have_twice_the_time_of_one() -> None:
    count = iter(range(100))

    def slow(_: object) -> Answer:
        time.sleep(0.7)
        return Answer.redirect(f"/{next(count)}")

    with serving(slow) as hop:
        table = {"hop.example": ["127.0.0.1"]}
        transport = guard(f"hop.example:{hop.port}", table=table, limits=RequestLimits(seconds=1.6))
        with pytest.raises(PageUnusable, match=r"took longer than 3\.2 s"):
            fetch(transport, f"http://hop.example:{hop.port}/")


@pytest.mark.parametrize(("others", "reached"), [(2, True), (3, False)])
def test_of_the_addresses_of_a_name_three_are_tried(town: Town, others: int, reached: bool) -> None:
    found = [*(f"127.0.0.{20 + n}" for n in range(others)), "127.0.0.1"]
    transport = guard(f"many.example:{town.open.port}", table={"many.example": found})
    try:
        assert fetch(transport, f"http://many.example:{town.open.port}/").status == 200
    except PageUnusable:
        assert not reached
    assert bool(town.open.asked) is reached


def test_environment_and_cookies_have_no_say(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.2:{town.forbidden[0].port}")
    with serving(lambda _: Answer.html("<p>x</p>", **{"Set-Cookie": "id=1"})) as giver:
        transport = guard(f"g.example:{giver.port}", table={"g.example": ["127.0.0.1"]})
        for _ in range(2):
            fetch(transport, f"http://g.example:{giver.port}/")
        assert all("cookie" not in asked.headers for asked in giver.asked)
    assert town.hits == []


# What comes back.


PATIENT = replace(QUICK, seconds=30)  # of what is not about time


def page(answer: Answer, limits: RequestLimits = PATIENT) -> tuple[Reply | WebError, WebServer, float]:
    with serving(lambda _: answer) as server:
        transport = guard(f"p.example:{server.port}", table={"p.example": ["127.0.0.1"]}, limits=limits)
        began = time.monotonic()
        try:
            return fetch(transport, f"http://p.example:{server.port}/"), server, time.monotonic() - began
        except WebError as error:
            return error, server, time.monotonic() - began


def endless(piece: bytes = b"x" * 65_536, pause: float = 0.0) -> Iterator[bytes]:
    for _ in range(1_000_000):
        yield piece
        time.sleep(pause)


TEXT = {"Content-Type": "text/plain"}


def test_an_endless_body_is_cut_off() -> None:
    error, server, _ = page(Answer(endless(), 200, TEXT))
    assert isinstance(error, PageUnusable)
    assert "more than 1,000,000 bytes" in str(error)
    assert server.sent < 20_000_000  # what the sockets hold, and no more


def test_a_body_that_says_how_large_it_is_is_not_even_begun() -> None:
    error, server, _ = page(Answer(endless(), 200, {**TEXT, "Content-Length": str(10**10)}))
    assert "more than 1,000,000 bytes" in str(error)
    assert server.sent < 20_000_000


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize(("size", "fits"), [(1_000_000, True), (1_000_001, False)])
def test_a_body_of_just_the_limit_is_read(size: int, fits: bool, declared: bool) -> None:
    body = b"x" * size
    reply, _, _ = page(Answer(body if declared else iter([body]), 200, TEXT))
    assert isinstance(reply, Reply) is fits


def test_a_slow_drip_ends_in_time() -> None:
    error, _, seconds = page(Answer(endless(b"x", 0.1), 200, TEXT), RequestLimits(seconds=0.5))
    assert "took longer than 0.5 s" in str(error)
    assert seconds < 1.5


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"\0" * 50_000_000, 1)),
        ("DEFLATE", zlib.compress(b"\0" * 50_000_000, 1)),
        ("gzip", b"this is no gzip at all"),
        ("br", b"\x0b\x02\x80hello\x03"),
        ("zstd", b"\x28\xb5\x2f\xfd"),
        ("identity, gzip", gzip.compress(b"x")),
    ],
    ids=["bomb", "deflate bomb", "no gzip", "brotli", "zstd", "identity"],
)
def test_what_is_packed_was_not_asked_for_and_is_refused(encoding: str, body: bytes) -> None:
    error, _, _ = page(Answer(body, 200, {**TEXT, "Content-Encoding": encoding}))
    assert isinstance(error, PageUnusable)
    reply, _, _ = page(Answer(b"plain", 200, {**TEXT, "Content-Encoding": "Identity"}))
    assert isinstance(reply, Reply)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("image/png", b"\x89PNG\r\n"),
        ("application/octet-stream", b"hello"),
        ("application/zip", b"PK\x03\x04"),
        ("text/html", b"PK\x03\x04 hidden zip"),
        ("text/html", b"\x7fELF\x02\x01"),
        ("text/plain", b"text \x00\x01\x02 then binary"),
        ("application/pdf", b"<html>no pdf</html>"),
        ("application/json", b"{}"),
        ("text/html, image/png", b"<html>"),
        ("video/mp4", b"\x00\x00\x00\x18ftyp"),
        ("", b"\x89PNG\r\n"),
    ],
)
def test_types_that_are_not_read(kind: str, body: bytes) -> None:
    error, _, _ = page(Answer(body, 200, {"Content-Type": kind} if kind else {}))
    assert isinstance(error, PageUnusable)
    assert "which is not read" in str(error)


@pytest.mark.parametrize(
    ("kind", "body", "media"),
    [
        ("text/html; charset=euc-kr", b"<html>", "text/html"),
        ("TEXT/HTML", b"<html>", "text/html"),
        ("", b"<!DOCTYPE html><html>", "text/html"),
        ("", b"plain words", "text/plain"),
        ("text/plain", b"%PDF-1.7 ...", "application/pdf"),
        ("application/pdf", b"%PDF-1.7 ...", "application/pdf"),
    ],
)
def test_types_that_are_read(kind: str, body: bytes, media: str) -> None:
    reply, _, _ = page(Answer(body, 200, {"Content-Type": kind} if kind else {}))
    assert isinstance(reply, Reply)
    assert reply.media_type == media


def test_a_server_that_closes_without_a_word() -> None:
    import socket
    import threading

    with socket.create_server(("127.0.0.1", 0)) as listening:

        def hang_up() -> None:
            connection, _ = listening.accept()
            connection.close()

        thread = threading.Thread(target=hang_up, daemon=True)
        thread.start()
        port = listening.getsockname()[1]
        with pytest.raises(PageUnusable, match="failed"):
            fetch(guard(f"h.example:{port}", table={"h.example": ["127.0.0.1"]}), f"http://h.example:{port}/")
        thread.join()


@pytest.mark.parametrize("noise", [b"HTTP/1.1 100 Continue\r\n\r\n", b"X-Y: z\r\n", b"a"])
def test_endless_headers_end(noise: bytes) -> None:
    import contextlib
    import socket
    import threading

    with socket.create_server(("127.0.0.1", 0)) as listening:

        def babble() -> None:
            connection, _ = listening.accept()
            with connection, contextlib.suppress(OSError):
                connection.sendall(b"" if noise.startswith(b"HTTP") else b"HTTP/1.1 200 OK\r\n")
                while True:
                    connection.sendall(noise * 100)

        thread = threading.Thread(target=babble, daemon=True)
        thread.start()
        port = listening.getsockname()[1]
        transport = guard(f"h.example:{port}", table={"h.example": ["127.0.0.1"]}, limits=RequestLimits(seconds=1.0))
        began = time.monotonic()
        with pytest.raises(PageUnusable):
            fetch(transport, f"http://h.example:{port}/")
        assert time.monotonic() - began < 3
        thread.join(5)


# TLS is spoken with the name, though the connection goes to the address.


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    key = path.with_name("key.pem")
    name = ["-subj", "/CN=safe.example", "-addext", "subjectAltName=DNS:safe.example"]
    how = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    command = ["openssl", "req", "-x509", *how, *name, "-keyout", str(key), "-out", str(path)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs openssl")
    path.write_bytes(path.read_bytes() + key.read_bytes())
    return path


def test_tls_is_checked_against_the_name(certificate: Path) -> None:
    told: list[str | None] = []
    server_side = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_side.load_cert_chain(certificate)
    server_side.sni_callback = lambda _socket, name, _context: told.append(name)
    client_side = ssl.create_default_context(cafile=str(certificate))
    with serving(lambda _: Answer.html("<p>safe</p>"), tls=server_side) as server:
        table = {"safe.example": ["127.0.0.1"], "other.example": ["127.0.0.1"]}
        allowed = Permissions.of(f"{name}:{server.port}" for name in table)
        transport = Guard(allowed, RequestLimits(seconds=5.0), names(table), client_side)
        assert b"safe" in fetch(transport, f"https://safe.example:{server.port}/").body
        with pytest.raises(PageUnusable, match="failed"):
            fetch(transport, f"https://other.example:{server.port}/")
        with pytest.raises(PageUnusable, match="failed"):
            fetch(Guard(allowed, RequestLimits(seconds=5.0), names(table)), f"https://safe.example:{server.port}/")
    assert told[:2] == ["safe.example", "other.example"]
