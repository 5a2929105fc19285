"""The magics, and how they come into a shell and out of it."""

from __future__ import annotations

from IPython.core.interactiveshell import InteractiveShell

from . import completion
from .answer import AnswerMagics
from .commands import WfresumeMagics
from .resolve import ResolveMagics
from .skip import SkipMagics
from .transform import AwaitedMagics

_OWNER = WfresumeMagics.__name__
_MAGICS = {
    "cell": ("wfrun", "wfreplay"),
    "line": ("wfruns", "wfresume", "wfshow", "wfreplay", "wfresolve", "wfanswer", "wfskip"),
}

__all__ = ["load", "unload"]


def load(shell: InteractiveShell) -> None:
    """Put the magics, their input transformer and their completions into a shell, once."""
    unload(shell)
    shell.register_magics(WfresumeMagics, ResolveMagics, AnswerMagics, SkipMagics)
    shell.input_transformers_post.append(AwaitedMagics(shell, _OWNER))
    completion.register(shell)


def unload(shell: InteractiveShell) -> None:
    """Take out what `load` put in."""
    transformers = shell.input_transformers_post
    # By name: a class of the same name from before a reload is another object.
    transformers[:] = [each for each in transformers if type(each).__name__ != AwaitedMagics.__name__]
    for kind, names in _MAGICS.items():
        for name in names:
            shell.magics_manager.magics[kind].pop(name, None)
    for owner in (_OWNER, ResolveMagics.__name__, AnswerMagics.__name__, SkipMagics.__name__):
        shell.magics_manager.registry.pop(owner, None)
    completion.unregister(shell)
