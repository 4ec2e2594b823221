"""What the reader may set, and the named states of it."""

import param

from plates.plate import State
from plates.quantity import Quantity

TOKENS = 8192
WIDTH = 4096
"""Tokens of the example, chosen, and values of a token, as in Llama 3 8B (its hidden size)."""


class KernelFusion(param.Parameterized):
    """The state of the plate: the chain, the tensor, the cost of a launch."""

    k = Quantity(
        5,
        bounds=(1, 16),
        step=1,
        whole=True,
        label="Chain length k",
        unit=("kernel", "kernels"),
        doc="How many element-wise operations follow each other, each its own kernel unfused.",
    )
    S = Quantity(
        TOKENS * WIDTH,
        bounds=(2**8, 2**30),
        stops_per_octave=4,
        whole=True,
        label="Tensor size S",
        unit=("value", "values"),
        doc="How many BF16 values the tensor holds. Also as a product, 8192x4096, or as 32Mi.",
    )
    overhead = Quantity(
        4.0,
        bounds=(0, 20),
        step=0.1,
        label="Launch overhead",
        unit=("µs per kernel", "µs per kernel"),
        # About what one operation of eager PyTorch costs the host; source: a user's measurement
        # on an A100, pytorch/pytorch issue 82793.
        doc="What each launch adds to the time of the chain: the host's cost of starting a kernel.",
    )


STATES = {
    "prefill": State({"S": TOKENS * WIDTH}, label=f"{TOKENS}-token sequence"),
    "decode": State({"S": WIDTH}, label="one decoded token"),
    "single": State({"k": 1}),
    "pair": State({"k": 2}),
}
