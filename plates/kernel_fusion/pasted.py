"""PyTorch that a reader pasted: as the plate's inputs, and as a table of its kernels."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from model.chains import Chain, own_text
from model.gpus import FORMATS
from model.pasted import Counted, counted
from model.pytorch import BYTES, Kernel
from plates.kernel_fusion.measure import script
from plates.plate import Found

REFUSED_SHOWN = 20


def pasted(content: bytes, name: str, inputs: Mapping[str, Any]) -> Found:
    """Return the chain of PyTorch code in UTF-8, and what each of its kernels moves per value.

    Of several chains, between matrix products, it is the one that moves most.

    Raises
    ------
    ValueError
        Naming each line that is not understood, with the reason.
    """
    import pandas as pd  # type: ignore[import-untyped,unused-ignore]

    try:
        found = counted(content.decode("utf-8-sig"))
    except UnicodeDecodeError as fault:
        raise ValueError(f"{name or 'the code'} is no text in UTF-8: {fault.reason}") from None
    if found.refused:
        lines = [f"Line {it.line}, {it.code}: {it.reason}." for it in found.refused]
        more = [f"{len(lines) - REFUSED_SHOWN} lines more."] if len(lines) > REFUSED_SHOWN else []
        skip = "Mend them, or end a line in # skip, and the rest is priced without it."
        raise ValueError("\n".join([*lines[:REFUSED_SHOWN], *more, skip]))
    value_bytes = {**BYTES, "": int(FORMATS[inputs["dtype"]].bytes)}

    def moved(tensors: Any) -> float:
        return sum(it.values * value_bytes[it.format] for it in tensors)

    def traffic(chain: Chain) -> float:
        return sum(moved((*it.read, *it.written)) for it in chain.steps)

    chain = max(found.chains, key=traffic)
    rows = [
        {
            "line": it.line,
            "kernel": it.name,
            "reads": moved(it.read),
            "writes": moved(it.written),
            "flop": it.flop,
            "note": _note(it, chain),
            "code": it.code,
        }
        for it in found.kernels
    ]
    steps = {"chain": "own", "steps": own_text(chain)}
    formats = dict.fromkeys(("reads", "writes", "flop"), "number")
    table = pd.DataFrame(rows)
    return Found(steps, [*_told(found, chain), *found.notes], table, formats, files=_files(found))


def _files(found: Counted) -> dict[str, str]:
    """Return the script that times the code, if it is one chain of tensors and numbers."""
    if not found.definition or len(found.chains) > 1 or any(it.barrier for it in found.kernels):
        return {}
    chain = replace(
        found.chains[0], name="your chain", arguments=found.takes, shapes=_shapes(found.takes)
    )
    return {"measure.py": script("own", chain, found.definition)}


def _shapes(takes: Mapping[str, str]) -> dict[str, str]:
    """Return shapes for arguments of which one is a table of 1/n: it is repeated over n heads."""
    heads = next((it.partition("/")[2] for it in takes.values() if it.startswith("table 1/")), "")
    if not heads.isdecimal():
        return {}
    kinds = {"tensor": f"rows, {heads}, cols // {heads}", "row": f"cols // {heads}"}
    kinds[f"table 1/{heads}"] = f"rows, 1, cols // {heads}"
    return {name: kinds[said] for name, said in takes.items() if said in kinds}


def _told(found: Counted, chain: Chain) -> list[str]:
    """Return in sentences what was counted."""
    taken = ", ".join(f"{name}: {it}" for name, it in found.arguments.items())
    first, last = min(it.line for it in chain.steps), max(it.line for it in chain.steps)
    where = f"line {first}" if first == last else f"lines {first} to {last}"
    said = [
        f"The kernels of {where} are priced as one chain, {len(chain.steps)} unfused. Bytes and"
        " FLOP are per value of the main tensor.",
        f"Taken as: {taken}. A comment says otherwise, as in # cos: table 1/32, or tensor, row,"
        " number; with fp32 behind it for that format.",
    ]
    if len(found.chains) > 1:
        said.append(
            f"It is the largest of {len(found.chains)} chains between matrix products; paste the"
            " others alone to price them."
        )
    return said


def _note(kernel: Kernel, chain: Chain) -> str:
    """Return what is particular about a kernel."""
    if kernel.barrier:
        return "matrix product, not priced"
    if not any(kernel is it for it in chain.steps):
        return "of another chain"
    return "reduces rows" if kernel.reduces else "slow access" if kernel.indexed else ""
