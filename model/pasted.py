"""PyTorch code as people write it, as a chain: a function, a class with a forward, or bare lines.

What its arguments are is told by their annotations, defaults and names, unless a comment says it,
as in `# cos: table 1/40`. A line that ends in `# skip` is left out.
"""

import ast
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NamedTuple

from model.chains import DECLARED, Chain, chain, declared
from model.pytorch import NUMBER, Kernel, Path, Reader, Tensor, TooMuchError, defaults, fused

PARSING = Lock()
CODE_MOST, KERNELS_MOST = 200_000, 99
"""How many characters are read, and how many kernels a chain in the short form may have."""
REGISTERS = 65_536
"""Registers of 4 bytes in one multiprocessor, of every card since 2014.

Source: NVIDIA, CUDA C++ Programming Guide, technical specifications per compute capability.
"""

NUMBERS = re.compile(
    r"(?:\w*_)?(eps|epsilon|alpha|lr|rate|p|prob|momentum|decay|dim|axis|step|steps|temperature|cap"
    r"|softcap|size|limit|min|max|groups|heads|dropout|training|factor|n|scaling|inplace|betas"
    r"|coef|correction\d?|beta\d|negative_slope|threshold)|(num|n|use|is|do)_\w+|lambda_?\w*"
)
ROWS = re.compile(r"(?:\w*_)?(weight|bias|gamma|beta|scale|shift|b|gain|ls)")
TABLES = re.compile(r"(?:\w*_)?(cos|sin|mask|freqs\w*|pos|rotary\w*)")
OBJECTS = ("self", "config", "ctx", "state", "group", "kwargs", "cls")
"""What an argument is called that is no tensor as large as the main one."""


class Refused(NamedTuple):
    """A line that is not understood, by its number from 1, and why."""

    line: int
    code: str
    reason: str


@dataclass(frozen=True)
class Counted:
    """What was counted: a chain for each stretch between matrix products, and `notes` on them.

    `kernels` are all, barriers included; `arguments` say what each was taken to be. If lines were
    `refused` there are no chains. `definition` is that of a function `chain` that does the same, of
    what it `takes`; there is none where more than tensors and numbers is used.
    """

    chains: Sequence[Chain] = ()
    kernels: Sequence[Kernel] = ()
    arguments: Mapping[str, str] = field(default_factory=dict)
    refused: Sequence[Refused] = ()
    notes: Sequence[str] = ()
    definition: str = ""
    takes: Mapping[str, str] = field(default_factory=dict)


def counted(code: str) -> Counted:
    """Return the chains that PyTorch code is; it is parsed and never run.

    Of several functions the last is counted, and of a class its `forward`; what else is pasted may
    be called. Each line that is not understood is refused with the reason.

    Raises
    ------
    ValueError
        If it is too long.
    """
    if len(code) > CODE_MOST:
        raise ValueError(f"the code has {len(code):,} characters; at most {CODE_MOST:,} are read")
    code = textwrap.dedent(code.replace("\r\n", "\n").expandtabs()).strip("\n")
    lines = code.split("\n")
    try:
        # Python 3.11 fails if two threads parse at once.
        with PARSING:
            tree = ast.parse(code)
    except SyntaxError as fault:
        at = min(max(fault.lineno or 1, 1), len(lines))
        return Counted(refused=[Refused(at, _short(lines[at - 1]), f"Python reads: {fault.msg}")])
    except (MemoryError, RecursionError, ValueError):
        return Counted(refused=[Refused(1, _short(lines[0]), "it is nested too deep, or no text")])
    return _Pasted(tree, lines).counted()


class _Pasted:
    """Code that was parsed, and what its arguments are taken to be."""

    def __init__(self, tree: ast.Module, lines: Sequence[str]) -> None:
        self.tree, self.lines = tree, lines
        self.arguments: dict[str, str] = {}
        self.notes: list[str] = []
        self.refused: dict[int, Refused] = {}
        self.body, self.parameters, functions, modules = _parts(tree)
        self.said = {
            name: said.strip()
            for line in lines
            for name, said in re.findall(r"#\s*([\w.'\[\]]+)\s*:\s*([\w /]+)$", line)
            if DECLARED.fullmatch(said.strip())
        }
        self.used, self.told = _uses(tree)
        skipped = (n for n, it in enumerate(lines, 1) if re.search(r"#\s*skip\s*$", it))
        skips = frozenset(skipped)
        self.reader = Reader({}, self.argument, functions, modules, self.refuse, skips)

    def counted(self) -> Counted:
        reader, returned = self.reader, None
        try:
            if self.parameters:
                self.declare(self.parameters)
            returned = reader.run(self.body)
        except TooMuchError:
            self.refused[reader.line] = Refused(
                reader.line, self.code(reader.line), "the code takes too many steps to count"
            )
        refused = [*self.refused.values()]
        kernels = [it._replace(code=self.code(it.line)) for it in reader.kernels]
        read = {it.memory for kernel in kernels for it in kernel.read}
        told = {name: it for name, it in self.arguments.items() if name in read}
        if not kernels and not refused:
            refused = [Refused(1, self.code(1), "there is no operation on a tensor in it")]
        if refused:
            return Counted((), kernels, told, refused)
        results = _results(kernels, returned.value if returned else None, reader.mutated)
        chains, notes = [], self.notes
        for n, stretch in _stretches(kernels):
            if len(stretch) > KERNELS_MOST:
                at = stretch[KERNELS_MOST].line
                why = f"there are {len(stretch)} kernels; at most {KERNELS_MOST} are counted"
                return Counted((), kernels, told, [Refused(at, self.code(at), why)])
            later = {it.memory for kernel in kernels[n + len(stretch) :] for it in kernel.read}
            one = fused(stretch, [*results, *sorted(later)])
            if one.read:
                chains.append(
                    chain(
                        stretch, one, name="own", source="the reader's", arguments=told,
                        returns="", group="",
                    )
                )  # fmt: skip
                notes += _held(stretch)
        notes += [
            f"Line {it.line} is a matrix product ({it.name}): nothing is fused across it, and it is"
            " not priced."
            for it in kernels
            if it.barrier
        ]
        if not chains:
            refused = [Refused(1, self.code(1), "no kernel in it reads a tensor to be fused")]
        takes = self.takes()
        definition = self.definition(takes, results) if takes else ""
        return Counted(chains, kernels, told, refused, notes, definition, takes)

    def takes(self) -> dict[str, str]:
        """Return what running it takes; nothing if that is more than tensors and numbers."""
        names, known = [*self.arguments], dict(self.arguments)
        if self.parameters:
            of = self.parameters.args
            names = [it.arg for it in (*of.posonlyargs, *of.args)]
            known |= {it: "number" for it in names if self.reader.known.get(it) is NUMBER}
            if known.keys() - names or None in of.kw_defaults:
                return {}
            # What has a default is given only before what has none, or where a comment says it.
            needed = names[: len(names) - len(of.defaults)]
            last = max([len(needed), *(names.index(it) + 1 for it in self.arguments)])
            names = names[:last]
        if not all(it.isidentifier() and it in known for it in names):
            return {}
        return {it: known[it] for it in names}

    def definition(self, takes: Mapping[str, str], results: Sequence[str]) -> str:
        """Return the code of a function `chain` that does what was counted, or "" if none does.

        What is pasted stands inside a function, so that its names are no others'. There is none
        where nothing is returned, or where not all names can stand there.
        """
        if any(it.name == "*" for it in ast.walk(self.tree) if isinstance(it, ast.alias)):
            return ""
        body = [it for it in self.tree.body if not _is_future(it)]
        if self.parameters:
            for it in ast.walk(self.tree):
                if isinstance(it, ast.FunctionDef):
                    it.decorator_list = []
            head, name = "def pasted():", self.parameters.name
            tail = f"    return {name}\n\n\nchain = pasted()"
        else:
            made = self.reader.known.items()
            names = [it for it, of in made if isinstance(of, Tensor) and of.memory in results]
            if isinstance(body[-1], ast.Expr):
                body[-1] = ast.Return(body[-1].value)
            elif not names:
                return ""
            head, tail = f"def chain({', '.join(takes)}):", f"    return {', '.join(names)}"
        lines = textwrap.indent(ast.unparse(ast.Module(body, [])), "    ")
        return f"{head}\n{lines}\n{tail}"

    def code(self, line: int) -> str:
        return _short(self.lines[line - 1]) if 0 < line <= len(self.lines) else ""

    def refuse(self, statement: ast.stmt, reason: str) -> None:
        line = statement.lineno
        self.refused.setdefault(line, Refused(line, self.code(line), reason))

    def declare(self, function: ast.FunctionDef) -> None:
        """Take the arguments of a function for what they say they are."""
        of, known = function.args, self.reader.known
        given = defaults(function, self.reader.value)
        for it in (*of.posonlyargs, *of.args, *of.kwonlyargs):
            name, kind = it.arg, ast.unparse(it.annotation) if it.annotation else ""
            if name in self.said:
                known[name] = self.argument(name)
            elif kind in ("float", "int", "bool", "str") or name in given:
                known[name] = given.get(name, NUMBER)
                if known[name] is None:
                    self.notes.append(
                        f"{name} is taken to be None, its default, unless a comment says"
                        f" # {name}: tensor."
                    )
            else:
                known[name] = self.argument(name)
        for it in filter(None, (of.vararg, of.kwarg)):
            known[it.arg] = Path(it.arg)

    def argument(self, name: str) -> Any:
        """Return what a name is that nothing in the code assigns."""
        last = re.findall(r"\w+", name)[-1]
        said = self.said.get(name)
        if said is None and (last in OBJECTS or last.endswith(("dtype", "device"))):
            return Path(name)
        said = said or self.told.get(name)
        if said is None:
            kinds = {"number": NUMBERS, "row": ROWS, "table 1/32": TABLES}
            found = (it for it, names in kinds.items() if names.fullmatch(last))
            said = next((it for it in found if it != "number" or name not in self.used), "tensor")
        self.arguments[name] = said
        return declared(name, said)


def _parts(tree: ast.Module) -> tuple[list[ast.stmt], ast.FunctionDef | None, dict, dict]:
    """Return the statements to count, the function they are of, if any, and what they may call."""
    functions: dict[str, ast.FunctionDef] = {}
    modules: dict[str, ast.Call] = {}
    main = None
    for it in tree.body:
        if isinstance(it, ast.FunctionDef):
            main = functions[it.name] = it
        elif isinstance(it, ast.ClassDef):
            own = {of.name: of for of in it.body if isinstance(of, ast.FunctionDef)}
            functions |= {f"self.{name}": of for name, of in own.items()}
            main = own.get("forward") or own.get("step") or own.get("__call__") or main
            if "__init__" in own:
                modules |= _modules(own["__init__"])
    bare = [it for it in tree.body if not isinstance(it, ast.FunctionDef | ast.ClassDef)]
    simple = [it for it in bare if not isinstance(it, ast.Import | ast.ImportFrom)]
    if main and not any(isinstance(it, ast.Expr | ast.Return) for it in simple):
        return main.body, main, functions, modules
    return bare, None, functions, modules


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _uses(tree: ast.Module) -> tuple[set[str], dict[str, str]]:
    """Return the names that are used as tensors, and what is told of some by how they are used."""
    used, told = set(), {}
    for it in ast.walk(tree):
        match it:
            case ast.Attribute(value=ast.Name() | ast.Attribute() as of, attr=attr):
                used.add(name := ast.unparse(of))
                if attr.endswith("_") and not attr.endswith("__"):
                    told[name] = "tensor"
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                if not isinstance(index, ast.Constant):
                    used.add(name)
            case ast.Assign(targets=[ast.Attribute() as to], value=ast.Call(func=function)):
                if ast.unparse(function) in ("nn.Parameter", "torch.nn.Parameter"):
                    told[ast.unparse(to)] = "row"
    return used, told


def _modules(init: ast.FunctionDef) -> dict[str, ast.Call]:
    """Return the modules that an __init__ assigns to attributes of self, each by its attribute."""
    found = {}
    for it in ast.walk(init):
        match it:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=attr)],
                value=ast.Call(func=ast.Attribute(value=of, attr=name)) as call,
            ) if ast.unparse(of) in ("nn", "torch.nn") and name not in ("Parameter", "Buffer"):
                found[f"self.{attr}"] = call
    return found


def _results(kernels: Sequence[Kernel], returned: Any, mutated: set[str]) -> list[str]:
    """Return the memories that somebody needs afterwards."""
    values = returned if isinstance(returned, list) else [returned]
    found = [it.memory for it in values if isinstance(it, Tensor)]
    wrote = {it.memory: n for n, kernel in enumerate(kernels) for it in kernel.written[:1]}
    if not found:
        read = {it.memory: n for n, kernel in enumerate(kernels) for it in kernel.read}
        found = [it for it, n in wrote.items() if n >= read.get(it, n)]
    made = {it.memory for kernel in kernels for it in kernel.written if it.memory[0] == "#"}
    return [*dict.fromkeys([*found, *(it for it in wrote if it in mutated - made)])]


def _stretches(kernels: Sequence[Kernel]) -> list[tuple[int, list[Kernel]]]:
    """Return the kernels between barriers, each stretch with the number of its first."""
    found: list[tuple[int, list[Kernel]]] = []
    begun = False
    for n, it in enumerate(kernels):
        if it.barrier:
            begun = False
        elif begun:
            found[-1][1].append(it)
        else:
            found.append((n, [it]))
            begun = True
    return found


def _held(kernels: Sequence[Kernel]) -> list[str]:
    """Say where rows are reduced and needed again, and how long they may be to be read once."""
    found = []
    for n, it in enumerate(kernels):
        if it.reduces:
            there = {of.memory for k in kernels[: n + 1] for of in k.read if of.values}
            there |= {of.memory for k in kernels[:n] for of in k.written if of.values}
            later = {of.memory for k in kernels[n + 1 :] for of in k.read if of.values}
            row = it.read if it.written[0].values else ()
            found.append((len((there & later) | {of.memory for of in row if of.values}), it.line))
    most, line = max(found, default=(0, 0))
    if not most:
        return []
    return [
        f"Line {line} reduces rows whose values are needed again: one kernel reads them only once"
        f" if a row fits on chip, up to about {REGISTERS // most:,} values in FP32 in the registers"
        " of one multiprocessor."
    ]


def _short(line: str) -> str:
    line = line.strip()
    return line if len(line) <= 100 else f"{line[:99]}…"
