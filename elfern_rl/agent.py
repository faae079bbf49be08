"""The protocol between an agent and everything that lets agents play.

An agent sees *view rows*: what its player may know, and nothing else.  There is no other argument
through which a hidden card could come.  An agent overrides whichever of the four methods suits it;
the other three follow from that one:

========================  ===================================================================
``act(info, rng)``        one decision, for people and simple agents
``policy(info, rng)``     the probabilities of one decision
``act_batch(views, ...)`` many decisions at once, for fast agents
``policy_batch(...)``     the probabilities of many decisions at once
========================  ===================================================================

All randomness comes from the generator or the seeds that are handed in, fresh for every decision,
so that a result does not depend on how decisions are batched or who else is playing.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pydantic
from numpy.typing import NDArray

from elfern_rl.errors import IllegalAction, InvalidAgent
from elfern_rl.games.information import InformationState
from elfern_rl.games.options import GameOptions

__all__ = ["Agent", "AgentOptions", "sample"]


class AgentOptions(pydantic.BaseModel):
    """Base of the options that an agent takes in its spec, such as ``ismcts:iterations=2000``.

    Subclasses declare fields with defaults, limits and a description; unknown names are refused.
    """

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True, validate_default=True)


class Agent:
    """Base class of all agents.

    Attributes:
        Options: the model of the agent's options; override it with a subclass of ``AgentOptions``.
        options: the game's options.
        agent_options: this agent's options, an instance of ``Options``.
        seed: the seed that the agent was made with, for what it decides once (not for each move).
        name: the spec in its shortest form, such as ``ismcts:iterations=2000``.
        about: one line for people on who really plays, where the spec does not tell; else empty.
    """

    Options: ClassVar[type[AgentOptions]] = AgentOptions

    def __init__(
        self, options: GameOptions, agent_options: AgentOptions | None = None, seed: int = 0
    ) -> None:
        if not any(self._own(m) for m in ("act", "policy", "act_batch", "policy_batch")):
            raise InvalidAgent(
                f"{type(self).__name__} overrides none of act, policy, act_batch, policy_batch"
            )
        self.options = options
        if agent_options is None:
            agent_options = self.options_model(options)()
        self.agent_options = agent_options
        self.seed = seed
        self.name = type(self).__name__
        self.about = ""
        self._remake: tuple[Any, tuple[Any, ...]] | None = None

    @classmethod
    def options_model(cls, options: GameOptions) -> type[AgentOptions]:
        """Returns the model of the options that the agent takes in a game; ``Options`` as a rule.

        An agent whose options depend on the game (the heuristic's habits) overrides this.
        """
        return cls.Options

    def policy(self, info: InformationState, rng: np.random.Generator) -> NDArray[np.float64]:
        """Returns the probability of every action in one position, float64[num_actions].

        Args:
            info: what the player on move knows.
            rng: a generator for this decision.
        """
        if self._own("policy_batch"):
            one: NDArray[np.float64] = self.policy_batch(_batch(info), _seeds(rng))[0]
            return one
        certain = np.zeros(self.options.num_actions, dtype=np.float64)
        certain[self.act(info, rng)] = 1.0
        return certain

    def act(self, info: InformationState, rng: np.random.Generator) -> int:
        """Returns the chosen action in one position.

        Args:
            info: what the player on move knows.
            rng: a generator for this decision.
        """
        if self._own("act_batch"):
            return int(self.act_batch(_batch(info), _seeds(rng))[0])
        policy = checked_policies([self.policy(info, rng)], 1, self)
        return int(sample(policy, np.array([rng.random()]))[0])

    def act_batch(self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Returns the chosen actions in many positions, int64[B].

        Args:
            views: uint32[B, ROW_WORDS], each the view of the player on move.
            seeds: uint64[B], one fresh seed for each decision.

        Raises:
            IllegalAction: an agent that overrides ``act`` chose what the rules do not allow, or one
                that overrides ``policy`` gave no probabilities.
        """
        if not self._own("act") and self._own("policy_batch"):
            policies = checked_policies(self.policy_batch(views, seeds), len(views), self)
            return sample(policies, _uniforms(seeds))
        actions = np.empty(len(views), dtype=np.int64)
        for i, info in enumerate(self._each(views)):
            action = self.act(info, np.random.default_rng(int(seeds[i])))
            actions[i] = checked(action, info, self.name)
        return actions

    def policy_batch(
        self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]
    ) -> NDArray[np.float64]:
        """Returns the probabilities of every action in many positions, float64[B, num_actions].

        Args:
            views: uint32[B, ROW_WORDS], each the view of the player on move.
            seeds: uint64[B], one fresh seed for each decision.
        """
        policies = np.empty((len(views), self.options.num_actions), dtype=np.float64)
        for i, info in enumerate(self._each(views)):
            policy = self.policy(info, np.random.default_rng(int(seeds[i])))
            policies[i] = checked_policies([policy], 1, self)[0]
        return policies

    def _each(self, views: NDArray[np.uint32]) -> list[InformationState]:
        return [InformationState(row, self.options) for row in views]

    def _own(self, method: str) -> bool:
        return getattr(type(self), method) is not getattr(Agent, method)

    def __repr__(self) -> str:
        return f"<agent {self.name} for {self.options.game_string}>"

    def __reduce__(self) -> Any:
        # An agent from a spec travels to another process as its spec: its class comes from a file
        # loaded by path, which pickle could not find again.
        return super().__reduce__() if self._remake is None else self._remake


def checked(action: int, info: InformationState, name: str) -> int:
    """Returns the action of the agent ``name`` if the rules allow it.

    Raises:
        IllegalAction: they do not.
    """
    if action not in info.legal_actions:
        raise IllegalAction(
            f"agent '{name}' chose {action!r}; legal actions: {list(info.legal_actions)}"
        )
    return int(action)


def checked_policies(policies: Any, count: int, agent: Agent) -> NDArray[np.float64]:
    """Returns an agent's policies as float64[count, num_actions] if one can draw from them.

    Raises:
        IllegalAction: another shape, no numbers, negative ones, or a row of zeros.
    """
    shape = (count, agent.options.num_actions)
    try:
        weights = np.asarray(policies, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.empty(0)
    if weights.shape != shape:
        raise IllegalAction(
            f"agent '{agent.name}': a policy must be {shape[1]} numbers, one an action, "
            f"not of shape {list(np.shape(weights)[1:])}"
        )
    sums = weights.sum(axis=1)
    if not ((weights >= 0).all() and (sums > 0).all() and np.isfinite(sums).all()):
        raise IllegalAction(
            f"agent '{agent.name}': a policy must be probabilities: finite, none of them negative, "
            "not all zero"
        )
    return weights


def sample(policies: NDArray[np.float64], uniforms: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draws an action from each policy.

    Args:
        policies: float64[B, num_actions], rows of probabilities (or weights) that are not all zero.
        uniforms: float64[B], each in [0, 1).

    Returns:
        int64[B]; never an action of probability zero.
    """
    sums = np.cumsum(policies, axis=1)
    drawn = (sums <= (uniforms * sums[:, -1])[:, np.newaxis]).sum(axis=1)
    # Rounding can lift the product to the full sum; then the last possible action is meant.
    last = policies.shape[1] - 1 - np.argmax(policies[:, ::-1] > 0, axis=1)
    return np.asarray(np.minimum(drawn, last), dtype=np.int64)


def _batch(info: InformationState) -> NDArray[np.uint32]:
    return info.writable_row()[np.newaxis]


def _seeds(rng: np.random.Generator) -> NDArray[np.uint64]:
    return rng.integers(0, 2**64, size=1, dtype=np.uint64)


def _uniforms(seeds: NDArray[np.uint64]) -> NDArray[np.float64]:
    return (seeds >> np.uint64(11)).astype(np.float64) * 2.0**-53
