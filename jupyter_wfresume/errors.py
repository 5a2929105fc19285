"""One tree of exceptions: each carries what it is about and how to go on."""

from __future__ import annotations

from pathlib import Path


class WfresumeError(Exception):
    """Base of every error a user can meet; its text is one plain sentence."""

    def _render_traceback_(self) -> list[str]:
        """Show the sentence alone where IPython would print a traceback."""
        return [str(self)]


class UsageError(WfresumeError):
    """The user asked for something that does not exist or does not fit."""


class EngineError(WfresumeError):
    """The installed engine, or the runtime of a workflow, cannot be driven."""


class JournalError(WfresumeError):
    """A journal cannot be folded with the workflow as it is defined now."""


class MissingClassError(JournalError):
    """A recorded value needs a class that is not defined in this kernel.

    Args:
        module: module of the class, such as ``__main__``.
        qualname: its qualified name.
    """

    def __init__(self, module: str, qualname: str) -> None:
        self.module = module
        self.qualname = qualname
        name = qualname if module == "__main__" else f"{module}.{qualname}"
        what = "run the cell that defines it" if module == "__main__" else "import or install it"
        super().__init__(
            f"cannot find {name}: {what}, then run this cell again "
            f'(renamed? @migrate("{qualname}") says what takes its place); nothing was lost'
        )


class MigrationError(JournalError):
    """A function that makes recorded fields fit failed, or what it gave does not fit."""


class CannotKeepError(WfresumeError):
    """A value cannot be written down so that it comes back the same.

    Args:
        path: where in the value, such as ``.client`` or ``.items[3]``.
        type_name: qualified name of the type that stands in the way.
        reason: why, in a few words.
    """

    def __init__(self, path: str, type_name: str, reason: str) -> None:
        self.path = path
        self.type_name = type_name
        self.reason = reason
        super().__init__(f"cannot keep {path or 'the value'} ({type_name}): {reason}")


class StoreError(WfresumeError):
    """The store could not do what it must; nothing was half written.

    Args:
        message: the sentence.
        path: the store's folder, where known.
    """

    def __init__(self, message: str, path: Path | str | None = None) -> None:
        self.path = None if path is None else Path(path)
        super().__init__(message)


class StoreFormatError(StoreError):
    """The folder was written by a newer version, or is not a store."""


class DamagedError(StoreError):
    """A record or a value in the store is truncated, changed or missing."""


class LeaseError(StoreError):
    """Another process drives the run, or this process no longer does."""


class RunEnded(BaseException):
    """A run ended without a result, so the body stops at its ``await``.

    It is no ``Exception``: a body's ``except Exception`` must not go on with
    a result that does not exist.

    Args:
        run_id: the run.
        status: one of the contract's words, such as ``paused``.
        sentence: what happened and how to go on.
    """

    def __init__(self, run_id: str, status: str, sentence: str) -> None:
        self.run_id = run_id
        self.status = status
        self.sentence = sentence
        super().__init__(sentence)

    def _render_traceback_(self) -> list[str]:
        """Show the sentence alone where IPython would print a traceback."""
        return [str(self)]


class DryRun(RunEnded):
    """A dry run has said what would be done; the body stops at its ``await``."""
