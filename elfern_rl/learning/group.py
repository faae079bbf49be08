"""Several processes that train one network together, under ``torchrun``; or one alone.

``torchrun --nproc-per-node=2 -m elfern_rl run CONFIG`` starts the processes and tells each its
place through environment variables.  Each has its share of the tables and of every minibatch;
gradients are averaged, so all hold the same weights at all times.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch import distributed as dist

from elfern_rl.errors import ElfernError

__all__ = ["Group", "joined"]


class Group:
    """The processes that train together.

    Attributes:
        rank: this process's number, 0 for the one that writes files.
        size: how many there are.
    """

    def __init__(self, rank: int = 0, size: int = 1, device: str = "cpu") -> None:
        self.rank, self.size = rank, size
        self._device = device

    def share(self, total: int, what: str) -> int:
        """Returns this process's share of a number that must be divisible.

        Raises:
            ElfernError: it is not.
        """
        if total % self.size:
            raise ElfernError(f"{what}={total}: must be divisible by the {self.size} processes")
        return total // self.size

    def mean(self, tensor: Tensor) -> Tensor:
        """Returns the mean over the processes; the tensor is overwritten."""
        if self.size > 1:
            dist.all_reduce(tensor)
            tensor /= self.size
        return tensor

    def average_gradients(self, parameters: list[torch.nn.Parameter]) -> None:
        """Replaces gradients by their means over the processes, in one message."""
        if self.size == 1:
            return
        gradients = [p.grad for p in parameters if p.grad is not None]
        flat = self.mean(torch.cat([g.flatten() for g in gradients]))
        at = 0
        for gradient in gradients:
            gradient.copy_(flat[at : at + gradient.numel()].view_as(gradient))
            at += gradient.numel()

    def gather(self, arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Returns the arrays of all processes, joined along the first axis, to rank 0.

        The other processes get what they gave.
        """
        if self.size == 1:
            return arrays
        parts: list[Any] | None = [None] * self.size if self.rank == 0 else None
        dist.gather_object(arrays, parts)
        if parts is None:
            return arrays
        return {key: np.concatenate([part[key] for part in parts]) for key in arrays}

    def agree(self, flag: bool) -> bool:
        """Returns whether ``flag`` is true in any process."""
        if self.size == 1:
            return flag
        return bool(self.mean(torch.tensor(float(flag), device=self._device)).item() > 0)

    def wait(self) -> None:
        """Returns when all processes have come here."""
        if self.size > 1:
            dist.barrier()


@contextmanager
def joined(device: torch.device) -> Iterator[Group]:
    """Joins the group that ``torchrun`` started, if it did; leaves it at the end."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        yield Group()
        return
    backend = "nccl" if device.type == "cuda" else "gloo"
    # An evaluation, during which the others wait, can take long.
    dist.init_process_group(backend, timeout=datetime.timedelta(hours=2))
    try:
        yield Group(dist.get_rank(), size, device.type)
    finally:
        dist.destroy_process_group()
