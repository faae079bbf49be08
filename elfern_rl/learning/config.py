"""The learner's settings as a strict model: unknown names and values out of range are refused.

Torch-free, so that a configuration can be checked and listed without loading torch.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["PPOConfig"]


class PPOConfig(BaseModel):
    """Settings of :func:`elfern_rl.learning.ppo.train`; the defaults are the measured choices.

    A *sample* is one decision of one player.  An iteration plays ``num_envs`` tables for ``steps``
    moves each and then trains on what it saw.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    samples: int = Field(
        20_000_000,
        ge=1,
        le=10**13,
        description="decisions to play in all; rounded up to whole iterations of num_envs * steps",
    )
    num_envs: int = Field(2048, ge=1, le=1 << 20, description="deals played side by side")
    steps: int | None = Field(
        None,
        ge=1,
        le=4096,
        description="moves played at each table an iteration; null: the longest deal of the game",
    )

    endgame: Literal["exact", "played"] = Field(
        "exact",
        description="exact: a deal of Elfern ends when the endgame table knows what it pays, which "
        "that is then; played: it is played to its last card",
    )
    suits: Literal["sorted", "dealt"] = Field(
        "sorted",
        description="sorted: the network is shown its suits in a standard order, for nothing but "
        "their names tells them apart; dealt: as they are",
    )

    network: Literal["suits", "plain"] = Field(
        "suits",
        description="suits: the same weights serve every suit; plain: a multi-layer perceptron",
    )
    width: int = Field(
        128,
        ge=8,
        le=8192,
        description="units of each hidden layer; with network=suits, of each suit in it",
    )
    depth: int = Field(3, ge=1, le=32, description="number of hidden layers")
    critic: Literal["own", "oracle"] = Field(
        "own",
        description="what the value that advantages are measured against knows: own: what the "
        "player knows, from the policy's network; oracle: all hands, from a network of its own",
    )
    critic_width: int = Field(256, ge=8, le=8192, description="units a layer of the oracle")
    critic_depth: int = Field(2, ge=1, le=32, description="hidden layers of the oracle")

    learning_rate: float = Field(2e-3, gt=0, le=1, description="Adam's step size at the start")
    learning_rate_end: float = Field(
        2e-4, ge=0, le=1, description="Adam's step size at the end; linear in the samples"
    )
    minibatch: int = Field(2048, ge=1, le=1 << 24, description="decisions a gradient step")
    epochs: int = Field(2, ge=1, le=100, description="passes over an iteration's decisions")
    clip: float = Field(
        0.2, gt=0, lt=1, description="PPO's clip: how far a probability ratio may move from one"
    )
    entropy: float = Field(0.03, ge=0, description="weight of the entropy bonus at the start")
    entropy_end: float = Field(
        0.003, ge=0, description="weight of the entropy bonus at the end; linear in the samples"
    )
    magnet: float = Field(
        0.0,
        ge=0,
        description="weight of the pull towards the averaged policy (the divergence from it)",
    )
    average: float = Field(
        0.9,
        ge=0,
        lt=1,
        description="share of the averaged weights that an iteration keeps; the averaged network "
        "is the magnet",
    )
    play: Literal["last", "averaged"] = Field(
        "last", description="which weights are evaluated and kept as checkpoints"
    )
    value_coefficient: float = Field(1.0, ge=0, description="weight of the value loss")
    gae_lambda: float = Field(
        0.9,
        ge=0,
        le=1,
        description="how far the advantage looks past the value network: 0 one decision, 1 the end",
    )
    gamma: float = Field(
        1.0, gt=0, le=1, description="discount a decision of the same player; a deal is short: 1"
    )
    max_grad_norm: float = Field(0.5, gt=0, description="gradients are scaled down to this norm")

    device: Literal["auto", "cpu", "cuda"] = Field(
        "auto", description="where the network runs; auto: cuda if there is one"
    )
    precision: Literal["auto", "fp32", "bf16"] = Field(
        "auto",
        description="arithmetic of the large products while training; weights stay fp32; "
        "auto: bf16 where the hardware has it (two to three times faster), else fp32",
    )
    threads: int = Field(
        1,
        ge=1,
        le=1024,
        description="torch's threads; a run is the same, bit by bit, only for the same number. "
        "More than one gains little with these small networks and loses much on a busy machine",
    )

    checkpoint_every: int = Field(
        20, ge=1, description="iterations between checkpoints (from which a killed run resumes)"
    )
    keep_checkpoints: int = Field(
        3, ge=1, le=100_000, description="newest checkpoints to keep; the final one always stays"
    )
    evaluate_every: int = Field(
        20, ge=0, description="iterations between evaluations; 0: only at the end"
    )
    evaluate_pairs: int = Field(
        1000,
        ge=0,
        le=10_000_000,
        description="duplicate pairs of deals an evaluation; 0: no evaluation at all",
    )

    @model_validator(mode="after")
    def _sensible(self) -> PPOConfig:
        if self.learning_rate_end > self.learning_rate:
            raise ValueError(
                f"learning_rate_end={self.learning_rate_end:g}: must be at most "
                f"learning_rate={self.learning_rate:g}"
            )
        if self.entropy_end > self.entropy:
            raise ValueError(
                f"entropy_end={self.entropy_end:g}: must be at most entropy={self.entropy:g}"
            )
        return self
