"""Who may do what: links with a role, signed by a key that only the server's owner has."""

from __future__ import annotations

import hmac
import os
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NoBase64
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from netbo.errors import ParameterError, shown

MANAGER, CREW, READER = "manager", "crew", "reader"
ROLES = (MANAGER, CREW, READER)
LONGEST_NAME = 60  # characters of a crew's name
KEY_VARIABLE = "NETBO_PAGE_KEY"
LEAST_KEY = 16  # characters


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a link."""

    role: str
    name: str

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise ParameterError(f"a role must be one of {', '.join(ROLES)}, got {shown(self.role)}")
        if not (isinstance(self.name, str) and self.name.strip() and self.name.isprintable()):
            raise ParameterError(f"whoever gets a link needs a name, got {shown(self.name)}; try 'north'")
        if len(self.name) > LONGEST_NAME:
            raise ParameterError(f"a name has at most {LONGEST_NAME} characters, got {len(self.name)}")

    @property
    def writes(self) -> bool:
        """Whether they may change anything."""
        return self.role != READER


@dataclass(frozen=True, slots=True)
class Doors:
    """Makes and reads the tokens of links; the same key gives the same links, also after a restart."""

    key: bytes

    def token(self, holder: Holder) -> str:
        """Text that proves a role; whoever has it has the role."""
        said = urlsafe_b64encode(f"{holder.role}:{holder.name}".encode()).rstrip(b"=").decode()
        return f"{said}.{self._seal(said)}"

    def holder(self, token: str) -> Holder | None:
        """Who holds a token; None if it is not one of ours."""
        said, _, seal = token.partition(".")
        if not hmac.compare_digest(seal.encode(), self._seal(said).encode()):
            return None
        try:
            role, _, name = urlsafe_b64decode(said + "=" * (-len(said) % 4)).decode().partition(":")
            return Holder(role, name)
        except (NoBase64, UnicodeDecodeError, ParameterError):
            return None

    def _seal(self, said: str) -> str:
        digest = hmac.new(self.key, said.encode(), sha256).digest()
        return urlsafe_b64encode(digest).rstrip(b"=").decode()

    @property
    def cookie(self) -> str:
        """Name of the cookie: two studies on one machine do not share it."""
        return f"netbo-{sha256(b'cookie' + self.key).hexdigest()[:8]}"


def open_doors(path: Path, study: str = "") -> Doors:
    """Doors of a study, by the key in the environment, else in a file that only its owner reads."""
    given = os.environ.get(KEY_VARIABLE)
    if given is None:
        if not path.exists():
            with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600), "w") as file:
                file.write(secrets.token_urlsafe(32))
        given = path.read_text(encoding="utf-8").strip()
    if len(given) < LEAST_KEY:
        raise ParameterError(
            f"the key of the links must have {LEAST_KEY} characters, got {len(given)} from {KEY_VARIABLE} or "
            f"{path}; remove the file for a new one"
        )
    return Doors(hmac.new(given.encode(), study.encode(), sha256).digest())  # one key may serve several
