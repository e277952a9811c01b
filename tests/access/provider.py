"""A small OpenID Connect provider on loopback: Authlib's authorization server behind the standard library's HTTP.

It logs in whoever comes as ``subject``. A test may spoil what it signs.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from authlib.oauth2 import AuthorizationServer, OAuth2Request
from authlib.oauth2.rfc6749 import ClientMixin
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oidc.core import AuthorizationCodeMixin
from authlib.oidc.core.grants import OpenIDCode
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

CLIENT = "qosforge"
SECRET = "the client's secret"
REDIRECT_URI = "https://qos.example.net/api/v1/login/oidc/callback"


@dataclass
class Client(ClientMixin):
    """The one client that the provider knows."""

    def get_client_id(self) -> str:
        return CLIENT

    def get_default_redirect_uri(self) -> str:
        return REDIRECT_URI

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def check_redirect_uri(self, redirect_uri: str) -> bool:
        return redirect_uri == REDIRECT_URI

    def check_client_secret(self, client_secret: str) -> bool:
        return client_secret == SECRET

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == "client_secret_basic"

    def check_response_type(self, response_type: str) -> bool:
        return response_type == "code"

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type == "authorization_code"


@dataclass
class Code(AuthorizationCodeMixin):
    """An authorization code that was given out."""

    code: str
    redirect_uri: str
    scope: str
    subject: str
    nonce: str
    code_challenge: str
    code_challenge_method: str

    def get_redirect_uri(self) -> str:
        return self.redirect_uri

    def get_scope(self) -> str:
        return self.scope

    def get_nonce(self) -> str:
        return self.nonce

    def get_auth_time(self) -> int:
        return int(time.time())

    def get_acr(self) -> None:
        return None

    def get_amr(self) -> None:
        return None


class Request(OAuth2Request):
    def __init__(self, method: str, uri: str, headers: dict[str, str], form: dict[str, str]) -> None:
        super().__init__(method, uri, headers=headers)
        self._args = dict(parse_qsl(urlsplit(uri).query))
        self._form = form
        self.payload = BasicOAuth2Payload({**self._args, **form})

    @property
    def args(self) -> dict[str, str]:
        return self._args

    @property
    def form(self) -> dict[str, str]:
        return self._form


Signer = Callable[[dict[str, Any], RSAKey], str]


def sign(claims: dict[str, Any], key: RSAKey) -> str:
    """The ID token as it should be."""
    return jwt.encode({"alg": "RS256", "kid": key.kid}, claims, key)


@dataclass
class IdentityProvider:
    """What the provider knows, and how it behaves."""

    issuer: str
    key: RSAKey
    subject: str = "24400320"
    signer: Signer = sign
    metadata: dict[str, Any] = field(default_factory=dict)
    codes: dict[str, Code] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def change_key(self) -> None:
        """Sign with another key from now on."""
        self.key = RSAKey.generate_key(2048, auto_kid=True)

    def document(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            **self.metadata,
        }


def authorization_server(provider: IdentityProvider) -> AuthorizationServer:
    """Authlib's server with the code grant, PKCE and OpenID Connect."""

    class Grant(AuthorizationCodeGrant):
        def save_authorization_code(self, code: str, request: Request) -> None:
            asked = request.payload.data
            provider.codes[code] = Code(
                code,
                asked["redirect_uri"],
                asked["scope"],
                request.user,
                asked["nonce"],
                asked["code_challenge"],
                asked["code_challenge_method"],
            )

        def query_authorization_code(self, code: str, client: Client) -> Code | None:
            return provider.codes.get(code)

        def delete_authorization_code(self, authorization_code: Code) -> None:
            del provider.codes[authorization_code.code]

        def authenticate_user(self, authorization_code: Code) -> str:
            return authorization_code.subject

    class IdToken(OpenIDCode):
        def exists_nonce(self, nonce: str, request: Request) -> bool:
            return any(code.nonce == nonce for code in provider.codes.values())

        def encode_id_token(self, token: dict[str, Any], request: Request) -> str:
            now = int(time.time())
            claims = {
                "iss": provider.issuer,
                "aud": [CLIENT],
                "sub": request.user,
                "iat": now,
                "exp": now + 300,
                "nonce": request.authorization_code.get_nonce(),
            }
            return provider.signer(claims, provider.key)

    class Server(AuthorizationServer):
        def query_client(self, client_id: str) -> Client | None:
            return Client() if client_id == CLIENT else None

        def save_token(self, token: dict[str, Any], request: Request) -> None:
            pass  # nothing is behind the access token

        def create_oauth2_request(self, request: Request) -> Request:
            return request

        def handle_response(self, *response: Any) -> tuple[Any, ...]:
            return response

        def send_signal(self, *names: Any, **values: Any) -> None:
            pass

    server = Server()
    server.register_token_generator("default", BearerTokenGenerator(lambda *_a, **_k: "an access token"))
    server.register_grant(Grant, [CodeChallenge(required=True), IdToken(require_nonce=True)])
    return server


@contextmanager
def serving(key: RSAKey) -> Iterator[IdentityProvider]:
    """A provider that answers on a free port of loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            provider.asked.append(path)
            if path == "/.well-known/openid-configuration":
                self.answer(200, provider.document())
            elif path == "/keys":
                self.answer(200, KeySet([provider.key]).as_dict(private=False))
            else:
                request = Request("GET", provider.issuer + self.path, {}, {})
                grant = server.get_consent_grant(request, provider.subject)
                self.answer(*server.create_authorization_response(request, provider.subject, grant))

        def do_POST(self) -> None:
            provider.asked.append(self.path)
            form = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
            request = Request("POST", provider.issuer + self.path, dict(self.headers), form)
            request.headers = {name.title(): value for name, value in self.headers.items()}
            self.answer(*server.create_token_response(request))

        def answer(self, status: int, body: Any, headers: Any = ()) -> None:
            data = (json.dumps(body) if isinstance(body, dict) else body).encode()
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *words: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = IdentityProvider(f"http://127.0.0.1:{http.server_address[1]}", key)
    server = authorization_server(provider)
    thread = threading.Thread(target=http.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield provider
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
