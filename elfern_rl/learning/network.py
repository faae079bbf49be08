"""The network: what a player sees in, action logits and a value out.

Imports torch; import this module only where a network is really needed.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from elfern_rl.errors import ElfernError

__all__ = ["Oracle", "PolicyValueNet", "masked_log_probs", "pick_device"]


def _trunk(size: int, width: int, depth: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for _ in range(depth):
        # Layers made on "meta" draw nothing from torch's global generator.
        layers += [nn.Linear(size, width, device="meta"), nn.ReLU()]
        size = width
    return nn.Sequential(*layers)


def _draw_weights(network: nn.Module, trunk: nn.Sequential, head: nn.Linear, seed: int) -> None:
    network.to_empty(device="cpu")
    generator = torch.Generator().manual_seed(seed % (1 << 63))
    for layer in trunk:
        if isinstance(layer, nn.Linear):
            nn.init.orthogonal_(layer.weight, 2**0.5, generator=generator)
            nn.init.zeros_(layer.bias)
    # A nearly uniform first policy and first values near zero.
    nn.init.orthogonal_(head.weight, 0.01, generator=generator)
    nn.init.zeros_(head.bias)


class PolicyValueNet(nn.Module):
    """A plain multi-layer perceptron with one trunk for policy and value.

    Args:
        features: input size F.
        actions: number of actions A.
        width: units of each hidden layer.
        depth: number of hidden layers.
        seed: of the initial weights; torch's global generator is neither read nor changed.
        sort: 1 if it is shown its suits sorted (see ``games/suits.py``), else 0.
    """

    def __init__(
        self, features: int, actions: int, width: int, depth: int, seed: int = 0, sort: int = 0
    ) -> None:
        super().__init__()
        self.actions = actions
        self.sort = sort
        self.trunk = _trunk(features, width, depth)
        # One product gives the logits and the value.
        self.head = nn.Linear(width, actions + 1, device="meta")
        _draw_weights(self, self.trunk, self.head, seed)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Returns (logits [B, A], values [B]) of observations [B, F], in the weights' precision.

        Under autocast the trunk runs in bf16 and the head stays exact: eight bits of mantissa are
        enough for hidden units, but not for the values whose small differences are the advantages.
        """
        hidden = self.trunk(observations)
        with torch.autocast(hidden.device.type, enabled=False):
            out = self.head(hidden.to(self.head.weight.dtype))
        return out[:, : self.actions], out[:, self.actions]

    def describe(self) -> dict[str, Any]:
        """Returns the constructor's arguments (without the seed) for a checkpoint's card."""
        linear = [layer for layer in self.trunk if isinstance(layer, nn.Linear)]
        return {
            "features": linear[0].in_features,
            "actions": self.actions,
            "width": self.head.in_features,
            "depth": len(linear),
            "sort": self.sort,
        }


class Oracle(nn.Module):
    """A critic that sees all hands; used in training only.

    Args:
        features: input size, the player's features and the hidden ones together.
        width: units of each hidden layer.
        depth: number of hidden layers.
        seed: of the initial weights.
    """

    def __init__(self, features: int, width: int, depth: int, seed: int = 0) -> None:
        super().__init__()
        self.trunk = _trunk(features, width, depth)
        self.head = nn.Linear(width, 1, device="meta")
        _draw_weights(self, self.trunk, self.head, seed)

    def forward(self, inputs: Tensor) -> Tensor:
        """Returns values [B] of inputs [B, F]; see :meth:`PolicyValueNet.forward`."""
        hidden = self.trunk(inputs)
        with torch.autocast(hidden.device.type, enabled=False):
            out: Tensor = self.head(hidden.to(self.head.weight.dtype))
        return out[:, 0]


def masked_log_probs(logits: Tensor, legal: Tensor) -> Tensor:
    """Returns log probabilities [B, A] over the legal actions; illegal ones get about -1e9.

    Finite rather than -inf, so that ``p * log p`` is 0 for them instead of nan.
    """
    return logits.masked_fill(~legal, -1e9).log_softmax(-1)


def pick_device(name: str) -> torch.device:
    """Returns the device for ``auto`` (CUDA if there is one), ``cpu`` or ``cuda``.

    Raises:
        ElfernError: ``cuda`` is asked for and not there.
    """
    if name == "cuda" and not torch.cuda.is_available():
        raise ElfernError("device=cuda: torch finds no CUDA device here; use device=auto or cpu")
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)
