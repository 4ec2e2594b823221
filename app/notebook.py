"""A plate's workshop in a notebook, in step with its inputs in the kernel."""

import gzip
from base64 import b64encode

import panel as pn
import param

from app.page import STATIC, page
from app.text import front_matter
from plates.plate import plate_of, update, values


class Workshop(pn.custom.JSComponent):
    """The page in a frame."""

    title = param.String(doc="What the frame is called.")
    page = param.String(doc="The page in one file, zipped and in base64.")
    inputs = param.Dict({}, doc="The inputs, as in the address.")

    _esm = STATIC / "notebook.mjs"


def show(inputs: param.Parameterized) -> Workshop:
    """Return the workshop of the plate that the inputs belong to, to be the value of a cell.

    Setting an input moves it, and its sliders set the inputs once they rest.

    Raises
    ------
    LookupError
        If no plate has inputs of that class.
    """
    pn.extension(inline=True)
    plate = plate_of(inputs)
    html = page(plate, None, view="workshop")
    workshop = Workshop(
        title=front_matter(plate)[0]["title"],
        page=b64encode(gzip.compress(html.encode(), mtime=0)).decode(),
        inputs=values(inputs),
        sizing_mode="stretch_width",
    )
    workshop.param.watch(lambda moved: update(inputs, moved.new), "inputs")
    inputs.param.watch(lambda *_: workshop.param.update(inputs=values(inputs)), [*values(inputs)])
    return workshop
