"""A guide as what may come next, token by token. What is left to choose from is recorded, so that it can be trained."""

from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from inference.guides import regex
from spade.errors import Abort
from spade.identity import canonical
from spade.messages import Guide

MOST_RECORDED = 1024
"""Larger sets of allowed tokens are not recorded; such a completion cannot feed reinforcement learning."""
LISTED_DIGITS = 3
"""Guides of up to this many digits are listed like choices."""
KEPT = 4096
"""Compiled guides that stay at hand."""

Trie = dict[int, Any]
END = -1


class Chooser(Protocol):
    """Where one completion stands in its guide."""

    def allowed(self) -> Sequence[int]:
        """The ids that may come next, in ascending order; empty when the reply is complete."""
        ...

    def take(self, token: int) -> None: ...


class TrieChooser:
    """One of several texts. Where one text goes on from another, the end token says that it does not."""

    def __init__(self, root: Trie, eos: int) -> None:
        self._node, self._eos, self._over = root, eos, False

    def allowed(self) -> Sequence[int]:
        if self._over or self._node.keys() == {END}:
            return ()
        return sorted(self._eos if key == END else key for key in self._node)

    def take(self, token: int) -> None:
        if token == self._eos and END in self._node:
            self._over = True
        else:
            self._node = self._node[token]


class GrammarChooser:
    """Any other guide, by the grammar engine that servers use too (llguidance)."""

    def __init__(self, matcher: Any, vocabulary: int) -> None:
        self._matcher, self._vocabulary = matcher, vocabulary

    def allowed(self) -> Sequence[int]:
        if self._matcher.is_stopped():
            return ()
        bits = np.unpackbits(np.frombuffer(self._matcher.compute_bitmask(), np.uint8), bitorder="little")
        return np.flatnonzero(bits[: self._vocabulary]).tolist()

    def take(self, token: int) -> None:
        if not self._matcher.consume_token(token):
            raise Abort(f"the grammar engine refused a token it had allowed: {self._matcher.get_error()}")


class Choosers:
    """Makes choosers for one tokenizer."""

    def __init__(self, tokenizer: Any, vocabulary: int) -> None:
        self._tokenizer, self._vocabulary = tokenizer, vocabulary
        self._tries: OrderedDict[Any, Trie] = OrderedDict()
        self._eos = int(tokenizer.eos_token_id)

    def of(self, guide: Guide) -> Chooser:
        if guide.choices or 0 < guide.digits <= LISTED_DIGITS:
            key = guide.choices or (guide.digits, guide.prefix, guide.suffix)
            if key not in self._tries:
                self._tries[key] = self._trie(guide.choices or _listed(guide))
                while len(self._tries) > KEPT:
                    self._tries.popitem(last=False)
            return TrieChooser(self._tries[key], self._eos)
        return GrammarChooser(self._matcher(guide), self._vocabulary)

    def _trie(self, texts: Sequence[str]) -> Trie:
        root: Trie = {}
        for ids in self._tokenizer(list(texts), add_special_tokens=False)["input_ids"]:
            node = root
            for token in ids:
                node = node.setdefault(int(token), {})
            node[END] = {}
        return root

    def _matcher(self, guide: Guide) -> Any:
        from llguidance import LLMatcher

        if guide.schema is not None:
            grammar = LLMatcher.grammar_from_json_schema(
                canonical(guide.schema), defaults={"whitespace_flexible": False}
            )
        else:
            grammar = LLMatcher.grammar_from_regex(regex(guide))
        matcher = LLMatcher(self._grammar_tokenizer, grammar)
        if matcher.is_error():
            raise Abort(f"the guide cannot be decoded under: {matcher.get_error()}", "Use a simpler schema.")
        return matcher

    @cached_property
    def _grammar_tokenizer(self) -> Any:
        from llguidance.hf import from_tokenizer

        return from_tokenizer(self._tokenizer, n_vocab=self._vocabulary)


def _listed(guide: Guide) -> list[str]:
    numbers = [f"{n:0{d}d}" for d in range(1, guide.digits + 1) for n in range(10**d)]
    return [f"{guide.prefix}{number}{guide.suffix}" for number in numbers]
