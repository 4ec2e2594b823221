"""A second plate, from a teacher who knows nothing of `app`: one folder, and that is all."""

from pathlib import Path

import numpy as np
import param

from plates.figure import Axis, Bars, Curves, Series
from plates.inputs import Quantity
from plates.plate import Fact, Plate, Reading, State

GRAVITY = 9.81
HIGHEST_M = 1024


def fall_time_s(height_m, start_m_per_s):
    """Return the time of a fall in seconds, thrown down at a speed; the root of a quadratic."""
    return (np.sqrt(start_m_per_s**2 + 2 * GRAVITY * height_m) - start_m_per_s) / GRAVITY


class FallingStone(param.Parameterized):
    height = Quantity(
        10,
        bounds=(1, HIGHEST_M),
        stops_per_octave=2,
        label="Height",
        whole=True,
        unit=("metre", "metres"),
        doc="From where it falls.",
    )
    start = Quantity(
        0.5,
        bounds=(0.5, 9.5),
        step=0.5,
        label="Start",
        unit=("m/s", "m/s"),
        doc="How fast it is thrown.",
    )


def readings(height, start):
    dropped, thrown = fall_time_s(height, 0), fall_time_s(height, start)
    longest = fall_time_s(HIGHEST_M, 0)
    return {"dropped": dropped, "thrown": thrown, "ratio": dropped / thrown, "longest": longest}


plate = Plate(
    id="falling-stone",
    text=Path(__file__).with_name("plate.md"),
    inputs=FallingStone,
    readings=readings,
    outputs={
        "dropped": Reading("Time when dropped", "time"),
        "thrown": Reading("Time when thrown", "time"),
        "ratio": Reading("Ratio", "ratio"),
    },
    figures=(
        Curves(
            id="time-vs-height",
            title="Time against height",
            text="From {height}: {dropped} dropped, {thrown} thrown.",
            input="height",
            along=tuple(FallingStone.param["height"].stops),
            x=Axis("height in metres", "plain", 1, 1024, (1, 10, 100, 1000)),
            y=Axis("time", "time", 0.05, 20, (0.1, 1, 10)),
            series=(Series("dropped", "dropped", "before"), Series("thrown", "thrown", "after")),
            marked=("dropped", "thrown"),
        ),
        Bars(
            id="times",
            title="The two times",
            text="{dropped} against {thrown}.",
            axis_label="time",
            format="time",
            end="longest",
            series=(Series("dropped", "dropped", "before"), Series("thrown", "thrown", "after")),
        ),
    ),
    readout="From {height} it falls {dropped}, or {thrown} when thrown.",
    states={"tower": State({"height": 64}, label="a tower")},
    facts=lambda: {"gravity": Fact(GRAVITY, "number", "the standard acceleration")},
)
