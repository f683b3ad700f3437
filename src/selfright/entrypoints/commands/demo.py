"""``selfright demo``."""

from dataclasses import dataclass
from pathlib import Path

import click

DATA = Path(__file__).parents[2] / "demo"


@dataclass(frozen=True, slots=True)
class Scene:
    """One question of the demo, and the path it is there to show."""

    path: str
    question: str


SCENES = (
    Scene("right at once", "How many days can an opened insulin glargine pen be used at room temperature?"),
    Scene(
        "corrected by a rewritten query",
        "데이터를 지웠는데도 파일 용량이 그대로야. 디스크 공간을 돌려받으려면 어떻게 해?",
    ),
    Scene("rescued by the web", "What preventive dose of acetazolamide do adults take against altitude sickness?"),
    Scene("ambiguous: index and web merged", "FxStore를 안드로이드 앱에서 쓸 수 있어?"),
    Scene("honest abstention", "FxStore를 파이썬에서 쓰려면 어떤 패키지를 설치해?"),
)


@click.command()
def demo() -> None:
    """Five questions over the demo documents, each a different path through the loop. Offline."""
    from selfright.api import Selfright
    from selfright.entrypoints.account import account
    from selfright.entrypoints.progress import bar
    from selfright.settings import load_settings

    home = load_settings().home
    values = {"web_provider": "static", "web_folder": str(DATA / "web")}
    with Selfright.open(home / "demo" / "index", **values) as selfright:
        with bar("Indexing the demo documents") as progress:
            report = selfright.add([DATA / "documents"], progress=progress)
        click.echo(f"{report.added + report.replaced + report.unchanged} demo documents, Korean and English\n")
        for number, scene in enumerate(SCENES, start=1):
            click.secho(f"{number}. {scene.path}", bold=True)
            click.secho(f"   {scene.question}\n", fg="cyan")
            click.echo(_indented(account(selfright.ask(scene.question))) + "\n")
    click.echo("Now with your own documents:")
    click.echo("  selfright index add DOCS/")
    click.echo('  selfright ask "..."')
    click.echo(f'More of the demo: selfright ask "What does error FX-1007 mean?" --index "{home / "demo" / "index"}"')


def _indented(text: str) -> str:
    return "\n".join(f"   {line}".rstrip() for line in text.splitlines())
