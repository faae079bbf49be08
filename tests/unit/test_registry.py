"""From specs to agents, in one line when it cannot be done; agents as OpenSpiel bots."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from numpy.typing import NDArray
from open_spiel.python.algorithms import evaluate_bots
from pydantic import Field

import elfern_rl
from elfern_rl import registry
from elfern_rl.agent import Agent, AgentOptions, sample
from elfern_rl.bot import AgentBot
from elfern_rl.errors import ElfernError, IllegalAction, InvalidAgent, InvalidOption, one_line
from elfern_rl.games.information import InformationState
from elfern_rl.games.options import parse_game
from elfern_rl.games.vector import legal_matrix, make_vector_env, views_of
from elfern_rl.registry import AgentSpec, agent_names, make_agent, make_bot, parse_spec

GAME = "elfern(hand_size=4,suits=2)"
OPTIONS = parse_game(GAME)

MINE = '''
"""An agent of the user's own."""
from pydantic import Field
from elfern_rl.agent import Agent, AgentOptions

class Lowest(Agent):
    """Plays the legal card with the lowest id, or the n-th lowest."""

    class Options(AgentOptions):
        skip: int = Field(0, ge=0, le=3, description="how many to pass over")
        style: str = "plain"
        high: bool = False

    def act(self, info, rng):
        legal = info.legal_actions
        return legal[-1] if self.agent_options.high else legal[self.agent_options.skip % len(legal)]

class Other(Agent):
    def policy(self, info, rng):
        import numpy as np
        p = np.zeros(self.options.num_actions)
        p[info.legal_actions[0]] = 0.25
        p[info.legal_actions[-1]] += 0.75
        return p

NOT_AN_AGENT = 3
'''


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


def positions(n: int = 64) -> NDArray[np.uint32]:
    """Views of players to move, some way into their deals."""
    env = make_vector_env(GAME, n, seed=5, observations="none")
    step = env.reset()
    for _ in range(5):
        step = env.step(step.legal_actions_mask.argmax(axis=1))
    return views_of(env.rows, OPTIONS)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("random", ("random", None, {})),
        (" ismcts:iterations=2000 ", ("ismcts", None, {"iterations": "2000"})),
        ("a:x=1,y=two words, z = 3", ("a", None, {"x": "1", "y": "two words", "z": "3"})),
        (
            "neural:checkpoint=runs/x/y.safetensors,mode=greedy",
            ("neural", None, {"checkpoint": "runs/x/y.safetensors", "mode": "greedy"}),
        ),
        ("neural:checkpoint=C:\\runs\\a.py", ("neural", None, {"checkpoint": "C:\\runs\\a.py"})),
        ("neural:checkpoint=a,b/c=d", ("neural", None, {"checkpoint": "a,b/c=d"})),
        ("path/to/file.py:Cls", ("path/to/file.py", "Cls", {})),
        ("file.py:Cls:k=v,q=w", ("file.py", "Cls", {"k": "v", "q": "w"})),
        ("C:\\my agents\\file.py:Cls:k=v", ("C:\\my agents\\file.py", "Cls", {"k": "v"})),
        ("C:/x/file.py:Cls", ("C:/x/file.py", "Cls", {})),
        ("./a.py", ("./a.py", "", {})),
        ("mine.py", ("mine.py", "", {})),
        ("random:", ("random", None, {})),
    ],
)
def test_specs_are_taken_apart(spec: str, expected: tuple[str, str | None, dict[str, str]]) -> None:
    assert parse_spec(spec) == AgentSpec(*expected)


@pytest.mark.parametrize("spec", ["", ":", "a/b", "=3", "random:7", "random:x=1,x=2", "C:\\x\\y"])
def test_what_is_no_spec(spec: str) -> None:
    with pytest.raises(InvalidAgent) as caught:
        parse_spec(spec)
    assert "\n" not in one_line(caught.value)


def test_the_shipped_agents_are_listed_without_being_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_load", None)
    names = agent_names()
    assert "random" in names
    assert all(text.endswith(".") for text in names.values())
    assert sorted(names) == sorted(
        path.stem.replace("_", "-") for path in registry.agents_folder().glob("[!_]*.py")
    )


def test_random_is_uniform_over_the_legal_actions() -> None:
    agent = make_agent("random", GAME)
    views = positions()
    policies = agent.policy_batch(views, np.zeros(len(views), dtype=np.uint64))
    legal = legal_matrix(views, OPTIONS)
    assert np.array_equal(policies > 0, legal)
    assert np.allclose(policies.sum(axis=1), 1)
    one = np.repeat(views[:1], 40_000, axis=0)
    seeds = np.random.default_rng(1).integers(0, 2**64, size=len(one), dtype=np.uint64)
    counts = np.bincount(agent.act_batch(one, seeds), minlength=32)
    k = legal[0].sum()
    assert np.array_equal(counts > 0, legal[0])
    sigma = np.sqrt(len(one) / k * (1 - 1 / k))
    assert np.abs(counts[legal[0]] - len(one) / k).max() < 5 * sigma


def test_a_decision_depends_on_its_own_seed_alone(mine: Path) -> None:
    views = positions()
    seeds = np.arange(len(views), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for spec in ("random", f"{mine}:Lowest", f"{mine}:Other"):
        agent = make_agent(spec, GAME)
        whole = agent.act_batch(views, seeds)
        halves = [agent.act_batch(views[i::2], seeds[i::2]) for i in (0, 1)]
        assert np.array_equal(whole[0::2], halves[0])
        assert np.array_equal(whole[1::2], halves[1])
        assert whole.dtype == np.int64


def test_each_of_the_four_methods_is_enough() -> None:
    class Act(Agent):
        def act(self, info: InformationState, rng: np.random.Generator) -> int:
            return info.legal_actions[-1]

    class Policy(Agent):
        def policy(self, info: InformationState, rng: np.random.Generator) -> NDArray[np.float64]:
            return np.eye(32)[info.legal_actions[-1]]

    class ActBatch(Agent):
        def act_batch(
            self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]
        ) -> NDArray[np.int64]:
            legal = legal_matrix(views, self.options)
            return 31 - legal[:, ::-1].argmax(axis=1)

    class PolicyBatch(Agent):
        def policy_batch(
            self, views: NDArray[np.uint32], seeds: NDArray[np.uint64]
        ) -> NDArray[np.float64]:
            legal = legal_matrix(views, self.options)
            return np.eye(32)[31 - legal[:, ::-1].argmax(axis=1)]

    views = positions(8)
    infos = [InformationState(view, OPTIONS) for view in views]
    seeds = np.arange(8, dtype=np.uint64)
    wanted = [info.legal_actions[-1] for info in infos]
    for cls in (Act, Policy, ActBatch, PolicyBatch):
        agent = cls(OPTIONS)
        rng = np.random.default_rng(0)
        assert [agent.act(info, rng) for info in infos] == wanted
        assert [int(agent.policy(info, rng).argmax()) for info in infos] == wanted
        assert agent.act_batch(views, seeds).tolist() == wanted
        assert agent.policy_batch(views, seeds).argmax(axis=1).tolist() == wanted

    class Nothing(Agent):
        pass

    with pytest.raises(InvalidAgent, match="Nothing overrides none of act"):
        Nothing(OPTIONS)


def test_an_agent_that_breaks_the_rules_is_named() -> None:
    class Cheat(Agent):
        def act(self, info: InformationState, rng: np.random.Generator) -> int:
            return 31

    with pytest.raises(IllegalAction, match=r"agent 'Cheat' chose 31; legal actions: \["):
        Cheat(OPTIONS).act_batch(positions(2), np.zeros(2, dtype=np.uint64))


def test_sampling_never_draws_the_impossible() -> None:
    policies = np.array([[0.0, 0.1, 0.0, 0.2, 0.7, 0.0], [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]])
    for u in (0.0, 0.0999, 0.1, 0.3, 0.99, np.nextafter(1.0, 0.0)):
        drawn = sample(policies, np.array([u, u]))
        assert (policies[[0, 1], drawn] > 0).all()
    edges = sample(np.repeat(policies[:1], 4, axis=0), np.array([0.05, 0.15, 0.29, 0.31]))
    assert edges.tolist() == [1, 3, 3, 4]


def test_a_users_own_agent(mine: Path) -> None:
    agent = make_agent(f"{mine}:Lowest:skip=1", GAME, seed=7)
    assert type(agent).__name__ == "Lowest"
    assert agent.seed == 7
    assert agent.name == f"{mine}:Lowest:skip=1"
    assert agent.agent_options.model_dump() == {"skip": 1, "style": "plain", "high": False}
    info = InformationState(positions(1)[0], OPTIONS)
    assert agent.act(info, np.random.default_rng(0)) == info.legal_actions[1]


def test_names_are_canonical(mine: Path) -> None:
    for options, name in [
        ("", ""),
        (":skip=0,style=plain,high=no", ""),
        (":high=true,skip=2", ":skip=2,high=true"),
        (":style=a,b", ":style=a,b"),
    ]:
        agent = make_agent(f"{mine}:Lowest{options}", GAME)
        assert agent.name == f"{mine}:Lowest{name}"
        # The name is itself a spec, for the same agent.
        assert make_agent(agent.name, GAME).agent_options == agent.agent_options


def test_an_edited_file_is_loaded_again(mine: Path) -> None:
    info = InformationState(positions(1)[0], OPTIONS)
    rng = np.random.default_rng(0)
    assert make_agent(f"{mine}:Lowest", GAME).act(info, rng) == info.legal_actions[0]
    mine.write_text(MINE.replace("legal[self.agent_options.skip % len(legal)]", "legal[-1]"))
    assert make_agent(f"{mine}:Lowest", GAME).act(info, rng) == info.legal_actions[-1]


def test_two_files_of_one_name_are_two_agents(tmp_path: Path) -> None:
    for folder, index in (("a", 0), ("b", -1)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "agent.py").write_text(
            "from elfern_rl import Agent\n"
            "class AGENT(Agent):\n"
            f"    def act(self, info, rng): return info.legal_actions[{index}]\n"
        )
    info = InformationState(positions(1)[0], OPTIONS)
    rng = np.random.default_rng(0)
    first = make_agent(f"{tmp_path / 'a' / 'agent.py'}", GAME)
    second = make_agent(f"{tmp_path / 'b' / 'agent.py'}", GAME)
    assert first.act(info, rng) == info.legal_actions[0]
    assert second.act(info, rng) == info.legal_actions[-1]


def test_agents_travel_to_other_processes(mine: Path) -> None:
    for spec in ("random", f"{mine}:Lowest:skip=2"):
        agent = make_agent(spec, GAME, seed=3)
        copy = pickle.loads(pickle.dumps(agent))
        assert (copy.name, copy.seed, copy.options) == (agent.name, 3, OPTIONS)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("randon", "unknown agent 'randon'; did you mean 'random'?"),
        ("zzz", "unknown agent 'zzz'; allowed: "),
        ("../agents", "'../agents' is no agent spec; write name[:key=value,...] or"),
        ("random:x=1", "'random:x=1': unknown option 'x'; it takes none"),
        ("nowhere/at_all.py:Agent", "nowhere/at_all.py: no such file"),
        ("MINE:Lowst", "no class 'Lowst'; did you mean 'Lowest'?"),
        ("MINE:NOT_AN_AGENT", "'NOT_AN_AGENT' is no subclass of elfern_rl.Agent"),
        ("MINE", "no class 'AGENT'; allowed: Lowest, Other"),
        ("MINE:Lowest:skpi=1", "unknown option 'skpi'; did you mean 'skip'?"),
        ("MINE:Lowest:skip=9", "skip=9: input should be less than or equal to 3"),
        ("MINE:Lowest:skip=two", "skip=two: input should be a valid integer"),
        ("MINE:Lowest:high=maybe", "high=maybe: input should be a valid boolean"),
        ("MINE:Lowest:skip=-1,hgh=1", "skip=-1: input should be greater than or equal to 0; "),
    ],
)
def test_bad_specs_get_one_clear_line(spec: str, message: str, mine: Path) -> None:
    spec = spec.replace("MINE", str(mine))
    with pytest.raises(InvalidAgent, match=re.escape(message)) as caught:
        make_agent(spec, GAME)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def broken(:\n", "line 1: SyntaxError: "),
        ("\n\nimport no_such_module_at_all\n", "line 3: ModuleNotFoundError: No module named"),
        ("x = 1\nraise RuntimeError('two\\nlines')\n", "line 2: RuntimeError: two lines"),
        ("", "no class 'AGENT'"),
        ("\x00", "SyntaxError"),
    ],
)
def test_files_that_cannot_be_run(source: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text(source)
    modules = set(sys.modules)
    with pytest.raises(InvalidAgent, match=re.escape(message)) as caught:
        make_agent(str(path), GAME)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not [name for name in set(sys.modules) - modules if name.endswith("_bad")] or not source


def test_the_game_is_checked_too() -> None:
    with pytest.raises(InvalidOption, match="hand_size=20"):
        make_agent("random", "elfern(hand_size=20)")


def test_an_error_of_the_agent_itself_passes_through(tmp_path: Path) -> None:
    path = tmp_path / "picky.py"
    path.write_text(
        textwrap.dedent(
            """
            from elfern_rl.agent import Agent
            from elfern_rl.errors import InvalidCheckpoint
            class AGENT(Agent):
                def __init__(self, options, agent_options, seed=0):
                    raise InvalidCheckpoint("x.safetensors: made for another game")
                def act(self, info, rng): return 0
            """
        )
    )
    with pytest.raises(ElfernError, match="made for another game"):
        make_agent(str(path), GAME)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("class AGENT(Agent):\n    pass\n", "AGENT overrides none of act, policy"),
        (
            "class AGENT(Agent):\n    def __init__(self, *a): raise KeyError('x')\n"
            "    def act(self, info, rng): return 0\n",
            "cannot be made: {path}: line 3: KeyError: 'x'",
        ),
        ("raise SystemExit(7)\n", "{path}: line 2: SystemExit: 7"),
    ],
)
def test_agents_that_cannot_be_made(source: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "faulty.py"
    path.write_text("from elfern_rl.agent import Agent\n" + source)
    with pytest.raises(InvalidAgent) as caught:
        make_agent(str(path), GAME)
    assert message.format(path=path) in str(caught.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, 2], "a policy must be 32 numbers, one an action, not of shape [2]"),
        (0.5, "a policy must be 32 numbers"),
        ("policy", "a policy must be 32 numbers"),
        (None, "a policy must be 32 numbers"),
        (np.zeros(32), "not all zero"),
        (np.full(32, np.nan), "finite"),
        (np.full(32, np.inf), "finite"),
        (np.eye(32)[0] - 0.1, "none of them negative"),
    ],
)
def test_what_is_no_policy_is_refused(given: Any, message: str) -> None:
    class One(Agent):
        def policy(self, info: InformationState, rng: np.random.Generator) -> Any:
            return given

    class Many(Agent):
        def policy_batch(self, views: Any, seeds: Any) -> Any:
            return np.stack([given] * len(views))

    views, seeds = positions(2), np.zeros(2, dtype=np.uint64)
    info = InformationState(views[0], OPTIONS)
    for cls in (One, Many):
        named = f"agent '{cls.__name__}': a policy must be"
        with pytest.raises(IllegalAction, match=named) as one:
            cls(OPTIONS).act_batch(views, seeds)
        assert message in str(one.value)
    with pytest.raises(IllegalAction, match="a policy must be"):
        One(OPTIONS).act(info, np.random.default_rng(0))


def test_options_may_depend_on_the_game(tmp_path: Path) -> None:
    path = tmp_path / "varied.py"
    path.write_text(
        textwrap.dedent(
            """
            from elfern_rl.agent import Agent, AgentOptions
            class Small(AgentOptions):
                depth: int = 1
            class AGENT(Agent):
                @classmethod
                def options_model(cls, options):
                    return Small if options.pack.bit_count() < 20 else AgentOptions
                def act(self, info, rng): return info.legal_actions[0]
            """
        )
    )
    assert make_agent(f"{path}:AGENT:depth=2", GAME).name == f"{path}:AGENT:depth=2"
    assert "depth" in registry.agent_options(str(path), GAME).model_fields
    assert "depth" not in registry.agent_options(str(path)).model_fields
    with pytest.raises(InvalidAgent, match="unknown option 'depth'; it takes none"):
        make_agent(f"{path}:AGENT:depth=2", "elfern")


def test_options_have_limits_and_descriptions(mine: Path) -> None:
    model = registry.agent_options(f"{mine}:Lowest")
    assert issubclass(model, AgentOptions)
    assert model.model_fields["skip"].description == "how many to pass over"

    class Wrong(AgentOptions):
        n: int = Field(0, ge=1)

    with pytest.raises(ValueError, match="greater than or equal to 1"):
        Wrong()


# ---- bots


def test_bots_play_in_openspiel() -> None:
    game = pyspiel.load_game(GAME)
    bots = [make_bot("random", game, player, seed=player) for player in (0, 1)]
    rng = np.random.RandomState(1)
    results = [
        evaluate_bots.evaluate_bots(game.new_initial_state(), bots, rng) for _ in range(30)
    ]
    assert all(sum(result) == 0 for result in results)
    assert len({tuple(result) for result in results}) > 1
    # And from C++, which clones states and calls back into Python.
    assert sum(pyspiel.evaluate_bots(game.new_initial_state(), bots, 5)) == 0


def test_a_bot_is_a_function_of_seed_seat_and_history() -> None:
    game = elfern_rl.load_game(GAME)
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    bot = make_bot("random", game, 0, seed=11)
    policy, action = bot.step_with_policy(state)
    assert bot.provides_policy()
    assert bot.player_id() == 0
    assert [a for a, _ in policy] == state.legal_actions()
    assert sum(p for _, p in policy) == pytest.approx(1)
    assert bot.step(state) == action == make_bot("random", GAME, 0, seed=11).step(state)
    assert {make_bot("random", GAME, 0, seed=s).step(state) for s in range(40)} == set(
        state.legal_actions()
    )
    # Informing and restarting change nothing: the bot has no memory to spoil.
    bot.inform_action(state, 1, 3)
    bot.restart_at(game.new_initial_state())
    bot.restart()
    assert bot.step(state) == action


def test_a_bot_refuses_another_seats_turn() -> None:
    state = elfern_rl.load_game(GAME).new_initial_state()
    bot = make_bot("random", GAME, 0)
    with pytest.raises(ValueError, match="plays seat 0, but -1 is on move"):
        bot.step(state)
    with pytest.raises(InvalidAgent, match="player 2: elfern has the players 0 to 1"):
        make_bot("random", GAME, 2)


def test_a_bot_that_breaks_the_rules_is_named() -> None:
    class Cheat(Agent):
        def act(self, info: InformationState, rng: np.random.Generator) -> int:
            return 31

    state = elfern_rl.load_game(GAME).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    with pytest.raises(IllegalAction, match="agent 'Cheat' chose 31"):
        AgentBot(Cheat(OPTIONS), 0).step(state)


def test_the_readmes_agent_plays(tmp_path: Path) -> None:
    readme = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
    source = readme.partition("# mine.py")[2].partition("```")[0].partition("\n")[2]
    path = tmp_path / "mine.py"
    path.write_text(source, encoding="utf-8")
    view = positions(1)[0]
    lowest = sorted(InformationState(view, OPTIONS).legal_actions, key=lambda card: card % 8)
    for skip in (0, 1):
        agent = make_agent(f"{path}:Lowest:skip={skip}", GAME)
        chosen = agent.act_batch(view[np.newaxis], np.zeros(1, dtype=np.uint64))
        assert chosen.tolist() == [lowest[min(skip, len(lowest) - 1)]]


def test_the_solver_is_there_without_being_imported() -> None:
    code = "import elfern_rl; elfern_rl.solver.endgame"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
