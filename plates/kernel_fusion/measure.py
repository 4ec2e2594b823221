"""The script that times a chain on the reader's own GPU."""

from fractions import Fraction
from math import lcm
from pathlib import Path
from string import Template

from model.chains import CHAINS, Chain

TEMPLATE = Path(__file__).with_name("measure.txt")
NUMBERS = {"groups": "8", "step": "10", "eps": "1e-6", "decay": "0.01"}
"""What a number is by its name; any other is 0.5. Chosen: each is where its chain is finite."""


def script(id: str, chain: Chain, definition: str = "") -> str:
    """Return a Python script that times a chain, unfused, compiled and as a graph, as a CSV.

    The `definition` is that of its function `chain`, if the code of its steps is no body for it.
    """
    sizes = [Fraction(it.split()[1]) for it in chain.arguments.values() if "/" in it]
    heads = lcm(*(it.denominator for it in sizes))
    made = [_made(name, said, chain) for name, said in chain.arguments.items()]
    shapes = " ".join(chain.shapes.values())
    dtypes = ["float32"] if chain.fp32 else ["bfloat16", "float16", "float32"]
    return Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        id=id, name=chain.name, definition=definition or _definition(chain),
        rows=32 if "rows // 32" in shapes else 1, cols=4096 if 4096 % heads == 0 else 128 * heads,
        dtypes=dtypes, dtype=dtypes[0],
        inputs="".join(f"\n        {it}," for it in made) + "\n    ",
        random="dropout" in "".join(it.code for it in chain.steps),
    )  # fmt: skip


def _definition(chain: Chain) -> str:
    lines = "\n".join(f"    {it.code}  # {it.name}" for it in chain.steps)
    return f"def chain({', '.join(chain.arguments)}):\n{lines}\n    return {chain.returns}"


def _made(name: str, said: str, chain: Chain) -> str:
    kind, *told = said.split()
    if kind == "number":
        return NUMBERS.get(name, "0.5")
    form = {"fp32": ", dtype=torch.float32", "complex": ", dtype=torch.complex64"}
    size = next((Fraction(it) for it in told if it not in form), Fraction(1))
    times = f" * {size.numerator}" if size.numerator > 1 else ""
    over = f" // {size.denominator}" if size.denominator > 1 else ""
    plain = "cols" if kind == "row" else f"rows, cols{times}{over}"
    return f"make({chain.shapes.get(name, plain)}{form.get(told[-1], '') if told else ''})"


def measure(chain: str) -> str:
    """Return the script of a chain by its id; ValueError names those that are known."""
    if chain not in CHAINS:
        raise ValueError(f"no chain is called {chain!r}; there is {', '.join(CHAINS)}")
    return script(chain, CHAINS[chain])
