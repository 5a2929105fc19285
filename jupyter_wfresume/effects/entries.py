"""What is on record of one side effect: a value, and how it lies in the store."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any, Literal

from ..codec import MemoryBlobs, Node, decode, digest, encode
from ..codec.classes import FindClass
from ..errors import CannotKeepError, DamagedError, StoreFormatError, UsageError
from ..records import Owner

State = Literal["begun", "failed", "done", "retry", "undone"]
"""``begun``: its intent is on record and nothing after it; ``retry``: a person wants it done again;
``undone``: it happened and was compensated by hand."""

FORMAT = 1
"""Version of the entries; a newer one is refused."""

_SHOWN = 120
"""Characters of a receipt, an error or a key that are shown."""

_KEY_SHOWN = 60


@dataclass(frozen=True)
class Entry:
    """One side effect of a name: which, how far it came, and its receipt.

    Args:
        effect: its name, such as ``charge``.
        key: the text of its key, such as ``81``.
        digest: of the key itself.
        state: how far it came.
        at: when it came there, seconds since the epoch.
        began: when ``do`` was last about to be called, seconds since the epoch.
        run_id: the run that was about to call it.
        root: the top-level run of that one, whose lease is held.
        token: of that lease.
        owner: the process.
        label: the execution, such as ``pay[3]``.
        has_verify: the execution could ask whether it happened.
        calls: how often ``do`` was about to be called.
        generation: grows where a person has what was done, done again.
        kept: a receipt is on record.
        node: the receipt, written by the codec.
        blobs: its large parts, by digest.
        said: the text of the receipt, or of the error.
        why: why a receipt could not be kept.
        by: who knew the receipt: ``do``, ``verify`` or ``person``.
    """

    effect: str
    key: str
    digest: str
    state: State
    at: float
    began: float = 0.0
    run_id: str = ""
    root: str = ""
    token: int = 0
    owner: Owner | None = None
    label: str = ""
    has_verify: bool = False
    calls: int = 0
    generation: int = 0
    kept: bool = False
    node: Node = None
    blobs: dict[str, bytes] = field(default_factory=dict)
    said: str = ""
    why: str = ""
    by: str = ""

    @property
    def name(self) -> str:
        """``charge[81]``."""
        return f"{self.effect}[{self.key}]"

    def receipt(self, find_class: FindClass | None = None) -> Any:
        """The receipt, made anew each time.

        Args:
            find_class: asked first for each class.

        Raises:
            UsageError: there is none.
            MissingClassError: a class is not defined here.
        """
        if not self.kept:
            raise UsageError(f"{self.name} has no receipt on record")
        blobs = MemoryBlobs()
        blobs.data.update(self.blobs)
        return decode(self.node, blobs, find_class)

    def done(self, receipt: Any, by: str, now: float, find_class: FindClass | None = None) -> Entry:
        """This effect, happened.

        Args:
            receipt: what it returned. One that cannot be kept leaves its text and the reason.
            by: who knew it.
            now: seconds since the epoch.
            find_class: what the receipt will be read with.
        """
        blobs = MemoryBlobs()
        node: Node = None
        why = ""
        try:
            node = encode(receipt, blobs, find_class)
        except CannotKeepError as error:
            why = f"{error.path or 'it'} ({error.type_name}): {error.reason}"
        return dataclasses.replace(
            self,
            state="done",
            at=now,
            kept=not why,
            node=node,
            blobs={} if why else blobs.data,
            said=text_of(receipt),
            why=why,
            by=by,
        )

    def moved(self, state: State, now: float, said: str = "") -> Entry:
        """This effect in another state, without a receipt.

        Args:
            state: where it is now.
            now: seconds since the epoch.
            said: the text of an error, or of the receipt that it had.
        """
        return dataclasses.replace(
            self, state=state, at=now, kept=False, node=None, blobs={}, said=said, why="", by=""
        )

    def __repr__(self) -> str:
        said = f": {self.said}" if self.said else ""
        return f"<{self.name} {self.state}{said}>"


def text_of(value: object) -> str:
    """A value's text, shortened, on one line."""
    try:
        text = " ".join(repr(value).split())
    except Exception as error:  # noqa: BLE001  # a class's own repr may be broken; the effect has happened
        text = f"<{type(value).__name__}, whose repr() raises {type(error).__name__}>"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def error_text(error: BaseException) -> str:
    """``ValueError: no such card``, shortened, on one line."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def key_digest(effect: str, key: Any) -> str:
    """What tells keys of an effect apart, type and value.

    Raises:
        UsageError: the key cannot be written down.
    """
    try:
        return digest(key, dict_order=False)[:20]
    except CannotKeepError as error:
        raise UsageError(
            f"the key of {effect} cannot be used: {error}; give a number or a text that names what it is for"
        ) from None


def key_text(key: Any) -> str:
    """How people write a key: text as it is, a long one by its digest."""
    text = key if isinstance(key, str) else repr(key)
    plain = text.isprintable() and text == text.strip() and len(text) <= _KEY_SHOWN
    return text if plain else f"#{digest(key, dict_order=False)[:8]}"


def dump(entry: Entry) -> bytes:
    """An entry as it lies in the store: whole in itself, large parts of its receipt included."""
    fields = {one.name: getattr(entry, one.name) for one in dataclasses.fields(entry)}
    fields["owner"] = None if entry.owner is None else dataclasses.astuple(entry.owner)
    fields["blobs"] = {key: base64.b85encode(data).decode() for key, data in entry.blobs.items()}
    return json.dumps({"v": FORMAT, **fields}, separators=(",", ":"), allow_nan=False).encode()


def load(data: bytes) -> Entry:
    """Read an entry.

    Raises:
        StoreFormatError: a newer version wrote it.
        DamagedError: it is no entry.
    """
    try:
        fields = json.loads(data)
        version = fields.pop("v")
        if version <= FORMAT:
            fields["owner"] = None if fields["owner"] is None else Owner(*fields["owner"])
            fields["blobs"] = {key: base64.b85decode(text) for key, text in fields["blobs"].items()}
            return Entry(**fields)
    except (ValueError, TypeError, KeyError, AttributeError, binascii.Error) as error:
        raise DamagedError(f"what is on record of a side effect cannot be read: {error}") from None
    raise StoreFormatError(
        f"a side effect was recorded by a newer jupyter_wfresume (format {version}, this one reads "
        f"{FORMAT}): upgrade jupyter_wfresume"
    )
