"""The clipped policy-gradient loss of one micro-batch, and what to know about it (docs/method.md, "Learning").

With ratio r = pi / pi_near and weight w = min(pi_near / pi_behaviour, cap), the loss of a token is
-w * min(r A, clip(r, 1 - low, 1 + high) A) + kl * (e^d - d - 1) - entropy * H, d = log pi_first - log pi.
For a sample played by the weights being trained, pi_near is the behaviour policy, so w = 1 and r is the ratio against
the stored log-probabilities (PPO, arXiv 1707.06347, with the asymmetric clip of DAPO, arXiv 2503.14476). For a late
one pi_near is the policy at the start of the update: decoupled PPO (arXiv 2110.00641) with truncated weights. The KL
is the low-variance estimator k3 (http://joschu.net/blog/kl-approx.html).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from spade.training_settings import RoleTraining

_MOST = 60.0
"""Log-ratios are cut here before exp, far beyond any ratio that is trained."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """[N] each, logarithms natural. `near`: the policy that ratios are against; `first`: the reference of the KL."""

    current: Tensor
    behaviour: Tensor
    near: Tensor
    advantages: Tensor
    entropies: Tensor
    first: Tensor | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """Sums over tokens, detached: [N] values are summed by whoever reports them."""

    ratio: Tensor
    clipped: Tensor
    weight: Tensor
    truncated: Tensor
    kl: Tensor


def token_losses(tokens: Tokens, settings: RoleTraining, cap: float, entropy_weight: float) -> tuple[Tensor, Facts]:
    """The loss of each token, [N], with gradient through `current` (and `entropies` where they have one)."""
    low, high = 1.0 - settings.clip_low, 1.0 + settings.clip_high
    ratio = (tokens.current - tokens.near).clamp(-_MOST, _MOST).exp()
    raw = (tokens.near - tokens.behaviour).clamp(-_MOST, _MOST).exp().detach()
    weight = raw.clamp(max=cap)
    gain = torch.minimum(ratio * tokens.advantages, ratio.clamp(low, high) * tokens.advantages)
    loss = -weight * gain
    if tokens.first is not None and settings.kl:
        loss = loss + settings.kl * low_variance_kl(tokens.current, tokens.first)
    if entropy_weight:
        loss = loss - entropy_weight * tokens.entropies
    with torch.no_grad():
        up, down = tokens.advantages > 0, tokens.advantages < 0
        clipped = ((ratio > high) & up) | ((ratio < low) & down)
        drift = low_variance_kl(tokens.current, tokens.behaviour)
    return loss, Facts(ratio.detach(), clipped.float(), raw, (raw > cap).float(), drift)


def low_variance_kl(current: Tensor, reference: Tensor) -> Tensor:
    """k3, an unbiased and never negative estimate of KL(current || reference) from tokens drawn from `current`."""
    difference = (reference - current).clamp(-_MOST, _MOST)
    return difference.exp() - difference - 1.0
