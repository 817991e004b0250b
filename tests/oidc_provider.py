"""A provider of our own on loopback that signs in, by OpenID Connect, whoever the test says."""

from __future__ import annotations

import json
import secrets
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

if TYPE_CHECKING:
    from collections.abc import Iterator

CLIENT = "relic"


class Provider:
    """What the provider knows.

    Attributes
    ----------
    address : str
        Where it is, which is its name as an issuer, too.
    person : dict
        Who signs in next: "sub", "name", "email".
    asked : list of str
        The paths that were asked for.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.person: dict[str, Any] = {}
        self.asked: list[str] = []
        self.key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
        self._codes: dict[str, str] = {}

    def secrets(self, app: str) -> str:
        """Write the file of secrets of an app that goes by this provider."""
        return (
            f'[auth]\nredirect_uri = "{app}/oauth2callback"\ncookie_secret = "{secrets.token_hex(32)}"\n'
            f'client_id = "{CLIENT}"\nclient_secret = "hidden"\n'
            f'server_metadata_url = "{self.address}/.well-known/openid-configuration"\n'
        )

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.address,
            "authorization_endpoint": f"{self.address}/authorize",
            "token_endpoint": f"{self.address}/token",
            "jwks_uri": f"{self.address}/keys",
            "end_session_endpoint": f"{self.address}/leave",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def authorize(self, asked: dict[str, str]) -> str:
        """Sign the person in at once, and say where the browser goes on."""
        code = secrets.token_hex(8)
        self._codes[code] = asked.get("nonce", "")
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, asked: dict[str, str]) -> dict[str, Any]:
        """Give the signed statement of who it is, once for a code."""
        now = int(time.time())
        claims = {
            "iss": self.address,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 600,
            "nonce": self._codes.pop(asked["code"]),
            **self.person,
        }
        signed = jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.key)
        return {"access_token": secrets.token_hex(8), "token_type": "Bearer", "expires_in": 600, "id_token": signed}


@contextmanager
def provider() -> Iterator[Provider]:
    """Run a provider until the block ends."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            at, query = self._asked()
            if at == "/.well-known/openid-configuration":
                self._say(known.metadata())
            elif at == "/keys":
                self._say({"keys": [known.key.as_dict(private=False)]})
            elif at == "/authorize":
                self._go_on(known.authorize(query))
            elif at == "/leave":
                self._go_on(query["post_logout_redirect_uri"])
            else:
                self.send_error(404)

        def do_POST(self) -> None:
            self._asked()
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._say(known.token({name: values[0] for name, values in parse_qs(body).items()}))

        def _asked(self) -> tuple[str, dict[str, str]]:
            url = urlsplit(self.path)
            known.asked.append(url.path)
            return url.path, {name: values[0] for name, values in parse_qs(url.query).items()}

        def _say(self, said: dict[str, Any]) -> None:
            data = json.dumps(said).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _go_on(self, address: str) -> None:
            self.send_response(302)
            self.send_header("Location", address)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    server.daemon_threads = True
    known = Provider(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield known
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
