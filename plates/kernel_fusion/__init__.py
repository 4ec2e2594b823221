"""Kernel Fusion: volume XVI, plate 2."""

from pathlib import Path

from model.chains import CHAINS
from plates.kernel_fusion.copies import copied
from plates.kernel_fusion.facts import facts
from plates.kernel_fusion.figures import FIGURES, READOUT
from plates.kernel_fusion.inputs import STATES, WORDS, KernelFusion
from plates.kernel_fusion.measure import measure
from plates.kernel_fusion.pasted import pasted
from plates.kernel_fusion.readings import OUTPUTS, readings
from plates.kernel_fusion.timings import measured, taken, validate
from plates.plate import Brought, Plate, Scripts

plate = Plate(
    id="kernel-fusion",
    text=Path(__file__).with_name("plate.md"),
    inputs=KernelFusion,
    readings=readings,
    outputs=OUTPUTS,
    figures=FIGURES,
    readout=READOUT,
    states=STATES,
    facts=facts,
    measured=measured,
    validate=validate,
    brought=(
        Brought("code", read=pasted, **WORDS["brought"]["code"], file=False),
        Brought("copies", read=copied, **WORDS["brought"]["copies"]),
        Brought("timings", read=taken, **WORDS["brought"]["timings"]),
    ),
    measure=Scripts("chain", [*CHAINS], measure),
)

__all__ = ["KernelFusion", "plate"]
