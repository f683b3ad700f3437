"""What a web page does not show is not read."""

import contextlib
import time
from pathlib import Path

import pytest

from selfright.domain.errors import PageUnusable, UnreadableFile
from selfright.ingest.files import SourceFile
from selfright.ingest.readers import html as reader
from selfright.web.addresses import target_of
from selfright.web.extract import read_reply
from selfright.web.types import Reply

# Styles of one element that hide it from everybody who looks at the page.
HIDING = """
display:none | DISPLAY : None !important | d\\69splay:none | display:/**/none | display:n\\6fne
display:none;color:red | display:block;display:none | display:none!important;display:block | visibility:hidden
visibility:collapse | content-visibility:hidden | opacity:0 | opacity:0% | opacity:.01 | opacity:1e-3
opacity:calc(1 - 1) | filter:opacity(0) | zoom:1% | scale:0 | scale:1 0 | transform:scale(0) | transform:scaleX(0)
transform:scale3d(0,0,0) | transform:matrix(0,0,0,0,0,0) | transform:translate(-9999px) | transform:translateX(-100vw)
transform:translateY(-9999px) | transform:translate3d(-999em,0,0) | translate:-9999px | translate:0 -9999px
transform:rotateX(90deg) | rotate:x 90deg | transform:rotateY(.25turn)
backface-visibility:hidden;transform:rotateY(180deg) | position:absolute;left:-9999px | position:absolute;top:-999em
position:fixed;right:-9999px | position:absolute;left:calc(-1 * 9999px) | position:absolute;left:-100vw
position:absolute;left:99999px | position:absolute;inset:0 auto auto -9999px
position:absolute;inset-inline-start:-9999px | margin-left:-9999px | margin:-9999px 0 0 0 | text-indent:-9999px
text-indent:100%;overflow:hidden;white-space:nowrap | position:absolute;clip:rect(0,0,0,0)
position:absolute;clip:rect(1px,1px,1px,1px) | position:absolute;clip:rect(0 0 0 0) | clip-path:inset(50%)
clip-path:inset(100%) | clip-path:inset(0 100% 0 0) | clip-path:circle(0) | clip-path:ellipse(0 0)
clip-path:polygon(0 0,0 0,0 0) | -webkit-clip-path:inset(100%) | height:0;overflow:hidden | max-height:0;overflow:clip
width:1px;height:1px;overflow:hidden | block-size:0;overflow:hidden | max-width:0;overflow-x:hidden;white-space:nowrap
line-height:0;overflow:hidden | height:0;contain:strict | font-size:0 | font-size:1px | font-size:.1em | font-size:1%
font:0/0 serif | font:0 a | font:1px/1 serif | letter-spacing:-1em | color:transparent | color:#0000 | color:#ffffff00
color:rgba(0,0,0,0) | color:rgb(0 0 0 / 0%) | color:hsla(0,0%,0%,0) | -webkit-text-fill-color:transparent | color:#fff
color:white | color:#fefefe | color:rgb(254, 254, 255) | color:hsl(0 0% 100%) | color:white;background:white
color:#000;background:#000 | color:red;background-color:#f00 | color:#123456;background:#123457 no-repeat
color:oklch(1 0 0) | color:lab(100 0 0) | color:oklab(1 0 0 / 0) | color:Canvas | transform:skew(90deg)
font-size-adjust:0 | transform:rotate3d(1,0,0,90deg) | rotate:1 0 0 90deg
transform:matrix3d(0,0,0,0,0,0,0,0,0,0,1,0,0,0,0,1) | padding-left:99999px | word-spacing:-9999px
margin-inline:-9999px 9999px | display:table-column | clip-path:xywh(0 0 0 0) | clip-path:rect(0 0 0 0)
--a:none;display:var(--a) | display:var(--none, none) | --o:0;color:rgb(0 0 0 / var(--o)) | opacity:env(none, 0)
--k:-1;position:absolute;left:calc(var(--k) * 9999px) | display:none;display:foo | display:none;display:block foo
opacity:0;opacity:foo | color:white;color:foo | visibility:hidden;visibility:shown | font-size:0;font-size:-3px
position:absolute;left:-9999px;left:foo | position:absolute;left:-9999px;left:9foo
height:0;height:-5px;overflow:hidden | position:absolute;right:110vw | position:fixed;top:100vh
position:fixed;bottom:-200px | position:fixed;inset:100% 0 auto
transform:matrix(1,0,0,1,-9999,0) | transform:matrix3d(1,0,0,0,0,1,0,0,0,0,1,0,-9999,0,0,1) | zoom:.05
-webkit-transform:translateX(-9999px) | clip-path:circle(50% at -9999px 0)
clip-path:polygon(-100px -100px, -50px -100px, -50px -50px) | color:color-mix(in srgb, white, white)
color:color-mix(in srgb, black 0%, transparent) | color:rgb(from white r g b) | color:color(display-p3 1 1 1)
color:light-dark(white,black) | color:Window | color:white;background:linear-gradient(#fff,#fff)
color:navy;background:linear-gradient(navy,navy) | background:currentcolor
background:none;background-clip:text;color:transparent
background:linear-gradient(white,white);background-clip:text;color:transparent
background:white;-webkit-background-clip:text;color:transparent
"""
# Tags, sheets and surroundings that do: the text to be hidden stands in place of the sign ¤.
HIDDEN = [
    "<p hidden>¤</p>",
    '<p hidden="until-found">¤</p>',
    "<div hidden><p>¤</p></div>",
    '<p aria-hidden="true">¤</p>',
    "<p popover>¤</p>",
    "<dialog>¤</dialog>",
    "<template>¤</template>",
    "<noscript>¤</noscript>",
    "<datalist><option>¤</datalist>",
    '<font color="white">¤</font>',
    '<table><tr><td bgcolor="black"><font color="black">¤</font></table>',
    '<p class="sr-only">¤</p>',
    '<div style="color:white"><p>¤</p></div>',
    '<div style="background:#333"><p style="color:#333">¤</p></div>',
    '<div style="font-size:10px"><p style="font-size:10%">¤</p></div>',
    '<div style="visibility:hidden"><p>¤</p></div>',
    "<style>.gone{display:none}</style><p class='note gone'>¤</p>",
    "<style>#secret{visibility:hidden}</style><p id=secret>¤</p>",
    "<style>p.gone{opacity:0}</style><p class=gone>¤</p>",
    "<style>.a .b{display:none}</style><div class=a><i><p class=b>¤</p></i></div>",
    "<style>.a > .b{display:none}</style><div class=a><p class=b>¤</p></div>",
    "<style>.a + p{display:none}</style><p class=a>seen</p><p>¤</p>",
    "<style>.a ~ p{display:none}</style><div><p class=a>seen</p><b>seen</b><p>¤</p></div>",
    "<style>[data-x]{display:none}</style><p data-x>¤</p>",
    "<style>[class^=go]{display:none}</style><p class=gone>¤</p>",
    "<style>p:nth-child(2){display:none}</style><div><p>seen</p><p>¤</p></div>",
    "<style>i:not(.shown){display:none}</style><i>¤</i>",
    "<style>.Gone{display:none}</style><p class=gone>¤</p>",
    "<style>:is(.a,.b){display:none}</style><p class=b>¤</p>",
    "<style>div p:nth-of-type(2){display:none}</style><div><p>seen</p><i>seen</i><p>¤</p></div>",
    "<style>@media screen{.gone{display:none}}</style><p class=gone>¤</p>",
    "<style>@media (min-width:1px){.gone{display:none}}</style><p class=gone>¤</p>",
    "<style>@media (hover){.gone{display:none}}</style><p class=gone>¤</p>",
    "<style>@supports (display:grid){.gone{display:none}}</style><p class=gone>¤</p>",
    "<style>@layer a{.gone{display:none}}</style><p class=gone>¤</p>",
    "<style>div{& .gone{display:none}}</style><div><p class=gone>¤</p></div>",
    "<style>div{.gone{display:none}}</style><div><p class=gone>¤</p></div>",
    "<style>.g\\6fne{display:none}</style><p class=gone>¤</p>",
    "<style>.gone{display:none}@media print{.gone{display:block}}</style><p class=gone>¤</p>",
    "<style>.gone{display:none}@supports (x:y){.gone{display:block}}</style><p class=gone>¤</p>",
    "<style>:root{--bg:#fff}#x{color:var(--bg)}</style><p id=x>¤</p>",
    "<style>#x{color:white}</style><p id=x>¤</p>",
    "<style>.gone{display:none!important}</style><p class=gone style='display:block'>¤</p>",
    "<div style='opacity:.3'><div style='opacity:.3'><div style='opacity:.3'><p>¤</p></div></div></div>",
    "<div style='transform:scale(.3)'><div style='transform:scale(.3)'><p>¤</p></div></div>",
    "<div style='visibility:hidden'><p style='visibility:inherit'>¤</p></div>",
    "<meter>¤</meter>",
    "<style>@media (width >= 500px){.gone{color:#fff}}</style><p class=gone>¤</p>",
    "<style>@media (9px<width<3000px) and (prefers-color-scheme:light){.gone{color:#fff}}</style><p class=gone>¤</p>",
    "<style>@media not all and (max-width:500px){.gone{color:#fff}}</style><p class=gone>¤</p>",
    "<style>@layer a,b;@layer b{.gone{display:none}}@layer a{.gone{display:block}}</style><p class=gone>¤</p>",
    "<style>@layer a{.gone{display:none!important}}.gone{display:block!important}</style><p class=gone>¤</p>",
    "<style>@layer a{#x{display:block}}.gone{display:none}</style><p class=gone id=x>¤</p>",
]
SHOWN = [
    *(
        f'<p style="{style}">¤</p>'
        for style in [
            "font-size: 12px",
            "font-size: 0.8em",
            "font-size: 100%",
            "font: italic 12px/1.5 serif",
            "opacity: 0.9",
            "opacity: 1",
            "opacity: 90%",
            "margin-left: -20px",
            "color: white; background: #003366",
            "color:#333",
            "height: 0",
            "width: 100%; overflow: hidden",
            "dis/**/play:none",
            "display:none;display:block",
            "transform: translate(-50%, -50%)",
            "transform: scale(.9)",
            "transform: rotate(90deg)",
            "line-height: 0.9",
            "letter-spacing: -0.02em",
            "clip-path: inset(0 round 8px)",
            "color: transparent; background: linear-gradient(red, blue); background-clip: text",
            "inset: 0",
            "visibility: visible",
            "position: absolute; left: 200px",
            "color: #fff; background: url(night.png)",
            "max-width: 0.5em; margin-left: -10px",
            "display: var(--missing, block)",
            "display: none; display: inline-block",
            "display: inline none",
            "opacity: 0; opacity: 1",
            "position: absolute; right: 100%",
            "position: sticky; top: 0",
            "transform: matrix(1, 0, 0, 1, 0, -20)",
            "color: color-mix(in srgb, black 60%, white)",
            "color: rgb(from black r g b / 80%)",
            "color: light-dark(#333, #eee)",
            "color: white; background: linear-gradient(navy, blue)",
            "color: white; background: ButtonText",
            "-webkit-text-fill-color: #333",
            "font-size-adjust: 0.5",
            "zoom: 1.5",
            "inset: 10px auto",
        ]
    ),
    "<style>.note{color:red} /* .note{display:none} */</style><p class=note>¤</p>",
    "<style>.a .b{display:none}</style><p class=b>¤</p>",
    "<style>.a > .b{display:none}</style><div class=a><div><p class=b>¤</p></div></div>",
    "<style>@media print{p{display:none}}</style><p>¤</p>",
    "<style media=print>p{display:none}</style><p>¤</p>",
    "<style>@media (max-width:600px){p{display:none}}</style><p>¤</p>",
    "<style>.tab{display:none}.tab.active{display:block}</style><p class='tab active'>¤</p>",
    "<style>.tab{display:none}</style><p class=tab style='display:block'>¤</p>",
    "<style>p:hover{display:none}p::before{display:none}</style><p>¤</p>",
    '<div style="font-size:0"><p style="font-size:16px">¤</p></div>',
    '<div style="visibility:hidden"><p style="visibility:visible">¤</p></div>',
    '<div style="color:white"><p style="background:navy">¤</p></div>',
    '<div style="background:#000"><p style="color:#fff">¤</p></div>',
    "<style>body{visibility:hidden}</style><p>¤</p>",
    "<div style='opacity:.8'><div style='opacity:.8'><div style='opacity:.8'><p>¤</p></div></div></div>",
    "<style>@media (prefers-color-scheme:dark){p{display:none}}</style><p>¤</p>",
    "<style>@media (width<600px){p{display:none}}</style><p>¤</p>",
    "<style>@media (hover:none), (pointer:coarse){p{display:none}}</style><p>¤</p>",
    "<style>@media not screen{p{display:none}}</style><p>¤</p>",
    "<style>@layer a,b;@layer b{p{display:block}}@layer a{p{display:none}}</style><p>¤</p>",
    "<style>@layer a{#x{display:none}}p{display:block}</style><p id=x>¤</p>",
]
BEFORE = "<p>The lamp of the lighthouse is lit at dusk, and put out at dawn by its keeper, every day of the year.</p>"
AFTER = "<p>Ships steer by its light, and in fog by its horn, which sounds twice a minute until the air is clear.</p>"
PLANTED = "The keeper planted forty oaks behind the wall."

ways = pytest.mark.parametrize(
    "way",
    [
        *(
            f'<p style="{style.strip()}">¤</p>'
            for line in HIDING.split("\n")
            for style in line.split("|")
            if style.strip()
        ),
        *HIDDEN,
    ],
)


def page(body: str) -> str:
    return f"<html><head><title>Lamp</title></head><body>{BEFORE}{body.replace('¤', PLANTED)}{AFTER}</body></html>"


def as_file(folder: Path, text: str) -> str:
    path = folder / "page.html"
    path.write_text(text, encoding="utf-8")
    (document,) = reader.read(SourceFile(path, "page.html"))
    return document.text


def fetched(text: str) -> str:
    address = target_of("https://example.org/lamp")
    return read_reply(Reply(address, 200, {}, text.encode(), "text/html", None)).text


@ways
def test_what_nobody_sees_is_not_read(way: str, tmp_path: Path) -> None:
    for text in (as_file(tmp_path, page(way)), fetched(page(way))):
        assert "planted forty" not in text
        assert "put out at dawn" in text
        assert "sounds twice" in text


@pytest.mark.parametrize("way", SHOWN)
def test_what_is_shown_is_read(way: str, tmp_path: Path) -> None:
    assert "planted forty" in as_file(tmp_path, page(way))
    assert "planted forty" in fetched(page(way))


@pytest.mark.parametrize(
    "body",
    [
        "<p " + " ".join(f"a{n}=1" for n in range(40_000)) + ">text</p>",
        "<style>" + ".a{" * 20_000 + "</style>",
        "<style>" + "a," * 40_000 + "b{display:none}</style>",
        "<style>" + "*{color:red}" * 15_000 + "</style>" + "<p>a" * 5_000,
        "<style>" + "a{b,c,d,e{" * 30 + "color:red" + "}}" * 30 + "</style>",
        "<p style='width:" + "calc(" * 20_000 + "'>",
        "<style>p" + ":not(p" * 5_000 + "{color:red}</style>",
        "<style>p:nth-of-type(2n){color:red}</style>" + "<p>a</p>" * 40_000,
    ],
    ids=["attributes", "nested", "selectors", "rules", "product", "calc", "not", "of-type"],
)
def test_a_page_that_is_an_attack_costs_little(body: str, tmp_path: Path) -> None:
    began = time.process_time()
    with contextlib.suppress(UnreadableFile):
        as_file(tmp_path, page(body))
    with contextlib.suppress(PageUnusable):
        fetched(page(body))
    assert time.process_time() - began < 20


@pytest.mark.parametrize(
    "body",
    [
        "<style>" + " ".join(["div"] * 60) + " p{display:none}</style>" + "<div>" * 200 + "<p>¤</p>" * 200,
        "<style>" + " ~ ".join(["p"] * 60) + "{color:red}</style>" + "<p>a</p>" * 5_000,
        "<style>p:nth-child(2n){color:red} div:has(p){color:red}</style>" + "<p>a</p>" * 20_000,
        "<style>:root{"
        + "".join(f"--a{n}:var(--a{n + 1}) var(--a{n + 1});" for n in range(40))
        + "} p{color:var(--a0)}</style>",
    ],
    ids=["descendants", "siblings", "children", "variables"],
)
def test_matching_is_linear(body: str, tmp_path: Path) -> None:
    began = time.process_time()
    as_file(tmp_path, page(body))
    assert time.process_time() - began < 10


def test_the_cases_of_hidden_text_stay_out_of_the_index(tmp_path: Path) -> None:
    from selfright.ingest.reading import read_page
    from tests.redteam.arena import read_cases

    hidden = [case for case in read_cases() if case.family == "hidden_text"]
    pages = [
        (case, text) for case in hidden for name, text in {**case.files, **case.pages}.items() if name.endswith(".html")
    ]
    assert pages
    for case, text in pages:
        path = tmp_path / f"{case.id}.html"
        path.write_text(text, encoding="utf-8")
        read = read_page(path)
        assert not any(planted in read.text for planted in case.planted), case.id
