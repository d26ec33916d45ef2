"""The page of the server: a bundle in the package, made by `make web`."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, FastAPI
from fastapi.responses import FileResponse, PlainTextResponse, Response
from starlette.staticfiles import StaticFiles

PAGE = Path(__file__).parent / "page"

POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; connect-src 'self'; worker-src 'self'; object-src 'none'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

_NO_BUNDLE = """Tidemill serves its API here, but the page was not built.

make web        builds it (with Node)
GET /api/info   the server
GET /api/openapi.json   all routes

curl -X POST -H 'Content-Type: application/json' -d '{"sql": "SELECT 1 AS n"}' .../api/check
"""

router = APIRouter()


@router.get("/", include_in_schema=False)
async def index() -> Response:
    """The page, or a word of help if it was not built."""
    file = PAGE / "index.html"
    if not file.exists():
        return PlainTextResponse(_NO_BUNDLE)
    return FileResponse(file, headers={"cache-control": "no-cache"})


async def icon() -> Response:
    """The sign of the page."""
    return FileResponse(PAGE / "tidemill.svg", headers={"cache-control": "no-cache"})


class Assets(StaticFiles):
    """Files whose names tell their contents: they never change."""

    def file_response(self, *args: object, **options: object) -> Response:
        response = super().file_response(*args, **options)  # type: ignore[arg-type]
        response.headers["cache-control"] = "public, max-age=31536000, immutable"
        return response


def serve_page(app: FastAPI) -> None:
    """Let an app serve the page, with its assets."""
    app.include_router(router)
    if (PAGE / "assets").is_dir():
        app.add_api_route("/tidemill.svg", icon, include_in_schema=False)
        app.mount("/assets", Assets(directory=PAGE / "assets"), name="assets")
