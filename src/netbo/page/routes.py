"""The JSON API of a study: what is known, what was measured, and all that crews and managers may do."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from concurrent.futures import Future
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Depends, Header, HTTPException, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from netbo.geometry import Point
from netbo.optimize.arguments import FAILED
from netbo.page.lines import as_id
from netbo.page.live import LiveStudy
from netbo.page.roles import CREW, LONGEST_NAME, MANAGER, Doors, Holder
from netbo.page.snapshot import VIEWS
from netbo.page.state import field_document, state_document, trial_rows
from netbo.studies import State, TrialRecord

PROMPT = 0.4  # seconds that a request waits for a computation; then it says that it is under way
MOST_PLACES = 20  # of a crew at once
LONGEST_NOTE = 2_000
BEAT, LOOK = 15.0, 0.2  # seconds between signs of life of a stream, and between looks for a new version
MONTH = 30 * 24 * 3600
OWN_HEADER = "x-netbo"  # a page of another site cannot send it without asking
TYPES = {
    ".csv": "text/csv", ".gpkg": "application/geopackage+sqlite3", ".geojson": "application/geo+json",
    ".gpx": "application/gpx+xml", ".kml": "application/vnd.google-earth.kml+xml",
}  # fmt: skip
Text = Annotated[str, Field(max_length=LONGEST_NOTE)]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
T = TypeVar("T")
api = APIRouter(prefix="/api/v1")


class Strict(BaseModel):
    """A body that says nothing unknown, and no NaN."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class Place(Strict):
    """A place, said in one way."""

    edge: Any = Field(None, description="Your id of the edge; `distance` along it.")
    distance: float | None = None
    node: Any = Field(None, description="Your name of a vertex.")
    lon_lat: tuple[float, float] | None = None
    xy: tuple[float, float] | None = Field(None, description="In the coordinate system of the source.")
    limit: float | None = Field(None, description="Farthest that coordinates may lie off the network.")
    index: tuple[int, float] | None = Field(
        None, description="Number of the graph's edge, distance from its tail."
    )


class Value(Strict):
    """What was measured: for a trial, or at a place that nobody asked for."""

    trial: int | None = None
    at: Place | None = Field(None, description="Where it was measured, if not where it was asked for.")
    value: float | None = Field(None, description="None if there is no value: it failed.")
    noise: float | None = Field(None, description="Variance of this value.")
    note: Text = ""


class Ask(Strict):
    """Places until the crew has `count` of them: asking again gives no more."""

    crew: Name | None = Field(None, description="By default whoever asks; a manager may ask for others.")
    count: int = Field(1, ge=1, le=MOST_PLACES)
    here: Place | None = Field(None, description="Where the crew is.")


class Change(Strict):
    """What is said of a trial."""

    value: float | None = None
    noise: float | None = None
    note: Text | None = None
    lease: float | None = Field(None, gt=0, description="Seconds, for renew.")


class Link(Strict):
    """Who gets a link."""

    role: Literal["manager", "crew", "reader"]
    name: Name


class Token(Strict):
    """The token of a link."""

    token: Annotated[str, Field(max_length=300)]


async def live_of(request: Request) -> LiveStudy:
    """The study that is served."""
    live: LiveStudy = request.app.state.live
    return live


async def anybody(request: Request, authorization: Annotated[str | None, Header()] = None) -> Holder:
    """Who asks, by cookie or bearer token; 401 if nobody knows."""
    doors: Doors = request.app.state.doors
    cookie, bearer = request.cookies.get(doors.cookie), (authorization or "").removeprefix("Bearer ")
    holder = doors.holder(bearer or cookie or "")
    if holder is None:
        raise HTTPException(401, "open the link that you were given: it says who you are")
    if not bearer and request.method not in ("GET", "HEAD") and OWN_HEADER not in request.headers:
        raise HTTPException(403, f"a change by cookie needs the header {OWN_HEADER}, got none")
    return holder


async def writer(holder: Annotated[Holder, Depends(anybody)]) -> Holder:
    """A crew or a manager."""
    if not holder.writes:
        raise HTTPException(403, "readers look and change nothing; ask for the link of a crew")
    return holder


async def manager(holder: Annotated[Holder, Depends(anybody)]) -> Holder:
    """A manager."""
    if holder.role != MANAGER:
        raise HTTPException(403, f"this is for managers, got a {holder.role}")
    return holder


Live = Annotated[LiveStudy, Depends(live_of)]
Anybody = Annotated[Holder, Depends(anybody)]
Writer = Annotated[Holder, Depends(writer)]
Manager = Annotated[Holder, Depends(manager)]
Key = Annotated[
    str, Header(min_length=8, max_length=100, description="One a value: sent again, it is stored once.")
]


# Who


@api.post("/session")
def open_session(request: Request, said: Token) -> JSONResponse:
    """Exchange the token of a link for a cookie."""
    doors: Doors = request.app.state.doors
    holder = doors.holder(said.token)
    if holder is None:
        raise HTTPException(401, "this link is not one of ours any more; ask for a new one")
    answer = JSONResponse({"role": holder.role, "name": holder.name})
    answer.set_cookie(
        doors.cookie, said.token, max_age=MONTH, httponly=True, samesite="strict", path="/",
        secure=request.app.state.is_secure,
    )  # fmt: skip
    return answer


@api.delete("/session")
def end_session(request: Request) -> JSONResponse:
    """Forget who this browser is."""
    answer = JSONResponse({})
    answer.delete_cookie(request.app.state.doors.cookie, path="/")
    return answer


@api.post("/links")
def make_link(request: Request, who: Link, holder: Manager) -> dict[str, str]:
    """A link with a role, as text and as a QR code."""
    doors: Doors = request.app.state.doors
    base = request.app.state.public_url or str(request.base_url)
    return link_document(base, doors, Holder(who.role, who.name.strip()))


def link_document(base: str, doors: Doors, holder: Holder) -> dict[str, str]:
    """A link as text and as an SVG image."""
    import segno  # noqa: PLC0415 - only managers need codes

    url = f"{base.rstrip('/')}/#{doors.token(holder)}"
    code = segno.make(url, error="m").svg_data_uri(scale=4, border=3)
    return {"role": holder.role, "name": holder.name, "url": url, "qr": code}


# What is known


def as_json(document: dict[str, Any]) -> Response:
    """A document that is plain already: FastAPI would look at every number of it."""
    return Response(json.dumps(document, allow_nan=False), media_type="application/json")


@api.get("/state")
async def state(live: Live, holder: Anybody) -> Response:
    """How the study stands: who is where, the best value, the newest model and when it was made."""
    kept = live.kept.get(holder.role + holder.name)
    if kept is None or kept[0] != live.version:  # what changes by itself is put before the rest
        kept = live.version, json.dumps(state_document(live, holder), allow_nan=False)
        live.kept[holder.role + holder.name] = kept
    now = f'{{"now": {live.study.clock.now()}, "computing": {json.dumps(live.computing)}, '
    return Response(now + kept[1][1:], media_type="application/json")


@api.get("/network")
def network(live: Live, _: Anybody) -> Response:
    """The network without its coordinates: frame, scale, names, colours, findings."""
    text = live.once("network", lambda: json.dumps(live.lines.document()).encode())
    return Response(text, media_type="application/json")


@api.get("/network/lines")
def lines(live: Live, _: Anybody) -> Response:
    """Its pieces, packed: float32 corners, int32 edges, float32 from and to, then tails, heads, lengths."""
    return Response(live.once("lines", live.lines.packed), media_type="application/octet-stream")


@api.get("/levels/{what}")
def levels(live: Live, _: Anybody, what: str) -> Response:
    """One view as a byte a piece: the share of its legend times 254, 255 where nothing is known."""
    snapshot = live.snapshot
    if what not in VIEWS or snapshot is None or what not in snapshot.fields:
        raise HTTPException(404, f"a view must be one of {', '.join(VIEWS)}, of a study with values")
    headers = {"x-model": snapshot.marks}
    return Response(snapshot.levels(what), media_type="application/octet-stream", headers=headers)


@api.get("/field")
def field(live: Live, _: Anybody, edge: str | None = None) -> Response:
    """Mean, sd, score (where next) and probability of the maximum along all edges, or along one of yours."""
    if live.snapshot is None or not live.snapshot.fields:
        raise HTTPException(404, "there is no model yet: tell a value first")
    graph = live.lines.network.graph
    chosen: Iterable[int] = range(graph.n_edges)
    if edge is not None:
        known = as_id(edge, graph.has_edge)
        chosen = sorted(set(graph.intervals([known])[1].tolist())) if graph.has_edge(known) else []
    return as_json(field_document(live.lines, live.snapshot, chosen))


@api.get("/history")
def history(live: Live, _: Anybody) -> Response:
    """All trials: where, what, by whom, when, and what was said of them later."""
    return as_json({"version": live.version, "trials": trial_rows(live.lines, live.records, live.changes)})


@api.get("/search-list")
def search_list(live: Live, _: Anybody) -> dict[str, Any]:
    """Stretches to walk that probably hold the best place."""
    found = live.snapshot and live.snapshot.answers.get("search")
    return found or {"rows": []}


@api.get("/events")
async def events(live: Live, _: Anybody, request: Request) -> StreamingResponse:
    """A number with every change, as server-sent events; the values are fetched."""

    async def stream() -> AsyncIterator[str]:
        sent, quiet = None, 0.0
        while live.is_open and not await request.is_disconnected():
            if live.version != sent or quiet >= BEAT:
                yield f"data: {live.version}\n\n"  # the same again is a sign of life
                sent, quiet = live.version, 0.0
            await asyncio.sleep(LOOK)
            quiet += LOOK

    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(stream(), media_type="text/event-stream", headers=headers)


@api.get("/export/{name}")
async def export(live: Live, _: Anybody, name: str) -> Response:
    """The study as a file: study.gpkg, .geojson, .gpx, .kml, .csv."""
    suffix = name.removeprefix("study")
    if suffix not in TYPES:
        raise HTTPException(404, f"a file must be one of {', '.join('study' + each for each in TYPES)}")
    content = await asyncio.wrap_future(live.export(suffix))
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type=TYPES[suffix], headers=headers)


# What crews do


@api.post("/ask")
async def ask(live: Live, holder: Writer, wanted: Ask, response: Response) -> dict[str, Any]:
    """Have `count` places; they are computed beside, and 202 says that they are on their way."""
    name = wanted.crew or holder.name
    if holder.role == CREW and name != holder.name:
        raise HTTPException(403, f"the crew {holder.name!r} asks for itself, got {name!r}")
    if wanted.here is not None:
        live.positions[name] = _point(live, wanted.here)
    await asyncio.to_thread(live.refresh)
    reason, held = "", live.held(name)
    if len(held) < wanted.count:
        found = await _prompt(live.hand_out(name, wanted.count))
        reason = "on their way" if found is None else found[1]
        response.status_code = 202 if found is None else 200
        await asyncio.to_thread(live.refresh)
        held = live.held(name)
    return {"places": trial_rows(live.lines, held, live.changes), "reason": reason}


async def _prompt(work: Future[T]) -> T | None:
    """What was computed, if that takes no longer than a request may wait; it goes on in any case."""
    future = asyncio.wrap_future(work)
    done, _ = await asyncio.wait([future], timeout=PROMPT)
    if not done:
        future.add_done_callback(lambda late: late.cancelled() or late.exception())  # who asks again hears it
        return None
    return future.result()


@api.post("/values")
def tell(live: Live, holder: Writer, said: Value, idempotency_key: Key) -> dict[str, Any]:
    """Store a value, or that there is none; under one key it is stored once, however often it is sent."""
    value = FAILED if said.value is None else said.value
    point = None if said.at is None else _point(live, said.at)
    words: dict[str, Any] = {"note": said.note, "key": idempotency_key, "by": holder.name}
    if said.trial is not None:
        if said.trial < len(live.records):
            _require_own(live.study.records[said.trial], holder)
        number = live.study.tell(said.trial, value, said.noise, point, **words)
    elif point is not None:
        number = live.study.add_observation(point, value, said.noise, **words)
    else:
        raise HTTPException(422, "a value belongs to a trial or a place, got neither")
    live.refresh()
    return {"trial": trial_rows(live.lines, [live.records[number]], live.changes)[0]}


@api.post("/trials/{number}/{action}")
def change(
    live: Live, holder: Writer, number: int,
    action: Literal["correct", "withdraw", "cancel", "release", "renew", "note"], said: Change,
) -> dict[str, Any]:  # fmt: skip
    """Correct or withdraw a value, give a place up or back, renew its lease, say something of it."""
    study = live.study
    if not 0 <= number < len(study.records):
        raise HTTPException(404, f"there is no trial {number}")
    record = study.records[number]
    _require_own(record, holder)
    if action == "correct":
        study.correct(number, said.value, said.noise, by=holder.name)
    elif action == "withdraw" and record.state is not State.WITHDRAWN:
        study.withdraw(number, by=holder.name)
    elif action == "cancel" and record.state is not State.CANCELLED:
        study.cancel(number)
    elif action == "release" and record.state is not State.RELEASED:
        study.release(number)
    elif action == "renew" and not study.renew(number, said.lease or study.settings.lease):
        raise HTTPException(409, f"trial {number} is not pending any more: it is {record.state.value}")
    if said.note is not None:
        study.note(number, said.note, by=holder.name)
    live.refresh()
    return {"trial": trial_rows(live.lines, [live.records[number]], live.changes)[0]}


@api.post("/queue")
def enqueue(live: Live, _: Manager, place: Place) -> dict[str, Any]:
    """Put a place in line: whoever asks next gets it. One that waits already is not put in twice."""
    point = _point(live, place)
    live.refresh()
    waiting = {(r.point.edge, r.point.z): r.id for r in live.records if r.point and r.state is State.WAITING}
    number = waiting.get((point.edge, point.z))
    number = live.study.enqueue(point) if number is None else number
    live.refresh()
    return {"trial": trial_rows(live.lines, [live.records[number]], live.changes)[0]}


def _point(live: LiveStudy, place: Place) -> Point:
    return live.lines.point(place.model_dump())


def _require_own(record: TrialRecord, holder: Holder) -> None:
    """A crew changes its own trials, and what is in nobody's hands."""
    whose = record.worker or record.told_by
    if holder.role == CREW and whose and holder.name not in (record.worker, record.told_by):
        raise HTTPException(403, f"trial {record.id} is that of {whose!r}, and you are {holder.name!r}")
