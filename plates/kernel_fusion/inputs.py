"""What the reader may set, and the named states of it."""

import param

from plates.plate import State
from plates.quantity import Quantity


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
        8192 * 4096,
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
        doc="What each launch adds to the time of the chain.",
    )


STATES = {
    "prefill": State({"S": 8192 * 4096}, label="8192-token sequence"),
    "decode": State({"S": 4096}, label="one decoded token"),
    "single": State({"k": 1}),
    "no_overhead": State({"overhead": 0}),
}
