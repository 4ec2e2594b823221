"""Write `dispatched.toml`: the kernels that PyTorch dispatches for the code in `pasted.toml`.

Run from anywhere by a Python that has PyTorch (any build; no GPU is needed)::

    python tests/model/record_dispatch.py

The code runs without gradients on tensors that have a shape, a format, strides and the device
"cuda", but no values (PyTorch's fake tensors), so composite operations are taken apart as they are
on a GPU. Each operation that reaches the device is one kernel: those whose results only view an
input, and those that only reserve memory, are left out. An operation that PyTorch takes apart after
its dispatcher is one kernel here: a `masked_fill`, which copies and then fills, and a `logsumexp`,
which runs nine.

An input counts with the memory it reaches: once if it is given twice, and an expanded one with the
values it holds. Numbers, and tensors without dimensions on the CPU, count as nothing. What an
operation alters in place is read and written, or only written where its values are not needed.
"""

import ast
import inspect
import math
import tomllib
from pathlib import Path
from types import SimpleNamespace

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

HERE = Path(__file__).parent
HEADING = """\
# What PyTorch dispatches for the code in pasted.toml, written by record_dispatch.py, which says how
# it counts. A kernel: its operation, then all it reads, then all it writes, each of these as
# [values, bytes of one].

"""
FORMATS = {
    "bf16": torch.bfloat16,
    "fp32": torch.float32,
    "int64": torch.int64,
    "bool": torch.bool,
    "complex64": torch.complex64,
}
ONLY_RESERVE = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided"}
# Of these the first argument gives a place or a shape, and its values are not read.
ONLY_WRITE = {"copy_", "fill_", "zero_", "bernoulli_", "normal_", "uniform_"}
ONLY_WRITE |= {"zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "new_zeros"}


def tensors(tree):
    return [it for it in tree_leaves(tree) if isinstance(it, torch.Tensor)]


def storage(tensor):
    return tensor.untyped_storage()._cdata


def reached(tensor):
    """Where the memory of a tensor lies, and its size: (values, bytes of each)."""
    held = [(size, step) for size, step in zip(tensor.shape, tensor.stride(), strict=True) if step]
    place = (storage(tensor), tensor.storage_offset(), *sorted(it for it in held if it[0] > 1))
    return place, [math.prod(size for size, _ in held), tensor.element_size()]


def sizes(several):
    on_device = [it for it in several if it.numel() and (it.dim() or it.device.type != "cpu")]
    return list(dict(reached(it) for it in on_device).values())


class Recorded(TorchDispatchMode):
    """The kernels dispatched while it is entered: operation, what it reads, what it writes."""

    def __init__(self):
        super().__init__()
        self.kernels = []

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        results = operation(*args, **kwargs)
        name = operation._schema.name.removeprefix("aten::")
        declared = operation._schema.arguments
        given = dict(zip((it.name for it in declared), args, strict=False)) | kwargs
        altered = [it for it in declared if it.alias_info and it.alias_info.is_write]
        unread = {it.name for it in altered if it.is_out}
        if name in ONLY_WRITE:
            unread.add(declared[0].name)
        changed = tensors([given.get(it.name) for it in altered])
        known = {storage(it) for it in tensors(given)}
        written = sizes(changed + [it for it in tensors(results) if storage(it) not in known])
        if written and name not in ONLY_RESERVE:
            read = sizes(tensors([it for key, it in given.items() if key not in unread]))
            self.kernels.append([f"aten.{name}", read, written])
        return results


def run(code, inputs):
    """Run pasted code: its last function or class if it ends in one, else its lines."""
    own = {key.removeprefix("self."): it for key, it in inputs.items() if key.startswith("self.")}
    arguments = {key: it for key, it in inputs.items() if not key.startswith("self.")}
    scope = {"torch": torch, "nn": nn, "F": nn.functional, "math": math}
    last = ast.parse(code).body[-1]
    if not isinstance(last, ast.FunctionDef | ast.ClassDef):
        exec(code, scope | arguments)
        return
    exec(code, scope)
    entry = scope[last.name]
    function = entry.forward if isinstance(entry, type) else entry
    if "self" in inspect.signature(function).parameters:
        arguments["self"] = SimpleNamespace(**own)
    function(**arguments)


def dispatched(paste):
    """Return the kernels of one entry of `pasted.toml`."""
    formats = paste.get("formats", {})
    with FakeTensorMode(), torch.no_grad():
        inputs = {
            key: torch.empty(shape, dtype=FORMATS[formats.get(key, "bf16")], device="cuda")
            for key, shape in paste["shapes"].items()
        }
        with Recorded() as record:
            run(paste["code"], inputs | paste.get("numbers", {}))
    return record.kernels


def text_of(kernels):
    """Return the kernels as an array of TOML, one a line."""
    quoted = (str(it).replace("'", '"') for it in kernels)
    return "kernels = [\n" + "".join(f"    {it},\n" for it in quoted) + "]\n"


def main():
    pasted = tomllib.loads((HERE / "pasted.toml").read_text("utf-8"))
    text = f'{HEADING}pytorch = "{torch.__version__.partition("+")[0]}"\n'
    for name, paste in pasted.items():
        text += f"\n[{name}]\n{text_of(dispatched(paste))}"
    (HERE / "dispatched.toml").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
