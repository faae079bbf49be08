"""The network: what a player sees in, action logits and a value out.

Imports torch; import this module only where a network is really needed.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from elfern_rl.errors import ElfernError

__all__ = [
    "Network",
    "Oracle",
    "PolicyValueNet",
    "SuitNet",
    "make_network",
    "masked_log_probs",
    "pick_device",
]


def _trunk(size: int, width: int, depth: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for _ in range(depth):
        # Layers made on "meta" draw nothing from torch's global generator.
        layers += [nn.Linear(size, width, device="meta"), nn.ReLU()]
        size = width
    return nn.Sequential(*layers)


HEAD_GAIN = 0.01
"""A nearly uniform first policy and first values near zero."""


def _generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed % (1 << 63))


def _draw(layer: nn.Linear, gain: float, generator: torch.Generator) -> None:
    nn.init.orthogonal_(layer.weight, gain, generator=generator)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


def _draw_weights(
    network: nn.Module, trunk: nn.Sequential, head: nn.Linear, seed: int | None
) -> None:
    network.to_empty(device="cpu")
    if seed is None:
        return
    generator = _generator(seed)
    for layer in trunk:
        if isinstance(layer, nn.Linear):
            _draw(layer, 2**0.5, generator)
    _draw(head, HEAD_GAIN, generator)


class PolicyValueNet(nn.Module):
    """A plain multi-layer perceptron with one trunk for policy and value.

    Args:
        features: input size F.
        actions: number of actions A.
        width: units of each hidden layer.
        depth: number of hidden layers.
        seed: of the initial weights; torch's global generator is neither read nor changed.  None:
            they are not drawn, because others follow at once.
        sort: 1 if it is shown its suits sorted (see ``games/suits.py``), else 0.
    """

    def __init__(
        self,
        features: int,
        actions: int,
        width: int,
        depth: int,
        seed: int | None = 0,
        sort: int = 0,
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


class SuitNet(nn.Module):
    """One set of weights, used once for each suit, with what the suits have in common beside it.

    Every suit has ``width`` units a layer.  They are computed from the same suit's units in the
    layer below, by the same weights for all suits, and from the mean of all suits' (in the first
    layer also from the columns that belong to no suit).  So whatever is learned of one suit holds
    for all; a bias for each place lets trumps that are always the same suit (Herzblatt's hearts)
    be another thing than the rest.  After Zaheer et al., "Deep sets", 2017.

    Args:
        features: input size F.
        actions: number of actions A, the first 32 of them cards.
        width: units of each suit in each hidden layer.
        depth: number of hidden layers.
        planes: see :class:`~elfern_rl.games.layout.SuitColumns`.
        flag: likewise.
        seed: see :class:`PolicyValueNet`.
        sort: 1 if it is shown its suits sorted (see ``games/suits.py``), else 0.
    """

    def __init__(
        self,
        features: int,
        actions: int,
        width: int,
        depth: int,
        planes: int,
        flag: int,
        seed: int | None = 0,
        sort: int = 0,
    ) -> None:
        super().__init__()
        self.features, self.actions, self.width, self.depth = features, actions, width, depth
        self.planes, self.flag, self.sort = planes, flag, sort
        suit, common = 8 * planes + 1, features - 32 * planes - 4
        sizes = [(suit, suit + common)] + [(width, width)] * (depth - 1)
        self.own = nn.ModuleList(nn.Linear(n, width, bias=False, device="meta") for n, _ in sizes)
        self.mean = nn.ModuleList(nn.Linear(n, width, device="meta") for _, n in sizes)
        self.place = nn.Parameter(torch.empty(4, 1, width, device="meta"))
        self.cards = nn.Linear(width, 8, device="meta")
        # The value, and the actions that are no cards.
        self.rest = nn.Linear(width, actions - 32 + 1, device="meta")
        self._draw(seed)

    def _draw(self, seed: int | None) -> None:
        self.to_empty(device="cpu")
        if seed is None:
            return
        generator = _generator(seed)
        nn.init.zeros_(self.place)
        for own, mean in zip(self.own, self.mean, strict=True):
            assert isinstance(own, nn.Linear)
            assert isinstance(mean, nn.Linear)
            _draw(own, 2**0.5, generator)
            _draw(mean, 1.0, generator)
        _draw(self.cards, HEAD_GAIN, generator)
        _draw(self.rest, HEAD_GAIN, generator)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Returns (logits [B, A], values [B]); see :meth:`PolicyValueNet.forward`."""
        x, flag, end = observations, self.flag, 32 * self.planes
        planes = x[:, :end].view(-1, self.planes, 4, 8).permute(2, 0, 1, 3).flatten(2)
        units = torch.cat([planes, x[:, flag : flag + 4].t()[..., None]], -1)  # [4, B, ...]
        common = torch.cat([_mean(units), x[:, end:flag], x[:, flag + 4 :]], -1)
        for layer, (own, mean) in enumerate(zip(self.own, self.mean, strict=True)):
            shared = mean(common)
            if layer == 0:
                shared = shared + self.place.to(shared.dtype)
            units = torch.relu(own(units) + shared)
            common = _mean(units)
        with torch.autocast(x.device.type, enabled=False):
            dtype = self.rest.weight.dtype
            cards = self.cards(units.to(dtype)).transpose(0, 1).flatten(1)
            rest = self.rest(common.to(dtype))
        return torch.cat([cards, rest[:, :-1]], -1), rest[:, -1]

    def describe(self) -> dict[str, Any]:
        """Returns the constructor's arguments (without the seed) for a checkpoint's card."""
        names = ("features", "actions", "width", "depth", "sort", "planes", "flag")
        return {name: getattr(self, name) for name in names}


def _mean(units: Tensor) -> Tensor:
    """Returns the mean over the four suits; added one by one, several times as fast as mean(0)."""
    return 0.25 * (units[0] + units[1] + units[2] + units[3])


Network = PolicyValueNet | SuitNet
"""What plays."""


def make_network(shape: dict[str, int], seed: int | None = 0) -> Network:
    """Returns the network of a shape: a checkpoint's card's, or ``network_shape``'s.

    Raises:
        TypeError: the shape is not one's constructor's.
    """
    return (SuitNet if "planes" in shape else PolicyValueNet)(**shape, seed=seed)


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
