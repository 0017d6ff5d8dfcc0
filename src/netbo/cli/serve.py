"""The command that serves the page of a study, with links for managers, crews and readers."""

import tempfile
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from typing import Any

import click

from netbo.cli.options import COUNT, PATH, StudyRef, study_command, study_options
from netbo.errors import ParameterError
from netbo.optional import require
from netbo.studies import Study
from netbo.studies.resilience import deferred_interrupts

LOCAL = ("127.0.0.1", "localhost", "::1")
WITHOUT_TLS = (
    "without a certificate everybody between can read and change what is sent, phones tell no position "
    "(GPS), and the page cannot be opened again without coverage; an open page keeps values through a gap"
)


@study_command()
@click.option("--demo", is_flag=True, help="Serve a simulated leak search: a crew answers by itself.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at; 0.0.0.0 for all.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="0 for any.")
@click.option("--certificate", type=PATH, help="TLS certificate (PEM), with --private-key.")
@click.option("--private-key", type=PATH, help="Its key (PEM).")
@click.option("--insecure", is_flag=True, help="Listen beyond this machine without a certificate.")
@click.option("--url", help="Address under which people reach it, such as a proxy's: for the links.")
@click.option(
    "--crew", "crews", multiple=True, metavar="NAME", help="Print a link for this crew; repeatable."
)
@click.option("--key-file", type=PATH, help="Where the key of the links is kept; NAME.page-key by default.")
@click.option(
    "--background", metavar="URL", help="Raster tiles behind the network: https://.../{z}/{x}/{y}.png"
)
@click.option("--credit", default="", help="Whom to thank for them.")
@click.option("--travel-cost", type=float, default=0.0, help="Of one unit of length, as for ask.")
@click.option("--radius", type=float, help="Farthest a crew goes along the network.")
@click.option("--budget", type=COUNT, help="Hand out no more than this many places in all.")
@study_options
def serve(ref: StudyRef, demo: bool, background: str | None, credit: str, **options: Any) -> None:
    """Serve a live map of the study: where to go, what was found, how sure it is.

    Whoever has a link has its role. Ctrl-C ends the server; every value is in the study.
    """
    for name in ("fastapi", "uvicorn", "segno"):
        require(name, extra="page", purpose="the page of a study")
    from netbo.page.server import Background  # noqa: PLC0415 - needs the extra 'page'

    tiles = None if background is None else Background(background, credit)
    certificate = _certificate(options)
    with ExitStack() as ends:
        if demo:
            from netbo.page.demo import demo_study  # noqa: PLC0415

            study = demo_study(Path(ends.enter_context(tempfile.TemporaryDirectory())))
        else:
            study = ref.open()
        _serve(study, ends, options, certificate=certificate, background=tiles, is_demo=demo)


def _certificate(options: dict[str, Any]) -> tuple[str, str] | None:
    """Files of the certificate; refuses to listen beyond this machine without one."""
    files = options.pop("certificate"), options.pop("private_key")
    if (files[0] is None) != (files[1] is None):
        raise ParameterError("a certificate needs its key, got one of --certificate and --private-key")
    if files[0] is not None:
        return str(files[0]), str(files[1])
    if options["host"] not in LOCAL and not options["insecure"]:
        raise ParameterError(
            f"--host {options['host']} is reached from other machines and needs --certificate and "
            f"--private-key, or a proxy that has them; --insecure goes without: {WITHOUT_TLS}"
        )
    if options["host"] not in LOCAL:
        click.echo(f"warning: {WITHOUT_TLS}", err=True)
    return None


def _serve(
    study: Study, ends: ExitStack, options: dict[str, Any], *, is_demo: bool,
    certificate: tuple[str, str] | None, background: Any,
) -> None:  # fmt: skip
    from netbo.page.demo import CREW, DemoCrew  # noqa: PLC0415 - needs the extra 'page', as all below
    from netbo.page.live import CrewRules, LiveStudy  # noqa: PLC0415
    from netbo.page.roles import open_doors  # noqa: PLC0415
    from netbo.page.server import PageServer, make_app  # noqa: PLC0415

    folder = Path(ends.enter_context(tempfile.TemporaryDirectory())) if is_demo else Path()
    doors = open_doors(options["key_file"] or folder / f"{study.name}.page-key", study.name)
    live = LiveStudy(study, CrewRules(options["travel_cost"], options["radius"], options["budget"]))
    url = options["url"]
    is_secure = certificate is not None or (url or "").startswith("https://")
    app = make_app(live, doors, is_secure=is_secure, public_url=url, background=background)
    with deferred_interrupts() as interrupted:
        server = ends.enter_context(
            PageServer(app, host=options["host"], port=options["port"], certificate=certificate)
        )
        if is_demo:
            ends.callback(DemoCrew(live).close)
        _print_links(url or server.url, doors, (*options["crews"], *((CREW,) if is_demo else ())))
        wait = Event()
        while not interrupted.requested and not wait.wait(0.3):
            pass
    click.echo("ended; every value is in the study", err=True)


def _print_links(base: str, doors: Any, crews: tuple[str, ...]) -> None:
    """Links as text and as codes for phones."""
    import segno  # noqa: PLC0415 - needs the extra 'page'

    from netbo.page.roles import Holder  # noqa: PLC0415

    for role, name in (("manager", "manager"), *(("crew", each) for each in crews), ("reader", "guest")):
        link = f"{base.rstrip('/')}/#{doors.token(Holder(role, name))}"
        click.echo(f"\n{role} {name}: {link}" if role == "crew" else f"\n{role}: {link}")
        if role == "crew":
            segno.make(link, error="l").terminal(compact=True)
    click.echo("\nMake more links on the page, under More. Ctrl-C ends the server.")
