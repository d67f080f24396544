"""NDT by its own method (Wang et al., INFOCOM 2022): a permutation-equivariant network of 47,650 parameters, trained with
soft actor-critic in dropcast's environment, and compared with constant alphas on traces that training did not see.

    pip install 'skrl[jax]==2.1.1' and dropcast's wheel with its extra gym (lab/notes/environment.md)
    python ndt_sac.py train --minutes 15 --output ndt-sac.msgpack
    python ndt_sac.py compare ndt-sac.msgpack --traces 105
    python ndt_sac.py look ndt-sac.msgpack --traces 60

The learner is skrl's SAC in JAX, which installs without CUDA. lab/notes/environment.md describes both.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import flax.linen as nn
import flax.serialization
import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from skrl import config
from skrl.agents.jax.sac import SAC
from skrl.envs.wrappers.jax import wrap_env
from skrl.memories.jax import RandomMemory
from skrl.models.jax import DeterministicMixin, Model

from dropcast.envs import ATTRIBUTES, BufferEnv, ndt_experiment

HISTORY = 8
PARAMETERS = 47_650
# Seeds of the traces that networks are compared on, and of those that choose one.
UNSEEN, VALIDATION = 1_000_000, 500_000
CONSTANTS = ("0.5", "1", "2", "8", "16", "32")


class PowersOfTwo(gymnasium.ActionWrapper):
    """An action from -1 to 1 for each port becomes an alpha of 2^-2, 2^-1 to 2^5 (section V-A)."""

    def __init__(self, env):
        super().__init__(env)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, env.action_space.shape, np.float32)

    def action(self, action):
        return quantized(action)


def quantized(action):
    """log2(alpha) of actions from -1 to 1."""
    return np.minimum(np.floor((np.asarray(action) + 1) * 4), 7) - 2


def embedding(observations, ports):
    """phi: a convolution of 16 filters of size 3 over the decisions of each attribute, then 64 units (section V-A).

    Called in a compact module. The padding that keeps 8 decisions is what gives the paper's number of parameters.
    """
    series = observations.reshape(-1, ports, HISTORY, len(ATTRIBUTES))
    filters = 16 * len(ATTRIBUTES)
    convolved = nn.Conv(filters, (3,), padding="SAME", feature_group_count=len(ATTRIBUTES))(series)
    return nn.relu(nn.Dense(64)(nn.relu(convolved).reshape(*convolved.shape[:2], -1)))


def beside_the_mean(embeddings):
    """[e_i, mean of all e] (equation 4)."""
    mean = embeddings.mean(axis=1, keepdims=True)
    return jnp.concatenate([embeddings, jnp.broadcast_to(mean, embeddings.shape)], axis=-1)


@jax.jit
def squashed(mean, log_std, seen, key):
    """Draws tanh of a normal distribution, with the log of its density (Haarnoja et al., 2018, appendix C)."""
    seen = jax.lax.bitcast_convert_type(jnp.sum(seen).astype(jnp.float32), jnp.uint32)
    noise = jax.random.normal(jax.random.fold_in(key, seen), mean.shape)
    raw = mean + jnp.exp(log_std) * noise
    log_prob = -0.5 * noise**2 - log_std - 0.5 * np.log(2 * np.pi)
    log_prob -= 2 * (np.log(2) - raw - jax.nn.softplus(-2 * raw))
    return jnp.tanh(raw), log_prob.sum(axis=-1, keepdims=True)


class Actor(Model):
    """NDT's policy: an action for each port, tanh of a normal distribution.

    f has 32 units. The text gives g and w one output unit; 47,650 parameters are left if each has 32 units before it.
    """

    def __init__(self, observation_space, action_space, device=None, **kwargs):
        Model.__init__(
            self, observation_space=observation_space, action_space=action_space, device=device, **kwargs
        )
        self._key, self._calls = jax.random.PRNGKey(0), 0
        nn.Module.__post_init__(self)

    @nn.compact
    def __call__(self, inputs, role):
        embeddings = embedding(inputs["observations"], self.num_actions)
        summary = nn.relu(nn.Dense(32)(beside_the_mean(embeddings)))
        mean = nn.Dense(1)(nn.relu(nn.Dense(32)(summary)))
        log_std = nn.Dense(1)(nn.relu(nn.Dense(32)(summary)))
        return mean[..., 0], {"log_std": jnp.clip(log_std[..., 0], -5, 1)}

    def act(self, inputs, *, role="", params=None):
        self._calls += 1
        mean, outputs = self.apply(self.state_dict.params if params is None else params, inputs, role)
        # Compiled functions keep the number of calls: what is observed makes their noise differ.
        key = jax.random.fold_in(self._key, self._calls)
        actions, outputs["log_prob"] = squashed(mean, outputs["log_std"], inputs["observations"], key)
        outputs["mean_actions"] = jnp.tanh(mean)
        return actions, outputs


class Critic(DeterministicMixin, Model):
    """Values of an action for each port; the same for any order of ports. The paper does not describe its critics."""

    def __init__(self, observation_space, action_space, device=None, **kwargs):
        Model.__init__(
            self, observation_space=observation_space, action_space=action_space, device=device, **kwargs
        )
        DeterministicMixin.__init__(self)

    @nn.compact
    def __call__(self, inputs, role):
        embeddings = embedding(inputs["observations"], self.num_actions)
        both = jnp.concatenate([embeddings, inputs["taken_actions"][..., None]], axis=-1)
        ports = nn.relu(nn.Dense(64)(beside_the_mean(nn.relu(nn.Dense(64)(both)))))
        return nn.Dense(1)(nn.relu(nn.Dense(64)(ports.mean(axis=1)))), {}


class HostMemory(RandomMemory):
    """Transitions in NumPy's arrays: JAX copies a whole array to change a row of it."""

    def create_tensor(self, name, *, size, dtype=None, keep_dimensions=False):
        made = super().create_tensor(name, size=size, dtype=dtype, keep_dimensions=keep_dimensions)
        if made:
            self.tensors[name] = np.zeros(self.tensors[name].shape, self.tensors[name].dtype)
        return made

    def add_samples(self, **tensors):
        for name in self.tensors:
            self.tensors[name][self.memory_index] = np.asarray(tensors[name])
        self.memory_index += 1
        self.filled |= self.memory_index == self.memory_size
        self.memory_index %= self.memory_size


def count(params):
    return sum(leaf.size for leaf in jax.tree_util.tree_leaves(params))


def learner(env, seed, arguments):
    """skrl's SAC, with our networks."""
    config.jax.key = jax.random.PRNGKey(seed)
    np.random.seed(seed)
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space}
    models = {"policy": Actor(**spaces)}
    for name in ("critic_1", "critic_2", "target_critic_1", "target_critic_2"):
        models[name] = Critic(**spaces)
    for nth, (name, model) in enumerate(models.items()):
        model.init_state_dict(role=name, key=jax.random.PRNGKey(seed * 10 + nth))
    settings = {
        "batch_size": arguments.batch,
        "discount_factor": arguments.discount,
        "learning_rate": 3e-4,
        "learning_starts": max(arguments.warm_up, arguments.batch),
        "random_timesteps": arguments.warm_up,
        # Flow-seconds of an interval are small; SAC's entropy is counted in nats.
        "rewards_shaper": lambda rewards, *_: rewards * arguments.reward_scale,
        "experiment": {"write_interval": 0, "checkpoint_interval": 0, "directory": "/tmp/ndt-sac"},
    }
    memory = HostMemory(memory_size=50_000, num_envs=1)
    return SAC(models=models, memory=memory, cfg=settings, **spaces)


def alphas(params, apply, observation):
    """log2(alpha) of each port, without noise."""
    inputs = {"observations": observation.reshape(1, -1)}
    mean, _ = apply(params, inputs, "policy")
    return quantized(np.tanh(np.asarray(mean[0])))


def played(env, params, apply, seed):
    """Flows of an episode under a network, and its decisions: time since the last one, and actions."""
    observation, _ = env.reset(seed=seed)
    decisions = []
    is_over = False
    while not is_over:
        action = alphas(params, apply, observation)
        observation, _, terminated, truncated, info = env.step(action)
        decisions.append((info["elapsed_ns"], action))
        is_over = terminated or truncated
    return env.flows(), decisions


def drawn(env, draw, seed):
    """Flows of an episode in which each decision is drawn."""
    env.reset(seed=seed)
    is_over = False
    while not is_over:
        action = quantized(draw.uniform(-1, 1, env.action_space.shape))
        _, _, terminated, truncated, _ = env.step(action)
        is_over = terminated or truncated
    return env.flows()


def mean_and_p99(flows):
    fct_ns = np.sort(flows["fct_ns"][flows["fct_ns"] > 0])
    if not len(fct_ns):
        return np.nan, np.nan
    return fct_ns.mean(), fct_ns[(len(fct_ns) - 1) * 99 // 100]


def train(arguments):
    experiment = TRAFFIC[arguments.traffic](arguments.duration_ms)
    raw = BufferEnv(experiment, history=HISTORY)
    env = wrap_env(PowersOfTwo(raw), wrapper="gymnasium", verbose=False)
    agent = learner(env, arguments.seed, arguments)
    parameters = count(agent.policy.state_dict.params)
    print(f"policy: {parameters} parameters; the paper's has {PARAMETERS}", flush=True)
    agent.init(trainer_cfg=None)
    agent.enable_training_mode(True)
    apply = jax.jit(agent.policy.apply, static_argnums=2)
    judge = BufferEnv(experiment, history=HISTORY)
    seeds = [VALIDATION + nth for nth in range(arguments.validation)]
    base = {seed: mean_and_p99(judge.flows_under("dt:alpha=1", seed))[0] for seed in seeds}

    def loss():
        means = [mean_and_p99(played(judge, agent.policy.state_dict.params, apply, at)[0])[0] for at in seeds]
        return float(np.nanmean([np.log(mean / base[at]) for mean, at in zip(means, seeds, strict=True)]))

    for alpha in CONSTANTS:
        means = [mean_and_p99(judge.flows_under(f"dt:alpha={alpha}", at))[0] for at in seeds]
        value = np.nanmean([np.log(mean / base[at]) for mean, at in zip(means, seeds, strict=True)])
        print(f"constant {alpha}: ln(mean FCT / DT's) {value:+.4f}", flush=True)
    best, started, step, chosen = None, time.process_time(), 0, np.inf
    observations, _ = env.reset()
    next_check = arguments.minutes * 60 / 10
    print("| CPU s | steps | validation | entropy weight | actions, mean and deviation |\n|---|---|---|---|---|")
    while (spent := time.process_time() - started) < arguments.minutes * 60:
        observations = one_step(agent, env, observations, step)
        step += 1
        if spent >= next_check:
            value = loss()
            recent = np.asarray(agent.memory.tensors["actions"])[max(0, step - 500) : step]
            weight = float(np.asarray(agent._entropy_coefficient).reshape(-1)[0])
            print(
                f"| {spent:.0f} | {step} | {value:+.4f} | {weight:.4f} | {recent.mean():+.2f}, {recent.std():.2f} |",
                flush=True,
            )
            if value < chosen:
                chosen, best = value, flax.serialization.to_bytes(agent.policy.state_dict.params)
            next_check += arguments.minutes * 60 / 10
    if best is None:
        best = flax.serialization.to_bytes(agent.policy.state_dict.params)
    Path(arguments.output).write_bytes(best)
    print(f"{arguments.output}: ln(mean FCT / DT's) {chosen:+.4f} where it was chosen")


def one_step(agent, env, observations, step):
    """What skrl's trainer does in a step; it has no end by time."""
    agent.pre_interaction(timestep=step, timesteps=1 << 30)
    actions, _ = agent.act(observations, None, timestep=step, timesteps=1 << 30)
    following, rewards, terminated, truncated, infos = env.step(actions)
    agent.record_transition(
        observations=observations,
        states=None,
        actions=actions,
        rewards=rewards,
        next_observations=following,
        next_states=None,
        terminated=terminated,
        truncated=truncated,
        infos=infos,
        timestep=step,
        timesteps=1 << 30,
    )
    agent.post_interaction(timestep=step, timesteps=1 << 30)
    if terminated.any() or truncated.any():
        following, _ = env.reset()
    return following


def switch(ports, gbps, buffer_bytes, duration_ms, **traffic):
    fabric = {
        "leaves": 1,
        "spines": 0,
        "servers": ports,
        "server_rate_bps": round(gbps * 1e9),
        "leaf_buffer_bytes": buffer_bytes,
        "aqm": "none",
    }
    traffic = {"duration_ns": round(duration_ms * 1e6), **traffic}
    return {"policies": ["dt:alpha=1"], "fabric": fabric, "traffic": traffic}


def flows(load, **more):
    return {"load": load, "pattern": "random", "transport": "new-reno", **more}


def incasts(burst, fan_in, per_server_hz):
    more = {"pattern": "random", "transport": "new-reno"}
    return {"burst": burst, "fan_in": fan_in, "per_server_hz": per_server_hz, **more}


TRAFFIC = {
    # The paper's training (section VI-A).
    "fan-in": ndt_experiment,
    # Its larger switch: 95-to-1 incasts beside websearch flows, 96 ports of 10 Gbps, 6 MB (figure 8d).
    "large": lambda ms: switch(96, 10, 6_000_000, ms, flows=[flows(0.3)], incasts=[incasts(1.0, 95, 2.0)]),
    # Its testbed's switch with the other workload: 4 ports, 256 KB (figure 9b).
    "datamining": lambda ms: switch(
        4, 1, 256_000, ms, flows=[flows(0.5, pattern="fan-in", sizes="datamining")]
    ),
    # Long flows that hold their queues beside short bursts: a large alpha lets them starve the bursts, a small one
    # cuts the bursts. Which is better depends on what is there.
    "mixed": lambda ms: switch(
        16,
        1,
        1_000_000,
        ms,
        flows=[flows(0.6, pattern="fan-in")],
        incasts=[incasts(0.5, 15, 4.0), incasts(0.1, 8, 20.0)],
    ),
}


def interval(values, seed=1):
    """A mean with its 95% bootstrap interval over traces."""
    values = np.asarray([value for value in values if np.isfinite(value)])
    draws = np.random.default_rng(seed).choice(values, (2_000, len(values))).mean(axis=1)
    return values.mean(), *np.quantile(draws, [0.025, 0.975])


def trained(env, network):
    """The weights of a file that train wrote, and the function that applies them."""
    actor = Actor(env.observation_space, env.action_space)
    actor.init_state_dict(role="policy", key=jax.random.PRNGKey(0))
    params = flax.serialization.from_bytes(actor.state_dict.params, Path(network).read_bytes())
    return params, jax.jit(actor.apply, static_argnums=2)


def compare(arguments):
    env = BufferEnv(TRAFFIC[arguments.traffic](arguments.duration_ms), history=HISTORY)
    policies = [f"dt:alpha={alpha}" for alpha in CONSTANTS]
    policies += ["complete-sharing", "complete-partitioning", "lqd"]
    if arguments.cma:
        policies.append(f"ndt:model={arguments.cma}")
    seeds = range(UNSEEN, UNSEEN + arguments.traces)
    found = {name: [mean_and_p99(env.flows_under(name, seed)) for seed in seeds] for name in policies}
    # Alphas that are drawn anew at each decision: what deciding often is worth without looking.
    draw = np.random.default_rng(1)
    found["drawn alphas"] = [mean_and_p99(drawn(env, draw, seed)) for seed in seeds]
    if arguments.network:
        params, apply = trained(env, arguments.network)
        played(env, params, apply, UNSEEN)
        found["ndt, soft actor-critic"], every, spent = [], [], time.process_time()
        for seed in seeds:
            ended, decisions = played(env, params, apply, seed)
            found["ndt, soft actor-critic"].append(mean_and_p99(ended))
            every += decisions
        spent = (time.process_time() - spent) / max(1, len(every))
        about_decisions(every, spent)
    base = np.asarray(found["dt:alpha=1"])
    print("| policy | mean FCT beyond DT | p99 beyond DT | traces better than DT |\n|---|---|---|---|")
    for name, values in found.items():
        ratios = np.asarray(values) / base - 1
        mean, p99 = ("{:+.1%} ({:+.1%} to {:+.1%})".format(*interval(ratios[:, at])) for at in (0, 1))
        print(f"| {name} | {mean} | {p99} | {np.mean(ratios[:, 0] < 0):.0%} |", flush=True)
    means = np.asarray([[mean for mean, _ in found[f"dt:alpha={alpha}"]] for alpha in CONSTANTS])
    best = (means.min(axis=0) / means[CONSTANTS.index("1")] - 1).tolist()
    print("the best constant of each trace: {:+.1%} ({:+.1%} to {:+.1%})".format(*interval(best)))
    which = dict(zip(CONSTANTS, np.bincount(means.argmin(axis=0), minlength=len(CONSTANTS)).tolist(), strict=True))
    print(f"traces on which each is best: {json.dumps(which)}")
    if arguments.cma is None and arguments.network is None:
        return
    for name in [name for name in found if name.startswith("ndt")] + ["drawn alphas"]:
        own = np.asarray([mean for mean, _ in found[name]])
        for alpha, constant in zip(CONSTANTS, means, strict=True):
            words = "{} beyond alpha {}: {:+.2%} ({:+.2%} to {:+.2%})"
            print(words.format(name, alpha, *interval(own / constant - 1)))


def about_decisions(decisions, spent):
    """Figures 12(b) and the alphas that were chosen."""
    elapsed_us = np.asarray([elapsed for elapsed, _ in decisions[1:]]) / 1e3
    quantiles = np.quantile(elapsed_us, [0.05, 0.5, 0.95]).round().tolist()
    print(f"{len(decisions)} decisions, {spent * 1e3:.2f} ms of CPU each with the simulation between them")
    print(f"time between decisions, us: 5% {quantiles[0]}, half {quantiles[1]}, 95% {quantiles[2]}")
    chosen = np.concatenate([actions for _, actions in decisions]).astype(int) + 2
    shares = np.bincount(chosen, minlength=8) / len(chosen)
    print("alphas chosen: " + ", ".join(f"{2.0 ** (at - 2):g} {share:.1%}" for at, share in enumerate(shares)))


# Complete Sharing as an alpha: any free byte is a threshold of the whole buffer.
SHARED = 2.0**20


def watched(env, decide, seed):
    """An episode under what decide says. Its decisions: when, the share of the buffer that each port held, log2(alpha)."""
    observation, _ = env.reset(seed=seed)
    decisions = []
    is_over = False
    while not is_over:
        action = decide(observation)
        held = observation[:, 0, ATTRIBUTES.index("held")]
        observation, _, terminated, truncated, info = env.step(action)
        decisions.append((info["time_ns"] - info["elapsed_ns"], held, action))
        is_over = terminated or truncated
    return decisions


def fct_of_ports(flows):
    """The mean completion time of the flows to each port."""
    return {port: flows["fct_ns"][flows["to_server"] == port].mean() for port in np.unique(flows["to_server"]).tolist()}


def alone(experiment, flows, port, folder):
    """The switch with the flows to one port, and no others."""
    own = flows[flows["to_server"] == port]
    own = np.sort(own[["start_ns", "from_server", "to_server", "size_bytes"]])
    path = Path(folder, f"{port}.csv")
    np.savetxt(path, own, fmt="%d", delimiter=",", header="start_ns,src_host,dst_host,size_bytes", comments="")
    described = {"policies": experiment["policies"], "fabric": experiment["fabric"]}
    described |= {"flow_list": str(path), "flow_list_transport": "new-reno"}
    return BufferEnv(described, history=HISTORY, alpha=(0.25, SHARED))


def look(arguments):
    """Figures 10, 11 and 12(a)."""
    experiment = TRAFFIC["fan-in"](arguments.duration_ms)
    env = BufferEnv(experiment, history=HISTORY, alpha=(0.25, SHARED))
    params, apply = trained(env, arguments.network)
    draw = np.random.default_rng(1)
    deciders = {"complete-sharing": lambda _: np.full(env.action_space.shape, np.log2(SHARED))}
    for alpha in ("0.5", "1", "32"):
        deciders[f"dt:alpha={alpha}"] = lambda _, alpha=alpha: np.full(env.action_space.shape, np.log2(float(alpha)))
    deciders["drawn alphas"] = lambda _: quantized(draw.uniform(-1, 1, env.action_space.shape))
    deciders["ndt, soft actor-critic"] = lambda observation: alphas(params, apply, observation)
    seeds = range(UNSEEN, UNSEEN + arguments.traces)
    drops = {name: [] for name in deciders}
    # Of each trace and policy the mean completion times of ports: all together, and each port alone in the switch.
    together, by_itself = {name: [] for name in deciders}, {name: [] for name in deciders}
    every = []
    for seed in seeds:
        for name, decide in deciders.items():
            decisions = watched(env, decide, seed)
            flows = env.flows()
            assert (flows["fct_ns"] > 0).all(), f"{name}, trace {seed}: a flow did not complete"
            drops[name].append(env.drops()["queue_bytes"] / experiment["fabric"]["leaf_buffer_bytes"])
            together[name].append(fct_of_ports(flows))
            if name.startswith("ndt"):
                every.append(decisions)
            with tempfile.TemporaryDirectory() as folder:
                ports = {}
                for port in together[name][-1]:
                    single = alone(experiment, flows, port, folder)
                    watched(single, decide, 0)
                    ports |= fct_of_ports(single.flows())
                by_itself[name].append(ports)
    about_fairness(together, by_itself)
    about_drops(drops)
    about_heavy_queues(every)
    about_thresholds(env, deciders)


def about_fairness(together, by_itself):
    """Figure 12(a): the variance over ports of their slowdowns, completion time over that alone in the switch."""
    several = [nth for nth, ports in enumerate(together["dt:alpha=1"]) if len(ports) > 1]
    print(f"fairness, {len(several)} traces with several receivers; variance of the ports' slowdowns, lower is fairer")
    found = {}
    for name, traces in together.items():
        for reading, base in (("own", by_itself[name]), ("shared", by_itself["complete-sharing"])):
            slowdowns = [[traces[at][port] / base[at][port] for port in traces[at]] for at in several]
            found[name, reading] = np.asarray([np.var(ports) for ports in slowdowns])
    print("| policy | alone under the policy | less fair than DT | alone under Complete Sharing | less fair than DT |")
    print("|---|---|---|---|---|")
    for name in together:
        cells = []
        for reading in ("own", "shared"):
            values = found[name, reading]
            cells.append("{:.3f} ({:.3f} to {:.3f})".format(*interval(values)))
            cells.append(f"{np.mean(values > found['dt:alpha=1', reading]):.0%}")
        print(f"| {name} | " + " | ".join(cells) + " |")


def about_drops(drops):
    """Figure 11: the share of the buffer that a port holds when it drops a packet."""
    print("| policy | drops | 5% | 25% | half | 75% | 95% | with more than 60% of the buffer | a trace's median |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, traces in drops.items():
        shares = np.concatenate(traces)
        if not len(shares):
            print(f"| {name} | 0 | none | none | none | none | none | none | none |")
            continue
        quantiles = " | ".join(f"{share:.1%}" for share in np.quantile(shares, [0.05, 0.25, 0.5, 0.75, 0.95]))
        median = "{:.1%} ({:.1%} to {:.1%})".format(*interval([np.median(trace) for trace in traces if len(trace)]))
        print(f"| {name} | {len(shares)} | {quantiles} | {np.mean(shares > 0.6):.1%} | {median} |")


def about_heavy_queues(every):
    """Whether NDT gives a heavy queue a small alpha (section VI-D)."""
    held = np.concatenate([held for trace in every for _, held, _ in trace])
    chosen = np.concatenate([action for trace in every for _, _, action in trace])
    print("| a port holds | decisions | mean log2(alpha) | alpha up to 1 | alpha 32 |\n|---|---|---|---|---|")
    for least, most in ((0, 0), (0, 0.05), (0.05, 0.2), (0.2, 0.6), (0.6, 1)):
        is_in = held == 0 if most == 0 else (held > least) & (held <= most)
        mine = chosen[is_in]
        numbers = "none | none | none"
        if len(mine):
            numbers = f"{mine.mean():+.2f} | {np.mean(mine <= 0):.1%} | {np.mean(mine == 5):.1%}"
        print(f"| {least:.0%} to {most:.0%} of the buffer | {len(mine)} | {numbers} |")
    beyond = []
    for trace in every:
        heavy = [(held.argmax(), action) for _, held, action in trace if held.max() > 0.2]
        if heavy:
            beyond.append(np.mean([action[longest] - np.delete(action, longest).mean() for longest, action in heavy]))
    if beyond:
        words = "log2(alpha) of a longest queue above 20% of the buffer, less that of others: {:+.2f} ({:+.2f} to {:+.2f})"
        print(words.format(*interval(beyond)) + f", {len(beyond)} traces")


def about_thresholds(env, deciders, rows=10):
    """Figure 10: queues and thresholds of two receivers over time, of the first trace that has two."""
    seed = UNSEEN
    while len(np.unique(env.flows_under("dt:alpha=1", seed)["to_server"])) != 2:
        seed += 1
    ports = np.unique(env.flows_under("dt:alpha=1", seed)["to_server"]).astype(int)
    names = ["complete-sharing", "dt:alpha=1", "ndt, soft actor-critic"]
    traces = [watched(env, deciders[name], seed) for name in names]
    end_ns = max(trace[-1][0] for trace in traces) + 1
    print(f"trace {seed}: largest queue / least threshold of two ports at decisions, % of the buffer")
    print("| ms | " + " | ".join(f"{name}, port {port}" for name in names for port in ports) + " |")
    print("|---" * (1 + 2 * len(names)) + "|")
    for nth in range(rows):
        cells = []
        for trace in traces:
            rows_in = [row for row in trace if nth == row[0] * rows // end_ns]
            for port in ports:
                if not rows_in:
                    cells.append("none")
                    continue
                queue = max(held[port] for _, held, _ in rows_in)
                least = min(min(1, 2.0 ** action[port] * max(0, 1 - held.sum())) for _, held, action in rows_in)
                cells.append(f"{queue * 100:.0f} / {least * 100:.0f}")
        bounds = (end_ns * at / rows / 1e6 for at in (nth, nth + 1))
        print("| {:.0f} to {:.0f} | ".format(*bounds) + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("train", "compare", "look"):
        command = commands.add_parser(name)
        if name != "look":
            command.add_argument("--traffic", choices=sorted(TRAFFIC), default="fan-in")
        command.add_argument("--duration-ms", type=float, default=500, help="time in which flows start")
        if name == "train":
            command.add_argument("--minutes", type=float, default=15, help="of processor time")
            command.add_argument("--output", default="ndt-sac.msgpack")
            command.add_argument("--seed", type=int, default=1)
            command.add_argument("--batch", type=int, default=64)
            command.add_argument("--discount", type=float, default=0.99)
            command.add_argument("--reward-scale", type=float, default=20)
            command.add_argument("--warm-up", type=int, default=500, help="random decisions before it learns")
            command.add_argument("--validation", type=int, default=16, help="traces that choose the network")
        elif name == "look":
            command.add_argument("network", help="what train wrote")
            command.add_argument("--traces", type=int, default=60)
        else:
            command.add_argument("network", nargs="?", help="what train wrote")
            command.add_argument("--cma", help="a network of dropcast-ndt")
            command.add_argument("--traces", type=int, default=105)
    arguments = parser.parse_args()
    {"train": train, "compare": compare, "look": look}[arguments.command](arguments)


if __name__ == "__main__":
    sys.exit(main())
