"""Secrets to plant, each with a body of its own that is searched for in every byte."""

from __future__ import annotations

import base64
import json
from typing import NamedTuple
from urllib.parse import quote


class Planted(NamedTuple):
    """One secret: where it was planted, the text with it, and the bodies that must not be found."""

    place: str
    text: str
    body: str

    @property
    def forms(self) -> set[bytes]:
        """The body as it stands, and as a text may show it."""
        raw = self.body.encode()
        coded = base64.b64encode(raw).decode().rstrip("=")
        return {
            form.encode()
            for form in (self.body, quote(self.body), repr(self.body)[1:-1], coded, raw.hex())
            if len(form) > 5
        } | {json.dumps(self.body)[1:-1].encode()}


def body(number: int) -> str:
    """Return letters and digits of which no two numbers share any six."""
    return f"Q{number:02d}x{number * 7919 + 104729:x}Zz{number * 104729 + 7919:x}"


def _key(number: int) -> str:
    lines = "\n".join(f"MII{body(number)}{'A' * 40}" for _ in range(3))
    return f"-----BEGIN RSA PRIVATE KEY-----\n{lines}\n-----END RSA PRIVATE KEY-----"


SHAPES: tuple[str, ...] = (
    "Authorization: Bearer {}",
    "Authorization: Basic {}",
    "authorization='Bearer {}'",
    "{{'Authorization': 'Token {}'}}",
    "('Authorization', 'Bearer {}')",
    "curl --token {} https://host/x",
    "['curl', '--token', '{}', 'x']",
    "--api-key={}",
    "--password {}",
    'said {{"token": "{}", "n": 1}}',
    'said {{"access_token":"{}"}}',
    "said {{'clientSecret': '{}'}}",
    'escaped {{\\"apiKey\\": \\"{}\\"}}',
    "password is {}",
    "password='a b {} c'",
    "password: one two {}",
    "passphrase = one,two;{}",
    "DB_PASS={}",
    "MY_PWD={}",
    "AZURE_PAT={}",
    "SIGNING_KEY={}",
    "SECRET_VALUE_2={}",
    "ghp_{}",
    "github_pat_{}",
    "glpat-{}",
    "sk-proj-{}",
    "hf_{}",
    "xoxb-12-34-{}",
    "npm_{}",
    "AIza{}",
    "https://store/x?sig={}&se=2",
    "https://store/x?X-Amz-Signature={}",
    "https://store/x?a=1&token={}",
    "https://user:{}@host/x.git",
    "https://{}@host/x.git",
    "postgres://user:p/a@{}@host:5432/db",
    "Server=a;Password={};Uid=b",
    "AccountKey={}==;EndpointSuffix=x",
    "Cookie: session={}; other=1",
    "curl -u bob:{} https://host",
    "mail to {}@corp.example.com",
    "in /home/{}/project/x.py",
    "in /Users/{}/x.py",
    "in C:\\Users\\{}\\x.py",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ{}.c2ln",
    "Bearer {}",
    "header=Bearer%20{}",
    "form: user%3Da%26password%3D{}",
    "password: |\n  {}\n",
    "<wsse:Password Type='x'>{}</wsse:Password>",
    "machine host login bob password {}",
    "auth=('bob', '{}')",
    "credentials={{'user': 'bob', 'x': '{}'}}",
    "password -> {}",
    "user=bob pass={} host=h",
    "invalid token {} given",
    "SharedAccessSignature sig={}&se=1",
    "X-Auth-Token: {}",
    "//registry/:_authToken={}",
    "aws_secret_access_key = {}",
    "DJANGO_SECRET_KEY='{}'",
    "client_secret\t:\t{}",
    "redis://:{}@host:6379/0",
    "os.environ['X_TOKEN'] = '{}'",
    'headers["Authorization"] = "Bearer {}"',
    "set_api_key('{}')",
    'service.login("bob", "{}")',
    "SecretStr('{}')",
    "wandb.login(key='{}')",
    "Passwort: {}",
    "mot de passe : {}",
    "contraseña: {}",
    "password：{}",  # noqa: RUF001 - as it is typed elsewhere
    "**password**: {}",
    "| token | {} |",
    "<b>token</b>: {}",
    "Password for bob: {}",
    "Invalid API key provided: {}. See the page",
    "CREATE USER x IDENTIFIED BY '{}'",
    "docker login -u bob -p {}",
    "mysql -u bob -p{} db",
    "openssl -passin pass:{}",
    "a%253Dtoken%253D{}",
    "password&quot;:&quot;{}&quot;",
    "token\\u003d{}",
    "PHPSESSID={}",
)
"""What secrets look like in texts."""


def shapes(place: str, first: int) -> list[Planted]:
    """Return one of each shape, and a private key of several lines."""
    made = [
        Planted(place, shape.format(body(number)), body(number))
        for number, shape in enumerate(SHAPES, start=first)
    ]
    number = first + len(SHAPES)
    return [*made, Planted(place, _key(number), body(number))]
