"""Weights as others get them: adapters merged, or the running average of the weights instead of the last."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from training.policy import Policy
from training.spread import whole

if TYPE_CHECKING:
    from training.learner import Learner


def follow(averages: dict[str, dict[str, Tensor]], policy: Policy, share: float) -> None:
    """Move the averages: `share` of the old plus the rest of the present trained weights, in place."""
    for part in policy.parts:
        for name, parameter in policy.trained(part).items():
            kept = averages.setdefault(part, {})
            if name in kept:
                kept[name].mul_(share).add_(parameter.detach(), alpha=1.0 - share)
            else:
                kept[name] = parameter.detach().clone()


def served_state(learner: "Learner", part: str) -> dict[str, Tensor]:
    """The weights that play, under the base model's own names: averaged where that is asked for, adapters merged."""
    policy = learner.policy
    model = policy.parts[part].model
    averages = learner.averages.get(part, {}) if learner.settings.average else {}
    with torch.no_grad():
        if not policy.adapters:
            return {n: whole(averages.get(n, v).detach()).clone() for n, v in model.state_dict().items()}
        policy.use(part)
        before = {name: p.detach().clone() for name, p in policy.trained(part).items()} if averages else {}
        _put(policy, part, averages)
        merged = _merged(model.get_base_model(), part)
        _put(policy, part, before)
        return merged


def _merged(model: object, part: str) -> dict[str, Tensor]:
    """Every base weight plus its adapter's low-rank product."""
    found: dict[str, Tensor] = {}
    for name, module in model.named_modules():  # type: ignore[attr-defined]
        if hasattr(module, "base_layer") and hasattr(module, "get_delta_weight"):
            base = module.base_layer
            found[f"{name}.weight"] = whole(base.weight.detach() + module.get_delta_weight(part).detach())
            if getattr(base, "bias", None) is not None:
                found[f"{name}.bias"] = whole(base.bias.detach()).clone()
    for name, value in model.state_dict().items():  # type: ignore[attr-defined]
        if "lora_" not in name and ".base_layer." not in name:
            found.setdefault(name, whole(value.detach()).clone())
    return found


def _put(policy: Policy, part: str, values: dict[str, Tensor]) -> None:
    for name, parameter in policy.trained(part).items():
        if name in values:
            parameter.copy_(values[name])
