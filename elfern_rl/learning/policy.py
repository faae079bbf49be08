"""A trained network as a player: view rows in, actions out."""

from __future__ import annotations

import copy
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from elfern_rl.errors import InvalidCheckpoint
from elfern_rl.games.options import GameOptions
from elfern_rl.learning.checkpoint import Checkpoint
from elfern_rl.learning.network import Network, make_network
from elfern_rl.learning.sampling import probabilities, sample, uniforms
from elfern_rl.learning.tables import exact_actions, observe_sorted
from elfern_rl.solver.exact import no_table, table_for

__all__ = ["Mode", "NetworkPolicy", "Precision", "build_network"]

Mode = Literal["sample", "greedy"]
Precision = Literal["float64", "float32", "bfloat16"]


def build_network(checkpoint: Checkpoint) -> Network:
    """Returns the network of a checkpoint, on the CPU.

    Raises:
        InvalidCheckpoint: the weights are not those of the network that the card describes.
    """
    card = checkpoint.card
    try:
        network = make_network(card.network, seed=None)
        state = {name: torch.from_numpy(array) for name, array in checkpoint.weights.items()}
        network.load_state_dict(state)
    except (TypeError, RuntimeError, ValueError) as error:
        first = " ".join(str(error).split())[:200]
        raise InvalidCheckpoint(
            f"{checkpoint.path}: its weights do not fit the network of its card: {first}"
        ) from None
    return network


class NetworkPolicy:
    """Plays a network's policy; has the batched methods of an agent.

    The network is copied and computes in float64 as a rule: the rounding that depends on batch
    size, threads and processor then never reaches a decision, so the same seeds give the same moves
    everywhere.

    Args:
        network: the network; later changes to it do not matter.
        options: the game.
        mode: ``greedy`` takes the likeliest action, ``sample`` draws from the policy.  Greedy is
            the better player against all that was tried (+0.04 game points a deal head to head).
        device: a torch device.
        threads: torch's threads while the network runs; None leaves torch's setting alone.
        exact: play what the endgame table knows (Elfern's phase two) from the table.
        precision: of the network's arithmetic.
        block: rows to a product, the last one filled up with zeros; None: one product for a whole
            batch.  With products of one size the lower precisions' rounding too is the same
            whatever the batch.
    """

    def __init__(
        self,
        network: Network,
        options: GameOptions,
        mode: Mode = "greedy",
        device: str | torch.device = "cpu",
        threads: int | None = None,
        exact: bool = True,
        precision: Precision = "float64",
        block: int | None = None,
    ) -> None:
        self._table = table_for(options) if exact else no_table()
        self.options = options
        self.mode = mode
        self.name = "network"
        self._device = torch.device(device)
        self._dtype: torch.dtype = getattr(torch, precision)
        self._block = block
        self._network = copy.deepcopy(network).to(self._device, self._dtype).eval()
        self._threads = threads

    def evaluate(
        self, views: NDArray[np.uint32]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """Returns (logits [B, A], values [B], legal [B, A]) of view rows [B, ROW_WORDS].

        The values are expected game points of the player to move, in units of ``max_utility``.
        """
        features, mask, columns = observe_sorted(views, self.options, bool(self._network.sort))
        inputs = torch.from_numpy(features).to(self._device, self._dtype)
        threads = torch.get_num_threads()
        if self._threads is not None:
            torch.set_num_threads(self._threads)
        try:
            with torch.inference_mode():
                out, values = self._forward(inputs)
        finally:
            torch.set_num_threads(threads)
        # From the network's suits back to the real ones.
        logits = np.empty(mask.shape, np.float64)
        legal = np.empty_like(mask)
        np.put_along_axis(logits, columns, out.double().cpu().numpy(), axis=1)
        np.put_along_axis(legal, columns, mask, axis=1)
        return logits, values.double().cpu().numpy(), legal

    def _forward(self, inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        if self._block is None or not len(inputs):
            logits, values = self._network(inputs)
            return logits, values
        missing = -len(inputs) % self._block
        padded = torch.nn.functional.pad(inputs, (0, 0, 0, missing))
        parts = [self._network(part) for part in torch.split(padded, self._block)]
        count = len(inputs)
        return torch.cat([p for p, _ in parts])[:count], torch.cat([v for _, v in parts])[:count]

    def act_batch(self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Returns an action for each view row, int64[B]; ``seeds`` (uint64[B]): one a decision."""
        known = exact_actions(views, self.options, self._table)
        unknown = np.flatnonzero(known < 0)
        if len(unknown):
            known[unknown] = self._choose(views[unknown], seeds[unknown])
        return known

    def _choose(self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Returns the network's actions, int64[B]."""
        logits, _, legal = self.evaluate(views)
        if self.mode == "greedy":
            return np.asarray(np.where(legal, logits, -np.inf).argmax(axis=1), dtype=np.int64)
        actions = np.empty(len(views), np.int64)
        log_probs = np.empty(len(views), np.float32)
        sample(np.ascontiguousarray(logits), legal, uniforms(seeds), actions, log_probs)
        return actions

    def policy_batch(
        self, views: NDArray[np.uint32], seeds: NDArray[np.uint64] | None = None
    ) -> NDArray[np.float64]:
        """Returns the probabilities with which ``act_batch`` plays, float64[B, A]."""
        logits, _, legal = self.evaluate(views)
        policy = probabilities(logits, legal)
        if self.mode == "greedy":
            best = policy.argmax(axis=1)
            policy = np.zeros_like(policy)
            policy[np.arange(len(policy)), best] = 1.0
        known = exact_actions(views, self.options, self._table)
        sure = np.flatnonzero(known >= 0)
        policy[sure] = 0.0
        policy[sure, known[sure]] = 1.0
        return policy
