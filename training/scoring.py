"""Log-probabilities and entropies of trained tokens under some weights, in little memory: logits only where needed."""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from spade.errors import Abort
from training.rows import Rows

CHUNK = 1 << 24
"""Logits held at once; more are computed in pieces and again in the backward pass."""
_UNKNOWN_HEADS = ("logit_scale", "logits_scaling", "lm_head_multiplier")


class Scored(NamedTuple):
    """[N] each: log-probability of each trained token, and the entropy of what it was drawn from, both in nats.

    A tuple, so that torch finds the tensors in it when weights are sharded.
    """

    logprobs: Tensor
    entropies: Tensor


class Scorer(nn.Module):
    """A causal language model of transformers as a function from rows to scores."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        config = _bare(model).config
        strange = [n for n in _UNKNOWN_HEADS if getattr(config, n, None) not in (None, 1, 1.0)]
        if strange:
            raise Abort(f"models with {strange[0]} are not supported by the trainer.", "Train another base model.")
        if "sliding_attention" in (getattr(config, "layer_types", None) or ()):
            raise Abort("models with sliding attention are not supported by the trainer.", "Train another base model.")
        self.softcap = getattr(config, "final_logit_softcapping", None)

    @property
    def bare(self) -> Any:
        """The transformers model itself, without wrappers."""
        return _bare(self.model)

    def forward(self, rows: Rows, entropy_gradient: bool = False) -> Scored:
        bare = self.bare
        hidden = bare.get_decoder()(
            input_ids=rows.ids, attention_mask=rows.visible, position_ids=rows.positions, use_cache=False
        ).last_hidden_state
        hidden = hidden.reshape(-1, hidden.shape[-1])[rows.places]
        head = bare.get_output_embeddings()
        size = max(1, CHUNK // head.weight.shape[0])
        parts = []
        for start in range(0, len(rows.places), size):
            choices = None if rows.choices is None else rows.choices[start : start + size]
            piece = (hidden[start : start + size], rows.targets[start : start + size], choices)
            heat = rows.temperatures[start : start + size]
            if len(rows.places) > size and torch.is_grad_enabled():
                parts.append(checkpoint(self._score, head, *piece, heat, entropy_gradient, use_reentrant=False))
            else:
                parts.append(self._score(head, *piece, heat, entropy_gradient))
        return Scored(torch.cat([p[0] for p in parts]), torch.cat([p[1] for p in parts]))

    def _score(
        self, head: nn.Module, hidden: Tensor, targets: Tensor, choices: Tensor | None, heat: Tensor, gradient: bool
    ) -> tuple[Tensor, Tensor]:
        logits = head(hidden).float()
        if self.softcap is not None:
            logits = torch.tanh(logits / self.softcap) * self.softcap
        logits = logits / heat[:, None]
        if choices is not None:
            logits, targets = _among(logits, targets, choices)
        norm = logits.logsumexp(-1)
        chosen = logits.gather(-1, targets[:, None])[:, 0] - norm
        with torch.set_grad_enabled(gradient and torch.is_grad_enabled()):
            given = logits if gradient else logits.detach()
            probabilities = (given - given.logsumexp(-1, keepdim=True)).exp()
            finite = given.masked_fill(probabilities == 0.0, 0.0)
            entropy = given.logsumexp(-1) - (probabilities * finite).sum(-1)
        return chosen, entropy


def _among(logits: Tensor, targets: Tensor, choices: Tensor) -> tuple[Tensor, Tensor]:
    """Logits with everything outside the guide's choices at minus infinity. All guided: only the choices are kept."""
    free = (choices >= 0).any(-1)
    if bool(free.all()):
        kept = logits.gather(-1, choices.clamp(min=0)).masked_fill(choices < 0, -torch.inf)
        return kept, (choices == targets[:, None]).long().argmax(-1)
    allowed = torch.zeros_like(logits, dtype=torch.bool)
    rows, columns = torch.nonzero(choices >= 0, as_tuple=True)
    allowed[rows, choices[rows, columns]] = True
    allowed |= ~free[:, None]
    return logits.masked_fill(~allowed, -torch.inf), targets


def _bare(model: Any) -> Any:
    """The transformers model itself, without wrappers of peft or of distribution."""
    while hasattr(model, "module"):
        model = model.module
    return model.get_base_model() if hasattr(model, "get_base_model") else model
