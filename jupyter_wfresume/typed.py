"""Command lines as a user types them, for the sentences that name one."""

from __future__ import annotations

import shlex


def command(magic: str, *words: str, store: str = "") -> str:
    """``%wfshow enrich work[37] --store other``.

    Args:
        magic: such as ``%wfshow``.
        words: what stands behind it, as it is typed.
        store: the store's folder, where it has to be named; else empty.
    """
    return " ".join([magic, *words, *(["--store", quoted(store)] if store else [])])


def resolving(run: str, effect: str, store: str = "") -> str:
    """What settles a side effect: ``%wfresolve enrich charge[81] done RECEIPT | retry``.

    Args:
        run: NAME, or the start of a run's id.
        effect: ``charge[81]``.
        store: the store's folder, where it has to be named; else empty.
    """
    # All that stands behind "done" is the receipt, so that an option has to stand before it.
    return f"{command('%wfresolve', quoted(run), quoted(effect), store=store)} done RECEIPT | retry"


def quoted(word: str) -> str:
    """A word as it is typed behind a magic: in quotes where it has blanks or quotes of its own."""
    plain = word and not any(char.isspace() or char in "'\"\\" for char in word)
    return word if plain else shlex.quote(word)
