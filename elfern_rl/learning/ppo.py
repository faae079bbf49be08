"""Self-play with regularised proximal policy optimisation: the whole algorithm, top to bottom.

One network plays all seats of many deals at once.  An iteration has three parts:

1. *Play*: every table makes ``steps`` decisions, each drawn from the network's policy over the
   legal actions.  A deal that ends is followed by the next one at once; Elfern's ends where the
   endgame table knows what it pays.
2. *Judge*: for each decision, the advantage of what was chosen over the value that was expected
   (generalised advantage estimation along the chain of the same player's decisions at the same
   table; the only payoff is the game points at the end of the deal).  The expectation is the
   network's own or, in training alone, that of an oracle that sees all hands.
3. *Learn*: some passes over these decisions in minibatches.  The clipped objective of PPO makes
   good actions likelier, within limits.  Two terms keep the policy mixed and steady, which is what
   self-play in a game of hidden cards needs: an entropy bonus, which falls during the run, and a
   magnet, the divergence from a slowly averaged policy.  The values are regressed on the returns.

After Schulman et al., "Proximal Policy Optimization Algorithms", 2017; the magnet after Sokota et
al., "A unified approach to reinforcement learning, quantal response equilibria, and two-player
zero-sum games" (magnetic mirror descent), 2023.  Everything random comes from the seed: iteration
``i`` draws from stream ``(seed, i)``, so there is no generator state to save, and a run killed at
any moment goes on from its last checkpoint to the same weights, bit by bit.
"""

from __future__ import annotations

import copy
import importlib.metadata
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from elfern_rl.errors import ElfernError, InvalidCheckpoint, RunFolderError
from elfern_rl.games.options import GameOptions, parse_game
from elfern_rl.learning import checkpoint as checkpoints
from elfern_rl.learning.config import PPOConfig
from elfern_rl.learning.gae import advantages
from elfern_rl.learning.group import Group, joined
from elfern_rl.learning.network import (
    Network,
    Oracle,
    make_network,
    masked_log_probs,
    pick_device,
)
from elfern_rl.learning.policy import NetworkPolicy
from elfern_rl.learning.recorder import Recorder, stop_on_interrupt
from elfern_rl.learning.sampling import sample
from elfern_rl.learning.shape import network_shape, shape_differences
from elfern_rl.learning.tables import Opponent, Tables
from elfern_rl.rng import stream

__all__ = ["Evaluate", "TrainingError", "train"]

Evaluate = Callable[[NetworkPolicy], dict[str, float]]
"""Measures a policy; the progress line shows ``points`` (a deal) and ``win_rate``, if present."""


class TrainingError(ElfernError):
    """The loss is no longer a finite number."""


@dataclass
class Batch:
    """What the tables did in an iteration: T decisions at each of N tables."""

    observations: Tensor  # [T, N, F] in the precision of the trunk
    hidden: Tensor  # [T, N, H], the other hands; H is 0 without an oracle
    legal: Tensor  # bool[T, N, A]
    actions: Tensor  # int64[T, N]
    log_probs: Tensor  # float32[T, N], of the actions when they were drawn
    values: Tensor  # float32[T, N], in units of max_utility
    players: NDArray[np.int8]  # [T, N]
    rewards: NDArray[np.float32]  # [T, N, P], in units of max_utility
    dones: NDArray[np.bool_]  # [T, N]


def schedule(start: float, end: float, progress: float) -> float:
    """Linear from ``start`` to ``end`` as ``progress`` goes from 0 to 1."""
    return start + (end - start) * progress


class Learner:
    """The networks, their optimiser and the tables; see the module's text for the algorithm."""

    def __init__(
        self,
        config: PPOConfig,
        game: GameOptions,
        seed: int,
        group: Group | None = None,
        opponent: Opponent | None = None,
        start: Network | None = None,
        share: float = 1.0,
    ) -> None:
        group = group or Group()
        self.config, self.game, self.seed, self.group = config, game, seed, group
        self.device = pick_device(config.device)
        self.bf16 = _precision(config, self.device) == "bf16"
        self.num_envs = group.share(config.num_envs, "num_envs")
        self.minibatch = group.share(config.minibatch, "minibatch")
        sort = config.suits == "sorted"
        self.tables = Tables(
            game,
            self.num_envs,
            stream(seed, 1),
            first=group.rank * self.num_envs,
            exact=config.endgame == "exact",
            sort=sort,
            oracle=config.critic == "oracle",
            opponent=opponent,
            share=share,
            total=config.num_envs,
        )
        features, hidden = self.tables.num_features, self.tables.hidden.shape[1]
        shape = network_shape(config, game)
        self.network = make_network(shape, stream(seed, 2)).to(self.device)
        if start is not None:
            differences = shape_differences(start.describe(), self.network.describe())
            if differences:
                raise ElfernError(
                    "the weights to start from are of another network than ppo asks for: "
                    f"{differences}"
                )
            self.network.load_state_dict(start.state_dict())
        self.averaged = copy.deepcopy(self.network).requires_grad_(False)
        self.oracle: Oracle | None = None
        if config.critic == "oracle":
            self.oracle = Oracle(
                features + hidden, config.critic_width, config.critic_depth, stream(seed, 4)
            ).to(self.device)
        self.trained: dict[str, nn.Parameter] = {
            f"{kind}/{name}": parameter
            for kind, module in (("network", self.network), ("oracle", self.oracle))
            if module is not None
            for name, parameter in module.named_parameters()
        }
        self.optimizer = torch.optim.Adam(
            self.trained.values(), lr=config.learning_rate, eps=1e-5, fused=True
        )
        self.steps = config.steps or game.max_moves
        self.iterations = math.ceil(config.samples / (self.steps * config.num_envs))
        self.batch = self._empty_batch()

    def _empty_batch(self) -> Batch:
        shape = (self.steps, self.num_envs)

        def empty(dtype: torch.dtype, *more: int) -> Tensor:
            return torch.empty((*shape, *more), dtype=dtype, device=self.device)

        inputs = torch.bfloat16 if self.bf16 else torch.float32
        return Batch(
            observations=empty(inputs, self.tables.num_features),
            hidden=empty(inputs, self.tables.hidden.shape[1]),
            legal=empty(torch.bool, self.game.num_actions),
            actions=empty(torch.int64),
            log_probs=empty(torch.float32),
            values=empty(torch.float32),
            players=np.empty(shape, np.int8),
            rewards=np.empty((*shape, self.game.num_players), np.float32),
            dones=np.empty(shape, np.bool_),
        )

    def _autocast(self) -> torch.autocast:
        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16)

    def iterate(self, iteration: int) -> dict[str, float]:
        """Plays, judges and learns once; returns the iteration's measurements."""
        progress = (iteration - 1) / self.iterations
        rng = np.random.default_rng(stream(self.seed, 3, iteration, self.group.rank))
        began = time.perf_counter()
        self._play(rng)
        played = time.perf_counter()
        trained = self._learn(rng, progress)
        # The mean over the iterations so far while they are few: the first weights mean nothing.
        keep = min(self.config.average, 1 - 1 / iteration)
        with torch.no_grad():
            for slow, fast in zip(
                self.averaged.parameters(), self.network.parameters(), strict=True
            ):
                slow.lerp_(fast, 1 - keep)
        return trained | {
            "deals": int(self.batch.dones.sum()) * self.group.size,
            "play_seconds": played - began,
            "learn_seconds": time.perf_counter() - played,
        }

    # ---- 1. play -------------------------------------------------------------------------------

    @torch.inference_mode()
    def _play(self, rng: np.random.Generator) -> None:
        batch, tables = self.batch, self.tables
        actions = np.empty(self.num_envs, np.int64)
        log_probs = np.empty(self.num_envs, np.float32)
        for t in range(self.steps):
            batch.observations[t].copy_(torch.from_numpy(tables.features))
            batch.hidden[t].copy_(torch.from_numpy(tables.hidden))
            batch.legal[t].copy_(torch.from_numpy(tables.mask))
            batch.players[t] = tables.players
            with self._autocast():
                logits, batch.values[t] = self.network(batch.observations[t])
            sample(logits.cpu().numpy(), tables.mask, rng.random(self.num_envs), actions, log_probs)
            batch.actions[t].copy_(torch.from_numpy(actions))
            batch.log_probs[t].copy_(torch.from_numpy(log_probs))
            tables.step(actions)
            np.divide(tables.rewards, self.game.max_utility, out=batch.rewards[t])
            batch.dones[t] = tables.dones

    # ---- 2. judge ------------------------------------------------------------------------------

    def _oracle_inputs(self, rows: Tensor | int) -> Tensor:
        """Returns what the oracle sees of a step, or of rows of the flattened batch."""
        observations, hidden = self.batch.observations, self.batch.hidden
        if isinstance(rows, Tensor):
            observations, hidden = observations.flatten(0, 1), hidden.flatten(0, 1)
        return torch.cat([observations[rows], hidden[rows]], -1)

    @torch.inference_mode()
    def _judge(self) -> tuple[Tensor, Tensor, NDArray[np.int64]]:
        """Returns (advantages [T * N], value targets [T * N], indices of the usable decisions)."""
        batch = self.batch
        if self.oracle is not None:
            with self._autocast():
                for t in range(self.steps):
                    batch.values[t] = self.oracle(self._oracle_inputs(t))
        values = batch.values.cpu().numpy()
        choices = (batch.legal.sum(-1) > 1).cpu().numpy()
        advantage = np.empty_like(values)
        usable = np.empty_like(choices)
        advantages(
            values,
            batch.rewards,
            batch.dones,
            batch.players,
            choices,
            self.config.gamma,
            self.config.gae_lambda,
            advantage,
            usable,
        )
        targets = values + advantage
        indices = np.flatnonzero(usable)
        if not len(indices):
            raise TrainingError(
                "there is no decision to learn from: the game leaves no choice, or ppo.steps="
                f"{self.steps} is too few to see what came of one"
            )
        chosen = advantage.ravel()[indices]
        # A common scale for the policy's gradient, whatever the game's stakes.
        moments = torch.tensor([chosen.mean(), np.square(chosen).mean()], dtype=torch.float64)
        mean, square = self.group.mean(moments.to(self.device)).tolist()
        advantage = (advantage - mean) / (math.sqrt(max(square - mean**2, 0.0)) + 1e-8)
        return (
            torch.from_numpy(advantage.astype(np.float32).ravel()).to(self.device),
            torch.from_numpy(targets.ravel()).to(self.device),
            indices,
        )

    # ---- 3. learn ------------------------------------------------------------------------------

    def _learn(self, rng: np.random.Generator, progress: float) -> dict[str, float]:
        config, batch, network = self.config, self.batch, self.network
        learning_rate = schedule(config.learning_rate, config.learning_rate_end, progress)
        entropy_weight = schedule(config.entropy, config.entropy_end, progress)
        observations = batch.observations.flatten(0, 1)
        legal = batch.legal.flatten(0, 1)
        actions = batch.actions.flatten()
        old_log_probs = batch.log_probs.flatten()
        advantage, target, indices = self._judge()
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate

        sums: dict[str, float] = {}
        # Processes must make the same number of steps; their numbers of usable decisions differ.
        usable = self.group.mean(torch.tensor(float(len(indices)), device=self.device)).item()
        parts = max(1, round(usable / self.minibatch))
        for _ in range(config.epochs):
            for part in np.array_split(rng.permutation(indices), parts):
                rows = torch.from_numpy(part).to(self.device)
                with self._autocast():
                    logits, values = network(observations[rows])
                log_probs = masked_log_probs(logits, legal[rows])
                log_prob = log_probs.gather(1, actions[rows, None]).squeeze(1)
                log_ratio = log_prob - old_log_probs[rows]
                ratio = log_ratio.exp()
                gain = advantage[rows]
                clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
                policy_loss = -torch.min(ratio * gain, clipped * gain).mean()
                value_loss = 0.5 * (values - target[rows]).square().mean()
                probs = log_probs.exp()
                entropy = -(probs * log_probs).sum(1).mean()
                loss = (
                    policy_loss + config.value_coefficient * value_loss - entropy_weight * entropy
                )
                measured = {"policy_loss": policy_loss, "value_loss": value_loss}
                if config.magnet:
                    with torch.no_grad(), self._autocast():
                        slow, _ = self.averaged(observations[rows])
                    slow = masked_log_probs(slow, legal[rows])
                    measured["pull"] = (probs * (log_probs - slow)).sum(1).mean()
                    loss = loss + config.magnet * measured["pull"]
                if self.oracle is not None:
                    with self._autocast():
                        seen = self.oracle(self._oracle_inputs(rows))
                    measured["oracle_loss"] = 0.5 * (seen - target[rows]).square().mean()
                    # Its weights are its own, so the factor only meets the clipping of gradients.
                    loss = loss + measured["oracle_loss"]
                if not math.isfinite(loss.item()):
                    raise TrainingError(
                        f"the loss is {loss.item()} (policy {policy_loss.item():g}, value "
                        f"{value_loss.item():g}, entropy {entropy.item():g}); the last checkpoint "
                        "is intact; lower learning_rate or max_grad_norm"
                    )
                self.optimizer.zero_grad()
                loss.backward()
                parameters = list(self.trained.values())
                self.group.average_gradients(parameters)
                norm = nn.utils.clip_grad_norm_(parameters, config.max_grad_norm)
                self.optimizer.step()
                with torch.no_grad():
                    measured |= {
                        "entropy": entropy,
                        "kl": (ratio - 1 - log_ratio).mean(),
                        "clipped": (ratio != clipped).float().mean(),
                        "grad_norm": norm,
                    }
                for key, value in measured.items():
                    sums[key] = sums.get(key, 0.0) + value.item()
        count = parts * config.epochs
        return {key: value / count for key, value in sums.items()} | {
            "explained_variance": self._explained_variance(target, indices),
            "decisions": len(indices),
            "learning_rate": learning_rate,
            "entropy_weight": entropy_weight,
        }

    def _explained_variance(self, target: Tensor, indices: NDArray[np.int64]) -> float:
        """How much of the variance of the targets the values of the playing network explained."""
        goal = target.cpu().numpy()[indices]
        error = goal - self.batch.values.cpu().numpy().ravel()[indices]
        return float(1 - error.var() / max(goal.var(), 1e-12))

    # ---- resuming ------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        """Returns copies of all that the next iteration depends on, besides the configuration.

        The tables of all processes are collected in the first one.
        """
        arrays = {f"tables/{k}": v for k, v in self.group.gather(self.tables.state()).items()}
        for name, parameter in self.trained.items():
            arrays[name] = parameter.detach().cpu().numpy().copy()
            for key, value in self.optimizer.state[parameter].items():
                arrays[f"optimizer/{key}/{name}"] = value.cpu().numpy().copy()
        for name, parameter in self.averaged.named_parameters():
            arrays[f"averaged/{name}"] = parameter.cpu().numpy().copy()
        return arrays

    def restore(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Goes back to a :meth:`state`."""
        own = slice(self.group.rank * self.num_envs, (self.group.rank + 1) * self.num_envs)
        self.tables.restore(
            {key[7:]: value[own] for key, value in arrays.items() if key.startswith("tables/")}
        )
        with torch.no_grad():
            for name, parameter in self.trained.items():
                parameter.copy_(torch.from_numpy(arrays[name]))
                self.optimizer.state[parameter] = {
                    key: torch.from_numpy(arrays[f"optimizer/{key}/{name}"]).to(self.device)
                    for key in ("step", "exp_avg", "exp_avg_sq")
                }
            for name, parameter in self.averaged.named_parameters():
                parameter.copy_(torch.from_numpy(arrays[f"averaged/{name}"]))

    @property
    def player(self) -> Network:
        """The network that is evaluated and kept."""
        return self.averaged if self.config.play == "averaged" else self.network

    def weights(self) -> dict[str, NDArray[Any]]:
        """Returns the parameters of the network that plays by name, float32."""
        return {k: v.detach().cpu().numpy() for k, v in self.player.state_dict().items()}


def _precision(config: PPOConfig, device: torch.device) -> str:
    if config.precision != "auto":
        return config.precision
    if device.type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported() else "fp32"
    # Without the instructions torch emulates bf16, many times slower than fp32.
    return "bf16" if torch.ops.mkldnn._is_mkldnn_bf16_supported() else "fp32"


def train(
    config: PPOConfig,
    game: GameOptions | str,
    run_dir: Path,
    seed: int,
    evaluate: Evaluate | None = None,
    progress: bool = True,
    commit: str | None = None,
    opponent: Opponent | None = None,
    start: Network | None = None,
    share: float = 1.0,
) -> dict[str, Any]:
    """Trains a network by self-play, or goes on with a run that was interrupted.

    Writes into ``run_dir``: ``checkpoints/`` (weights and cards), ``resume.safetensors`` (all that
    a killed run needs to go on), ``metrics.jsonl`` (one line an iteration) and ``tensorboard/``.
    A run that is already finished only returns its result.

    Args:
        config: the settings.
        game: the game.
        run_dir: the run's folder; made if missing.
        seed: of everything random, any integer.
        evaluate: called with the current policy every ``evaluate_every`` iterations and at the end;
            what it returns goes into the metrics and the card.  It must be deterministic for a
            resumed run to report what an uninterrupted one would.
        progress: show a progress bar on stderr.
        commit: the code's git commit, for the cards.
        opponent: who sits in all seats but one; None: the network plays itself.
        start: a network whose weights to start from; None: random ones.
        share: the share of the tables at which the opponent sits; at the others the network plays
            itself.

    Returns:
        game, seed, iterations, samples, deals, seconds (of playing and learning),
        samples_per_second, checkpoint (path of the final weights) and evaluation (or None).

    Raises:
        RunFolderError: the folder cannot be written, or holds a run with other settings.
        InvalidCheckpoint: its resume state is damaged.
        TrainingError: the loss is not finite; the last checkpoint stays.
        KeyboardInterrupt: Ctrl-C; the iteration was finished and a checkpoint written.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(config.threads)
    try:
        run_dir.mkdir(parents=True, exist_ok=True)
        with joined(pick_device(config.device)) as group:
            learner = Learner(config, parse_game(game), seed, group, opponent, start, share)
            return _train(learner, run_dir, evaluate, progress, commit)
    except OSError as error:
        raise RunFolderError(f"{run_dir}: cannot be written: {error.strerror or error}") from None
    finally:
        torch.set_num_threads(threads)


def _train(
    learner: Learner, run_dir: Path, evaluate: Evaluate | None, progress: bool, commit: str | None
) -> dict[str, Any]:
    config, game, seed, group = learner.config, learner.game, learner.seed, learner.group
    identity = {
        "game": game.game_string,
        "seed": seed,
        "config": config.model_dump(),
        "features_version": checkpoints.features_version(game),
        "precision": "bf16" if learner.bf16 else "fp32",
        "device": learner.device.type,
        "processes": group.size,
    }
    facts: dict[str, Any] = {
        "iteration": 0, "samples": 0, "deals": 0, "seconds": 0.0, "evaluation": None
    }  # fmt: skip
    resume = run_dir / checkpoints.RESUME
    group.wait()  # until the first process has made the folder its own
    if resume.exists():
        arrays, saved = checkpoints.load_state(resume)
        try:
            _check_same_run(run_dir, saved, identity)
            learner.restore(arrays)
            facts = {key: saved[key] for key in facts}
        except ElfernError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            what = " ".join(str(error).split())[:200]
            raise InvalidCheckpoint(
                f"{resume}: damaged resume state: {what}; use --fresh to start again"
            ) from None
    folder = run_dir / checkpoints.FOLDER
    samples_each = learner.steps * config.num_envs

    def save() -> None:
        state = learner.state()
        if group.rank == 0:
            card = checkpoints.Card(
                **identity,
                **{key: facts[key] for key in ("iteration", "samples", "seconds", "evaluation")},
                network=learner.network.describe(),
                versions=_versions(),
                commit=commit,
            )
            checkpoints.save(folder, learner.weights(), card)
            checkpoints.save_state(resume, state, identity | facts)
            checkpoints.prune(folder, config.keep_checkpoints)

    if facts["iteration"] < learner.iterations:
        recorder = (
            Recorder(
                run_dir,
                facts["iteration"],
                facts["samples"],
                learner.iterations * samples_each,
                progress,
            )
            if group.rank == 0
            else None
        )
        try:
            with stop_on_interrupt() as stop:
                for iteration in range(facts["iteration"] + 1, learner.iterations + 1):
                    last = iteration == learner.iterations
                    measured = learner.iterate(iteration)
                    spent = measured["play_seconds"] + measured["learn_seconds"]
                    facts["iteration"] = iteration
                    facts["samples"] += samples_each
                    facts["deals"] += int(measured["deals"])
                    facts["seconds"] += spent
                    row: dict[str, Any] = {
                        "iteration": iteration,
                        "samples": facts["samples"],
                        "seconds": round(facts["seconds"], 3),
                        "samples_per_second": round(samples_each / spent),
                        **measured,
                    }
                    if recorder is not None:
                        if (
                            evaluate is not None
                            and config.evaluate_pairs
                            and _due(iteration, config.evaluate_every, last)
                        ):
                            policy = NetworkPolicy(learner.player, game)
                            facts["evaluation"] = evaluate(policy)
                            row |= {f"eval/{k}": v for k, v in facts["evaluation"].items()}
                        recorder.write(row)
                    stopped = group.agree(stop.pressed)
                    if stopped or _due(iteration, config.checkpoint_every, last):
                        save()
                    if stopped and not last:
                        raise KeyboardInterrupt
        finally:
            if recorder is not None:
                recorder.close()
    group.wait()  # until the first process has written the last checkpoint
    return {
        "game": game.game_string,
        "seed": seed,
        "iterations": facts["iteration"],
        "samples": facts["samples"],
        "deals": facts["deals"],
        "seconds": facts["seconds"],
        "samples_per_second": facts["samples"] / max(facts["seconds"], 1e-9),
        "checkpoint": str(checkpoints.find(folder)),
        "evaluation": facts["evaluation"],
    }


def _due(iteration: int, every: int, last: bool) -> bool:
    return last or (every > 0 and iteration % every == 0)


def _versions() -> dict[str, str]:
    names = ("elfern_rl", "torch", "numpy", "numba")
    return {name: importlib.metadata.version(name) for name in names}


def _check_same_run(run_dir: Path, saved: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Refuses to go on with a run of other settings, naming the first that differs."""
    flat_saved, flat_wanted = (
        {**d, **{f"ppo.{k}": v for k, v in d["config"].items()}} for d in (saved, wanted)
    )
    for key, value in flat_wanted.items():
        if key != "config" and flat_saved.get(key) != value:
            raise RunFolderError(
                f"{run_dir}: holds a run with {key}={flat_saved.get(key)}, not {value}; "
                "use another folder or start afresh"
            )
