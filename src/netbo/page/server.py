"""The web server of a study: page, API, doors; safe for people and values."""

import json
import mimetypes
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.datastructures import MutableHeaders
from starlette.middleware.gzip import GZipMiddleware

from netbo import __version__
from netbo.errors import BaseError, ExhaustedError, ObservationError, ParameterError, StudyFileError
from netbo.page.live import LiveStudy
from netbo.page.roles import Doors
from netbo.page.routes import api
from netbo.page.shell import MAPLIBRE, STATIC, maplibre_file, shell

LARGEST_BODY = 64_000  # bytes
PATIENCE = 2  # seconds that open streams get when the server ends
SHELL_SUFFIXES = (".js", ".css", ".svg", ".json")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:{tiles}; "
    "connect-src 'self'{tiles}; worker-src 'self' blob:; manifest-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "x-content-type-options": "nosniff", "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "geolocation=(self), camera=(), microphone=()",
}  # fmt: skip
STATUS: dict[type[BaseError], int] = {StudyFileError: 503, ObservationError: 409, ExhaustedError: 409}
Scope = MutableMapping[str, Any]
Send = Callable[[Scope], Awaitable[None]]
Receive = Callable[[], Awaitable[Scope]]


@dataclass(frozen=True, slots=True)
class Background:
    """Raster tiles behind the network: their address with {z}, {x} and {y}, and whom to thank."""

    url: str
    credit: str = ""

    @property
    def origin(self) -> str:
        """What the policy has to allow."""
        scheme, _, rest = self.url.partition("://")
        host = rest.partition("/")[0]
        if scheme not in ("http", "https") or not host or any(mark in host for mark in "{};, '\""):
            raise ParameterError(
                f"a background must be https://HOST/.../{{z}}/{{x}}/{{y}}.png, got {self.url!r}"
            )
        return f" {scheme}://{host}"


class Guard:
    """Refuses bodies that are too large or do not say how large they are, and adds the headers of safety."""

    def __init__(self, app: Any, policy: str) -> None:
        self.app, self.headers = app, {**HEADERS, "content-security-policy": policy}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it by its headers, by which the server below counts."""

        async def guarded(message: Scope) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, text in self.headers.items():
                    headers.setdefault(name, text)
                if scope["path"].startswith("/api/"):
                    headers.setdefault("cache-control", "no-store")
            await send(message)

        given = dict(scope.get("headers", ()))
        length = given.get(b"content-length", b"0")
        answer: Any = self.app
        if scope["type"] == "http" and b"transfer-encoding" in given:
            answer = JSONResponse({"detail": "say how long the request is, by content-length"}, 411)
        elif scope["type"] == "http" and not (length.isdigit() and int(length) <= LARGEST_BODY):
            answer = JSONResponse({"detail": f"a request has at most {LARGEST_BODY} bytes"}, 413)
        await answer(scope, receive, guarded)


def make_app(
    live: LiveStudy, doors: Doors, *, is_secure: bool = False, public_url: str | None = None,
    background: Background | None = None,
) -> FastAPI:  # fmt: skip
    """The application; it follows the study while it runs."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        live.start()
        yield
        live.close()

    app = FastAPI(
        title="netbo: a study on a network", version=__version__, lifespan=lifespan, docs_url=None,
        redoc_url=None, openapi_url="/api/v1/openapi.json",
    )  # fmt: skip
    app.state.live, app.state.doors = live, doors
    app.state.is_secure, app.state.public_url = is_secure, public_url
    policy = POLICY.format(tiles="" if background is None else background.origin)

    @app.exception_handler(BaseError)
    def refuse(_: Request, error: BaseError) -> JSONResponse:
        status = next((code for kind, code in STATUS.items() if isinstance(error, kind)), 422)
        return JSONResponse({"detail": str(error)}, status)

    @app.exception_handler(RequestValidationError)
    def explain(_: Request, error: RequestValidationError) -> JSONResponse:
        said = "; ".join(f"{'.'.join(map(str, each['loc'][1:]))}: {each['msg']}" for each in error.errors())
        return JSONResponse({"detail": said}, 422)

    app.add_middleware(GZipMiddleware, minimum_size=2_000, compresslevel=1)
    app.add_middleware(Guard, policy=policy)
    app.include_router(api)
    tiles = None if background is None else {"url": background.url, "credit": background.credit}
    _add_files(app, {"background": tiles, "store": doors.cookie})
    return app


def _add_files(app: FastAPI, settings: dict[str, Any]) -> None:
    """The page itself, which holds no data, and what it loads."""

    @app.get("/", include_in_schema=False)
    def page() -> Response:
        return Response(shell(settings), media_type="text/html", headers={"cache-control": "no-cache"})

    @app.get("/static/{name}", include_in_schema=False)
    def static(name: str) -> Response:
        return _file(STATIC / name) if name.endswith(SHELL_SUFFIXES) and "/" not in name else _missing()

    @app.get("/sw.js", include_in_schema=False)
    def service_worker() -> Response:
        return _file(STATIC / "sw.js")

    @app.get("/maplibre/{name}", include_in_schema=False)
    def maplibre(name: str) -> Response:
        path = maplibre_file(name) if name in MAPLIBRE else None
        return _missing() if path is None else _file(path, "public, max-age=86400")


def _file(path: Path, cache: str = "no-cache") -> Response:
    if not path.is_file():
        return _missing()
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    kind = "text/javascript" if path.suffix == ".js" else kind
    return Response(path.read_bytes(), media_type=kind, headers={"cache-control": cache})


def _missing() -> Response:
    return Response(json.dumps({"detail": "there is nothing here"}), 404, media_type="application/json")


class PageServer:
    """A running server; leave the `with` block, or call `stop`, to end it."""

    def __init__(
        self,
        app: FastAPI,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        certificate: tuple[str, str] | None = None,
    ) -> None:
        files = {} if certificate is None else {"ssl_certfile": certificate[0], "ssl_keyfile": certificate[1]}
        try:
            self.listener = socket.create_server(
                (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
            )
        except OSError as error:
            raise ParameterError(
                f"the page cannot be served at {host}:{port}: {error.strerror}; try another --port, 0 for any"
            ) from error
        # Each connection inherits it: else a body waits 40 ms for the receipt of its headers.
        self.listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        config = uvicorn.Config(
            app, log_level="warning", timeout_graceful_shutdown=PATIENCE, server_header=False,
            **files,  # type: ignore[arg-type]  # a dict of texts
        )  # fmt: skip
        self.app, self.server = app, uvicorn.Server(config)
        name, number = f"[{host}]" if ":" in host else host, self.listener.getsockname()[1]
        self.url = f"{'https' if certificate else 'http'}://{name}:{number}"
        self._thread = threading.Thread(target=self.server.run, args=([self.listener],), daemon=True)

    def __enter__(self) -> "PageServer":
        self._thread.start()
        while not self.server.started and self._thread.is_alive():
            time.sleep(0.02)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End it; open streams are closed."""
        self.app.state.live.close()
        self.server.should_exit = True
        self._thread.join(PATIENCE + 5)
        self.listener.close()
