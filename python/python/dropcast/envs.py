"""The fabric as an environment of Gymnasium, for whoever learns a buffer policy (lab/notes/environment.md).

Needs Gymnasium, the extra ``gym`` of the wheel. ``gymnasium.make("dropcast.envs:dropcast/Buffer-v0")`` makes one by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from dropcast import _dropcast
from dropcast._settings import Path, described, whole
from dropcast.errors import InputError

try:
    import gymnasium
except ImportError as error:
    raise ImportError("dropcast.envs needs Gymnasium; pip install gymnasium") from error

Observation = npt.NDArray[np.float32]
Action = npt.NDArray[np.float32]

#: What is observed of a port at a decision, in this order (NDT, section III).
ATTRIBUTES = ("held", "added", "dropped", "alpha", "elapsed")

# Observations come as multiples of 1/1024, from 0 to 8.
_ONE = 1024
_MOST = 8.0

#: The fields of a flow: times in nanoseconds, and a completion time of 0 for a flow that did not complete.
FLOW = np.dtype(
    [
        ("start_ns", np.uint64),
        ("from_server", np.uint64),
        ("to_server", np.uint64),
        ("size_bytes", np.uint64),
        ("is_single", np.uint64),
        ("fct_ns", np.uint64),
        ("ideal_fct_ns", np.uint64),
    ]
)

#: The fields of a dropped packet: when, for which port, and the bytes in the port's queue without it.
DROP = np.dtype([("time_ns", np.uint64), ("port", np.uint64), ("queue_bytes", np.uint64)])

_COUNTS = ("time_ns", "elapsed_ns", "flow_ns", "started", "completed", "dropped", "dropped_bytes")


def ndt_experiment(duration_ms: float = 500, load: float = 0.5) -> dict[str, Any]:
    """The switch and traffic that NDT trains with (INFOCOM 2022, section VI-A), as an experiment: 16 ports of 1 Gbps,
    1 MB, websearch flows at 50% of the active ports' rate, active ports and the fan-in of each drawn.

    Where the paper is silent: senders are ns-3's NewReno without marking, and an episode has flows for half a second.
    """
    return {
        "policies": ["dt:alpha=1"],
        "fabric": {
            "leaves": 1,
            "spines": 0,
            "servers": 16,
            "server_rate_bps": 1_000_000_000,
            "leaf_buffer_bytes": 1_000_000,
            "aqm": "none",
            "initial_window_segments": 22,
            "recovery": "ns3",
            "min_rto_ns": 10_000_000,
            "timestamp_ns": 1_000_000,
            "jitter_ns": 0,
        },
        "traffic": {
            "duration_ns": round(duration_ms * 1e6),
            "flows": [{"load": load, "pattern": "fan-in", "transport": "new-reno"}],
        },
    }


class BufferEnv(gymnasium.Env[Observation, Action]):
    """A switch whose agent sets the alpha of each port's Dynamic Threshold.

    Each episode is a run of ``experiment``, a file or a dict with its fields (lab/notes/fabric.md); NDT's training unless
    given. ``switch`` is the number of the switch; the others have the experiment's first policy.

    A decision is due at time 0, and then whenever NDT's cumulative events ask for one, or every ``interval_ns``.

    The action is log2(alpha) of each port, within the logarithms of ``alpha``, its least and its largest; numbers
    beyond are clipped. The observation has, for each port, the last ``history`` decisions, latest first, and for each
    of these the numbers of :data:`ATTRIBUTES`. The reward is minus the time that flows were active since the last
    decision, in seconds, added up over flows: NDT's, for a short mean completion time.
    """

    metadata = {"render_modes": []}

    def __init__(
        self,
        experiment: Path | Mapping[str, Any] | None = None,
        *,
        switch: int = 0,
        interval_ns: int | None = None,
        history: int = 8,
        alpha: tuple[float, float] = (0.25, 32.0),
    ) -> None:
        number = whole("switch", switch, least=0)
        if number is None or number > 0xFFFF:
            raise InputError(f"switch: is {switch!r}, expected 0 to 65535")
        rows = whole("history", history)
        if rows is None:
            raise InputError("history: is None, expected a whole number from 1")
        least, largest = (float(bound) for bound in alpha)
        if not 0 < least < largest < float("inf"):
            raise InputError(f"alpha: is {alpha}, expected a positive number and a larger one")
        task = described(ndt_experiment() if experiment is None else experiment)
        every = whole("interval_ns", interval_ns)
        self._environment = _dropcast.Environment(task, number, every, rows)
        ports = self._environment.ports
        self._shape = (ports, rows, len(ATTRIBUTES))
        self.observation_space = gymnasium.spaces.Box(0.0, _MOST, self._shape, np.float32)
        self.action_space = gymnasium.spaces.Box(
            np.float32(np.log2(least)), np.float32(np.log2(largest)), (ports,), np.float32
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begins an episode: with a ``seed`` below 2**32 the experiment's run of that number, else one that is drawn."""
        super().reset(seed=seed)
        run = seed if seed is not None and seed < 2**32 else int(self.np_random.integers(2**32))
        observed = self._environment.reset(run)
        return self._observation(observed), {"run": run}

    def step(self, action: Action) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Sets log2(alpha) of each port, and runs to the next decision.

        ``terminated``: all flows have ended. ``truncated``: the fabric's ``end_ns`` came first.
        """
        bounds = self.action_space
        assert isinstance(bounds, gymnasium.spaces.Box)
        given = np.asarray(action, dtype=np.float64)
        if given.shape != bounds.shape:
            raise InputError(f"action: has shape {given.shape}, expected {bounds.shape}")
        clipped = np.clip(given, bounds.low, bounds.high)
        observed, counts = self._environment.step(np.exp2(clipped).reshape(-1))
        *numbers, is_over, is_cut = counts
        info = dict(zip(_COUNTS, numbers))
        reward = -info["flow_ns"] / 1e9
        return self._observation(observed), reward, bool(is_over), bool(is_cut), info

    def flows(self) -> npt.NDArray[Any]:
        """The flows of this episode that have ended, with the fields of :data:`FLOW`; those that did not complete
        are there once it is over."""
        return _flows(self._environment.flows())

    def drops(self) -> npt.NDArray[Any]:
        """The packets that the switch has dropped in this episode, with the fields of :data:`DROP`."""
        return self._environment.drops().view(DROP)

    def flows_under(self, policy: str, seed: int) -> npt.NDArray[Any]:
        """The flows of the episode with this seed under a policy of every switch, such as ``"dt:alpha=8"``."""
        run = whole("seed", seed, least=0)
        if run is None or run >= 2**32:
            raise InputError(f"seed: is {seed!r}, expected 0 to {2**32 - 1}")
        return _flows(self._environment.run(policy, run))

    def _observation(self, observed: npt.NDArray[np.int32]) -> Observation:
        return (observed / np.float32(_ONE)).astype(np.float32).reshape(self._shape)


def _flows(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[Any]:
    return numbers.view(FLOW)


gymnasium.register("dropcast/Buffer-v0", entry_point="dropcast.envs:BufferEnv")
