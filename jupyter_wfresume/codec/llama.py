"""What llama-index keeps in memories that is no plain model: its tokenizer and its SQL chat store."""

from __future__ import annotations

import functools
import importlib
import json
import queue
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ..errors import DamagedError
from .classes import is_model
from .core import TAG, DecodeFn, EncodeFn, Node

if TYPE_CHECKING:
    from .core import Decoder, Encoder

STORE = "SQLAlchemyChatStore"
IN_MEMORY = ("sqlite+aiosqlite:///:memory:", "sqlite+aiosqlite://")
COLUMNS = ("key", "timestamp", "role", "status", "data")
"""Columns of the chat store's table, as its own dump names them."""

ANSWER_S = 10.0
"""Seconds to wait for the database's thread before the store is refused."""


def tokenizer_name(value: Any) -> str | None:
    """Name of the tiktoken encoding in llama-index's default tokenizer, or None for another callable."""
    tiktoken: Any = sys.modules.get("tiktoken")
    if tiktoken is None or type(value) is not functools.partial:
        return None
    owner: Any = getattr(value.func, "__self__", None)
    if type(owner) is not tiktoken.Encoding or value.func != owner.encode:
        return None
    if value.args or value.keywords != {"allowed_special": "all"}:
        return None
    name: str = owner.name
    return name


def encode_partial(enc: Encoder, value: Any) -> Node:
    """llama-index's default tokenizer by its encoding's name; any other partial is code."""
    name = tokenizer_name(value)
    if name is None:
        return enc.refuse(value, "code cannot be written down")
    return {TAG: "llama_index.tokenizer", "v": name}


def decode_tokenizer(dec: Decoder, node: dict[str, Any]) -> Any:
    """The default tokenizer of this process.

    Raises:
        DamagedError: it has another encoding.
    """
    value = importlib.import_module("llama_index.core.utils").get_tokenizer()
    if tokenizer_name(value) != node["v"]:
        raise DamagedError(f"llama-index's tokenizer was {node['v']} when this was recorded, not now")
    return value


class Receiver:
    """Stands where aiosqlite's thread expects a future, so that no event loop is needed."""

    def get_loop(self) -> Receiver:
        """The loop that a future would belong to."""
        return self

    def call_soon_threadsafe(self, callback: Callable[..., Any], *args: Any) -> None:
        """The result went into a queue already."""


def live_rows(enc: Encoder, store: Any) -> list[dict[str, Any]]:
    """Messages of an in-memory database, read in the database's own thread.

    The store's own dump would run a second event loop, which can hang when a message is
    being written on the first.

    Raises:
        Refused: it cannot be read now.
    """
    pool = store._async_engine.sync_engine.pool
    record = pool.__dict__.get("connection") if type(pool).__name__ == "StaticPool" else None
    connection = getattr(record, "driver_connection", None)
    if connection is None or type(connection).__module__.partition(".")[0] != "aiosqlite":
        return enc.refuse(store, "its database cannot be read")
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
    table = store.table_name.replace('"', '""')
    sql = f'SELECT {", ".join(COLUMNS)} FROM "{table}" ORDER BY id'

    def read() -> None:
        try:
            busy = connection._conn.in_transaction
            answers.put(None if busy else connection._conn.execute(sql).fetchall())
        except Exception as error:  # noqa: BLE001  # it is raised in the asking thread
            answers.put(error)

    connection._tx.put_nowait((Receiver(), read))
    try:
        rows = answers.get(timeout=ANSWER_S)
    except queue.Empty:
        return enc.refuse(store, "its database does not answer")
    if rows is None:
        return enc.refuse(store, "a message is being written to it")
    if isinstance(rows, Exception):
        return enc.refuse(store, f"its database cannot be read ({rows})")
    return [{**dict(zip(COLUMNS, row, strict=True)), "data": json.loads(row[-1])} for row in rows]


def encode_chat_store(enc: Encoder, value: Any) -> Node:
    """A SQL chat store: where it is and, where it lives in memory only, its messages.

    Raises:
        Refused: its address holds a password, or its engine is not the one its address names.
    """
    uri = value.async_database_uri
    if "@" in uri:
        return enc.refuse(value, "the address of its database may hold a password")
    engine = value._async_engine
    if engine is not None and unquote(str(engine.url)) != unquote(uri):
        return enc.refuse(value, "its database engine was handed in; only its address could be kept")
    before = enc.enter(value)
    rows = value._db_data or None
    if uri in IN_MEMORY and value._table is not None:
        rows = live_rows(enc, value) or None
    settings = {"table_name": value.table_name, "async_database_uri": uri, "db_schema": value.db_schema}
    node = {
        TAG: "llama_index.chat_store",
        "c": enc.class_node(type(value)),
        "v": enc.node(settings),
        "r": enc.node(rows),
    }
    return enc.leave(value, before, node)


def is_chat_store(cls: type) -> bool:
    """Whether it is llama-index's SQL chat store."""
    return is_model(cls) and cls.__name__ == STORE and cls.__module__.startswith("llama_index.core.")


def decode_chat_store(dec: Decoder, node: dict[str, Any]) -> Any:
    """A SQL chat store that fills its database when it is first used."""
    cls = dec.find(node["c"], is_chat_store)
    settings = dec.value(node["v"])
    names = ("table_name", "async_database_uri", "db_schema")
    return cls(**{name: settings[name] for name in names}, db_data=dec.value(node["r"]))


def encoder_for(cls: type) -> EncodeFn | None:
    """The encoder of the SQL chat store; all else of llama-index consists of models."""
    return encode_chat_store if is_chat_store(cls) else None


ENCODERS: dict[type, EncodeFn] = {functools.partial: encode_partial}

DECODERS: dict[str, DecodeFn] = {
    "llama_index.tokenizer": decode_tokenizer,
    "llama_index.chat_store": decode_chat_store,
}
