"""The generated pages say what the code says, whatever the terminal, and a stale page is found."""

from pathlib import Path

import click
import pytest

from scripts.generate_docs import MANY, WIDTH, cli_page, graphs, stale, with_region


@click.group()
def tool() -> None:
    """A tool for the test."""


@tool.group()
def shelf() -> None:
    """Keep books."""


@shelf.command()
@click.argument("title")
@click.option("--copies", type=int, default=1, show_default=True, help="How many of them there are. " * 6)
def add(title: str, copies: int) -> None:
    """Add a book."""


@tool.command(hidden=True)
def secret() -> None:
    """Not for the reference."""


def test_the_reference_covers_every_command_but_hidden_ones() -> None:
    page = cli_page(tool, "tool")
    assert [line for line in page.splitlines() if line.startswith("## ")] == [
        "## `tool`",
        "## `tool shelf`",
        "## `tool shelf add`",
    ]
    assert "Usage: tool shelf add [OPTIONS] TITLE" in page
    assert "[default: 1]" in page
    assert "Not for the reference" not in page


def test_an_option_that_many_commands_share_is_explained_once() -> None:
    group = click.Group("box")
    for number in range(MANY):
        option = click.Option(["--where"], metavar="DIR", help="Which folder.")
        group.add_command(click.Command(f"c{number}", params=[option], help="Do it."))
    page = cli_page(group, "box")
    assert page.count("Which folder.") == 1
    assert "- `--where DIR`: Which folder." in page
    assert page.count("Also: --where.") == MANY


def test_the_reference_does_not_depend_on_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = set()
    for columns in ("40", "80", "300"):
        monkeypatch.setenv("COLUMNS", columns)
        pages.add(cli_page(tool, "tool"))
    assert len(pages) == 1
    assert max(len(line) for line in pages.pop().partition("```text")[2].splitlines()) <= WIDTH


def test_presets_with_the_same_graph_share_its_picture() -> None:
    drawn = graphs(
        {"a": "graph TD;\n", "b": "graph LR;", "c": "graph TD;"}, {"a": "first", "b": "second", "c": "third"}
    )
    assert drawn.count("```mermaid") == 2
    assert "### `a`, `c`\n\n- `a`: first\n- `c`: third\n" in drawn


def test_only_the_marked_region_is_written() -> None:
    written = with_region("Before\n<begin>old<end>\nAfter\n", "<begin>", "<end>", "new\n")
    assert written == "Before\n<begin>\n\nnew\n\n<end>\nAfter\n"
    assert with_region(written, "<begin>", "<end>", "new") == written


@pytest.mark.parametrize("text", ["", "<begin> only", "<end> before <begin>"])
def test_a_page_without_the_marks_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a region"):
        with_region(text, "<begin>", "<end>", "new")


def test_missing_and_changed_pages_are_stale(tmp_path: Path) -> None:
    (tmp_path / "kept.md").write_text("as it should be\n", encoding="utf-8")
    (tmp_path / "changed.md").write_text("edited by hand\n", encoding="utf-8")
    pages = {Path(name): "as it should be\n" for name in ("kept.md", "changed.md", "missing.md")}
    assert stale(tmp_path, pages) == [Path("changed.md"), Path("missing.md")]
