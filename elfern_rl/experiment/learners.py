"""The settings of the learners that ``exploitability`` compares; neither torch nor OpenSpiel yet.

Fields of OpenSpiel's learners are called what OpenSpiel calls them; what is not named here keeps
OpenSpiel's default.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from elfern_rl.experiment.config import StrictModel
from elfern_rl.learning.config import PPOConfig

__all__ = ["CfrPlus", "DeepCfr", "Learner", "Nfsp", "PolicyGradient"]


class CfrPlus(StrictModel):
    """CFR+, which walks the whole game in every iteration and has no randomness in it."""

    iterations: int = Field(ge=1, description="iterations; every player is updated once in each")
    code: Literal["openspiel", "arrays"] = Field(
        "openspiel",
        description="openspiel: its solver in C++ on a cached tree; arrays: this project's",
    )


class Nfsp(StrictModel):
    """Neural fictitious self-play: OpenSpiel's in PyTorch, its average policy measured."""

    episodes: int = Field(ge=1, description="deals to play")
    hidden_layers_sizes: list[int] = Field([128], min_length=1, description="hidden layers' units")
    reservoir_buffer_capacity: int = Field(200_000, ge=1, description="for the average policy")
    replay_buffer_capacity: int = Field(20_000, ge=1, description="for the best response")
    anticipatory_param: float = Field(
        0.1, ge=0, le=1, description="how often the best response is played"
    )
    batch_size: int = Field(128, ge=1, description="samples a gradient step")
    rl_learning_rate: float = Field(0.01, gt=0, description="of the best response")
    sl_learning_rate: float = Field(0.01, gt=0, description="of the average policy")
    min_buffer_size_to_learn: int = Field(1000, ge=1, description="samples before learning starts")
    learn_every: int = Field(64, ge=1, description="decisions between gradient steps")
    update_target_network_every: int = Field(1000, ge=1, description="decisions between updates")
    epsilon_start: float = Field(
        0.06, gt=0, le=1, description="how often the best response plays at random, at the start"
    )
    epsilon_end: float = Field(0.001, ge=0, le=1, description="the same in the long run")
    epsilon_decay_duration: int = Field(1_000_000, ge=1, description="decisions; the time constant")
    optimizer_str: Literal["sgd", "adam"] = Field("sgd", description="gradient descent or Adam")

    @model_validator(mode="after")
    def _falls(self) -> Nfsp:
        if self.epsilon_end > self.epsilon_start:
            raise ValueError(
                f"epsilon_end={self.epsilon_end:g}: must be at most "
                f"epsilon_start={self.epsilon_start:g}"
            )
        return self


class DeepCfr(StrictModel):
    """Deep CFR: OpenSpiel's in PyTorch, its probabilities scaled to one over the legal actions."""

    iterations: int = Field(ge=1, description="iterations")
    num_traversals: int = Field(40, ge=1, description="traversals a player and iteration")
    policy_network_layers: list[int] = Field([64, 64], min_length=1, description="hidden layers")
    advantage_network_layers: list[int] = Field([64, 64], min_length=1, description="hidden layers")
    learning_rate: float = Field(1e-3, gt=0, description="Adam's step size")
    # Without a batch size OpenSpiel's learner trains on the whole memory, the part included that
    # nothing has been written into yet.
    batch_size_advantage: int = Field(256, ge=1, description="samples a gradient step")
    batch_size_strategy: int = Field(256, ge=1, description="samples a gradient step")
    memory_capacity: int = Field(200_000, ge=1, description="samples that each memory holds")
    policy_network_train_steps: int = Field(1000, ge=1, description="gradient steps at a point")
    advantage_network_train_steps: int = Field(
        100, ge=1, description="gradient steps a player and iteration"
    )
    reinitialize_advantage_networks: bool = Field(
        True, description="whether every iteration starts from new advantage networks"
    )


class PolicyGradient(StrictModel):
    """Self-play with a policy gradient: OpenSpiel's in PyTorch, one network a player."""

    episodes: int = Field(ge=1, description="deals to play")
    loss_str: Literal["a2c", "rpg", "qpg", "rm", "neurd"] = Field(
        "a2c", description="which gradient: advantage actor-critic, or one of all actions' values"
    )
    hidden_layers_sizes: list[int] = Field([128], min_length=1, description="hidden layers' units")
    batch_size: int = Field(64, ge=1, description="decisions a step of the critic")
    critic_learning_rate: float = Field(0.01, gt=0, description="of the critic")
    pi_learning_rate: float = Field(0.01, gt=0, description="of the policy")
    entropy_cost: float = Field(0.01, ge=0, description="weight of the entropy bonus")
    num_critic_before_pi: int = Field(8, ge=1, description="steps of the critic for one of policy")
    optimizer_str: Literal["sgd", "adam"] = Field("sgd", description="gradient descent or Adam")


class Learner(StrictModel):
    """One learner: its settings under its own key, and what tables call it."""

    name: str = Field("", description="what tables call it; default: the learner's key")
    ppo: PPOConfig | None = Field(None, description="this project's learner, as in kind train")
    cfr_plus: CfrPlus | None = Field(None, description="CFR+, exact and deterministic")
    nfsp: Nfsp | None = Field(None, description="OpenSpiel's neural fictitious self-play")
    deep_cfr: DeepCfr | None = Field(None, description="OpenSpiel's Deep CFR")
    policy_gradient: PolicyGradient | None = Field(None, description="OpenSpiel's policy gradient")

    @model_validator(mode="before")
    @classmethod
    def _named(cls, data: Any) -> Any:
        if isinstance(data, dict) and not data.get("name"):
            keys = [key for key in data if key in cls.model_fields and key != "name"]
            return {**data, "name": keys[0] if keys else ""}
        return data

    @model_validator(mode="after")
    def _one(self) -> Learner:
        given = [key for key in self._kinds() if getattr(self, key) is not None]
        if len(given) != 1:
            raise ValueError(
                f"needs the settings of exactly one learner, not of {' and '.join(given) or 'none'}"
                f"; allowed: {', '.join(self._kinds())}"
            )
        return self

    @classmethod
    def _kinds(cls) -> list[str]:
        return [key for key in cls.model_fields if key != "name"]

    @property
    def kind(self) -> str:
        """The key of its settings, such as ``nfsp``."""
        return next(key for key in self._kinds() if getattr(self, key) is not None)

    @property
    def settings(self) -> Any:
        """Its settings."""
        return getattr(self, self.kind)

    @property
    def is_random(self) -> bool:
        """Whether another seed gives another result."""
        return self.cfr_plus is None

    @property
    def unit(self) -> str:
        """What its work is counted in."""
        return {"ppo": "samples", "nfsp": "episodes", "policy_gradient": "episodes"}.get(
            self.kind, "iterations"
        )
