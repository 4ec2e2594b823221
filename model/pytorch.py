"""The kernels that PyTorch runs for a piece of code, op by op; the code is parsed and never run.

Each operation that PyTorch dispatches is one kernel; views are free, and so is arithmetic on plain
numbers. A matrix product is a kernel that is no part of a chain: a barrier.
"""

import ast
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from typing import Any, NamedTuple

from model.gpus import FORMATS

BYTES = {
    "bool": 1, "int64": 8, "": 0, "fp32": FORMATS["fp32"].bytes, "fp64": 8,
    "complex": FORMATS["fp32"].bytes,
}  # fmt: skip
"""Bytes of a value in a format that is not the chain's; a complex number is two values.

Where two formats meet, the result is in the later one. Source: the formats, and type promotion.
"""

DTYPES = {
    **dict.fromkeys(("float32", "float"), "fp32"), **dict.fromkeys(("float64", "double"), "fp64"),
    **dict.fromkeys(("float16", "half", "bfloat16"), ""), "bool": "bool",
    **dict.fromkeys(("int64", "long"), "int64"),
}  # fmt: skip
"""Formats by what PyTorch calls them; those of two bytes are the chain's own."""

OPERATORS: dict[Any, str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow",
    ast.Mod: "remainder", ast.FloorDiv: "floor_divide", ast.MatMult: "matmul",
    ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or", ast.BitXor: "bitwise_xor",
    ast.USub: "neg", ast.Invert: "bitwise_not",
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
TRUTHS = (
    "lt", "le", "gt", "ge", "eq", "ne", "isnan", "isinf", "isfinite",
    "logical_not", "logical_and", "logical_or", "logical_xor",
)  # fmt: skip
FLOP_REDUCED = dict.fromkeys(("mean", "sum", "max", "min", "amax", "amin", "prod"), 1) | {
    "all": 1, "any": 1, "argmax": 1, "argmin": 1, "norm": 2, "vector_norm": 2, "var": 4, "std": 4,
}  # fmt: skip
FLOP_ROWS = {"softmax": 5, "log_softmax": 5, "rms_norm": 4, "layer_norm": 8, "group_norm": 8}
FLOP_MADE = dict.fromkeys(("zeros_like", "ones_like", "full_like", "rand_like", "randn_like"), 0)
FLOP = FLOP_REDUCED | FLOP_ROWS | FLOP_MADE | dict.fromkeys(TRUTHS, 1) | dict.fromkeys((
    "add", "sub", "rsub", "mul", "div", "pow", "remainder", "floor_divide", "bitwise_and",
    "bitwise_or", "bitwise_xor", "bitwise_not", "square", "sqrt", "rsqrt", "reciprocal", "exp",
    "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tanh", "erf", "sigmoid", "abs",
    "sign", "floor", "ceil", "round", "trunc", "relu", "maximum", "minimum", "clamp_min",
    "clamp_max", "where", "masked_fill", "cumsum", "atan2", "tan",
), 1) | {
    "neg": 0, "cat": 0, "stack": 0, "clone": 0, "copy": 0, "roll": 0, "flip": 0, "repeat": 0,
    "tril": 0, "triu": 0, "zero": 0, "fill": 0, "dropout": 2, "xlogy": 2, "clamp": 2, "hardtanh": 2,
    "relu6": 2, "leaky_relu": 2, "lerp": 3, "addcmul": 3, "addcdiv": 3, "softplus": 3, "elu": 3,
    "selu": 3, "logsigmoid": 3, "hardswish": 4, "hardsigmoid": 3, "silu": 5, "glu": 5, "mish": 6,
    "gelu": 9, "complex mul": 3,
}  # fmt: skip
"""Operations that are a kernel, and what they compute for a value.

Source: their formulas, a function such as exp counted as one.
"""
ALIASES = {
    "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div", "negative": "neg",
    "absolute": "abs", "less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge",
    "not_equal": "ne", "clip": "clamp", "concat": "cat", "concatenate": "cat", "expit": "sigmoid",
    "swish": "silu", "log_sigmoid": "logsigmoid", "alpha_dropout": "dropout",
}  # fmt: skip
COMPOSED = {
    name: ast.parse(code, mode="eval").body
    for name, code in {
        "normalize": "x / x.norm(2, -1, keepdim=True).clamp_min(0)",
        "softsign": "x / (x.abs() + 1)",
        "tanhshrink": "x - x.tanh()",
        "type_as": "x.to(y.dtype)",
    }.items()
}
"""Functions that PyTorch runs as several operations on x and y."""

VIEWS = (
    "view", "unsqueeze", "squeeze", "unflatten", "expand", "expand_as", "broadcast_to", "view_as",
    "detach", "requires_grad_", "contiguous", "reshape", "flatten", "reshape_as", "cuda",
    "view_as_complex", "view_as_real", "identity",
)  # fmt: skip
VIEWED_AS = {"view_as_complex": "complex", "view_as_real": "fp32"}
COPIES = ("contiguous", "reshape", "flatten", "reshape_as")
"""Views that are a copy where the tensor is transposed, and the first also where it is sliced."""
TURNS = ("transpose", "permute", "t", "swapaxes", "swapdims", "movedim", "adjoint")
EXPANDS = ("expand", "expand_as", "broadcast_to")
PARTS = ("chunk", "tensor_split", "split", "split_with_sizes")
CREATED = (
    "zeros", "ones", "full", "empty", "rand", "randn", "arange", "linspace", "eye", "new_zeros",
    "new_ones", "new_full", "new_empty", "one_hot",
)  # fmt: skip
BARRIERS = (
    "matmul", "mm", "bmm", "addmm", "baddbmm", "linear", "bilinear", "einsum", "conv1d", "conv2d",
    "scaled_dot_product_attention", "embedding", "dot", "mv", "outer",
)  # fmt: skip
MODULES = (
    "torch", "F", "nn", "torch.nn", "nn.functional", "torch.nn.functional", "torch.special",
    "torch.linalg", "torch.Tensor", "math", "np",
)  # fmt: skip

STEPS_MOST, DEPTH_MOST = 20_000, 30
"""How many expressions are looked at, and how deep calls may nest, so that time is bounded."""
NUMBER_MOST, PARTS_MOST, EDGE_MOST, TEXT_MOST = 2**53, 64, 4, 60
"""Above which number, and how many parts, nothing is reckoned; a slice may leave so many values at
an end and still be the whole; so long is code in a message."""


@dataclass(frozen=True)
class Tensor:
    """A tensor: how many values per value of the main tensor, in which format and layout.

    `layout` is "dense", "transposed" or "sliced". `origin` names the argument whose memory it is,
    if that is as large as the main tensor, and `cast` says that it was converted from that. It is
    the `part` of a `memory`; the whole has no name.
    """

    values: float
    format: str = ""
    layout: str = "dense"
    origin: str = ""
    cast: bool = False
    memory: str = ""
    part: str = ""


class Kernel(NamedTuple):
    """A kernel: which tensors it reads and writes, what else `Steps` says of it, its name and code.

    The first tensor that it writes is its result. It `reduces` where that is a value or a row for
    many; a `barrier` is not priced.
    """

    read: Sequence[Tensor]
    written: Sequence[Tensor]
    flop: float = 0
    indexed: bool = False
    cast: bool = False
    repeated: bool = False
    name: str = ""
    code: str = ""
    line: int = 0
    reduces: bool = False
    barrier: bool = False


class Number:
    """A number, text or truth that is not known."""


class Path(str):
    """A name with dots of what is no tensor, such as self."""


class Share(NamedTuple):
    """An extent as a share of that of an axis."""

    of: Fraction


class Form(str):
    """A format, as a value of the code."""


class Extents:
    """The shape of a tensor."""


class Returned(NamedTuple):
    """What a function returned."""

    value: Any


FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
NUMBER, EXTENTS = Number(), Extents()


class TooMuchError(Exception):
    """The code takes too long to count."""


def _not_known(name: str) -> Any:
    raise ValueError(f"{name} is not known")


@dataclass
class Reader:
    """Code that is read, statement by statement: what is `known` by name, and the `kernels` it ran.

    `argument` returns what a name is that nothing has assigned, `functions` are those that may be
    called, and `modules` the functions that attributes of self stand for. `refuse` is told of a
    statement that is not understood and why; without one that is an error. Lines `skipped` are
    taken to make tensors as large as the main tensor. `mutated` are memories of arguments that were
    written in place.
    """

    known: dict[str, Any]
    argument: Callable[[str], Any] = _not_known
    functions: Mapping[str, ast.FunctionDef] = field(default_factory=dict)
    modules: Mapping[str, ast.Call] = field(default_factory=dict)
    refuse: Callable[[ast.stmt, str], None] | None = None
    skipped: frozenset[int] = frozenset()
    kernels: list[Kernel] = field(default_factory=list)
    mutated: set[str] = field(default_factory=set)
    steps: int = 0
    depth: int = 0
    line: int = 0

    def run(self, statements: Sequence[ast.stmt]) -> Returned | None:
        """Run the statements up to a return."""
        for it in statements:
            self.line = it.lineno
            simple = not hasattr(it, "body")
            last = (it.end_lineno or it.lineno) if simple else it.lineno
            if not self.skipped.isdisjoint(range(it.lineno, last + 1)):
                self._lost(it)
                continue
            try:
                returned = self._statement(it)
            except FAULTS as fault:
                if self.refuse is None:
                    raise
                nested = isinstance(fault, RecursionError)
                self.refuse(it, "it is nested too deep" if nested else str(fault))
                self._lost(it)
                continue
            if returned:
                return returned
        return None

    def _lost(self, statement: ast.stmt) -> None:
        """Take what a statement assigns to be tensors that were not there before."""
        for target in getattr(statement, "targets", [getattr(statement, "target", None)]):
            for it in getattr(target, "elts", [target]):
                if name := _path(it):
                    memory = f"line {statement.lineno} {name}"
                    self.known[name] = Tensor(1.0, origin=memory, memory=memory)

    def _statement(self, statement: ast.stmt) -> Returned | None:
        match statement:
            case ast.Return(value=value):
                return Returned(None if value is None else self.value(value))
            case ast.Assign(targets=targets, value=value):
                found = self.value(value)
                for it in targets:
                    self._assign(it, found)
            case ast.AnnAssign(target=target, value=value) if value:
                self._assign(target, self.value(value))
            case ast.AugAssign(target=target, op=op, value=value):
                before, by = self.value(target), self.value(value)
                if isinstance(before, Tensor):
                    self._apply(f"{OPERATORS[type(op)]}_", [before, by], {})
                else:
                    self._assign(target, self._binary(op, before, by))
            case ast.Expr(value=value):
                if not isinstance(value, ast.Constant):
                    self.value(value)
            case ast.If(test=test, body=body, orelse=orelse):
                return self.run(body if self._truth(test) else orelse)
            case ast.With(body=body):
                return self.run(body)
            case ast.For() | ast.While():
                raise ValueError("it is a loop: paste what it repeats, once")
            case ast.FunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom() | ast.Pass():
                pass
            case ast.Assert() | ast.Delete() | ast.Global() | ast.AnnAssign():
                pass
            case _:
                raise ValueError(f"{_text(statement)} is no statement that is understood")
        return None

    def _truth(self, test: ast.expr) -> bool:
        """Return which way a branch goes."""
        found = self.value(test)
        if isinstance(found, Number | Path | Tensor | Share):
            raise ValueError(
                f"which way the branch on {_text(test)} goes is not known: keep the one that runs"
            )
        return bool(found)

    def _assign(self, target: ast.expr, value: Any) -> None:
        match target:
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                if value is EXTENTS:
                    value = [Share(Fraction(1))] * len(elts)
                elif isinstance(value, Number | Path):
                    value = [NUMBER] * len(elts)
                if not isinstance(value, list) or len(value) != len(elts):
                    raise ValueError(f"what each of {_text(target)} is, is not known")
                for it, one in zip(elts, value, strict=True):
                    self._assign(it, one)
            case ast.Subscript(value=of) if isinstance(whole := self.value(of), Tensor):
                part = self._indexed(whole, target.slice)
                self._apply("copy_", [part, value], {})
            case _ if name := _path(target):
                self.known[name] = value
            case _:
                raise ValueError(f"{_text(target)} is nothing to assign to")

    def value(self, node: ast.expr) -> Any:
        """Return what an expression is: a tensor, a number, a tuple; add the kernels it takes."""
        self.steps += 1
        if self.steps > STEPS_MOST:
            raise TooMuchError
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._named(name)
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                return [self.value(it) for it in elts if not isinstance(it, ast.Starred)]
            case ast.Attribute(value=of, attr=attr):
                return self._attribute(node, of, attr)
            case ast.Subscript(value=of, slice=index):
                return self._subscript(node, of, index)
            case ast.UnaryOp(op=ast.Not(), operand=of):
                found = self.value(of)
                return NUMBER if isinstance(found, Number | Path | Tensor) else not found
            case ast.UnaryOp(op=ast.UAdd(), operand=of):
                return self.value(of)
            case ast.UnaryOp(op=op, operand=of):
                found = self.value(of)
                if isinstance(found, Tensor):
                    return self._apply(OPERATORS[type(op)], [found], {})
                known = isinstance(found, int | float) and isinstance(op, ast.USub)
                return -found if known else NUMBER
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(op, self.value(left), self.value(right))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compared(op, self.value(left), self.value(right))
            case ast.BoolOp(op=op, values=values):
                found = [self.value(it) for it in values]
                if any(isinstance(it, Number | Path | Tensor) for it in found):
                    return NUMBER
                return all(found) if isinstance(op, ast.And) else any(found)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.value(body if self._truth(test) else orelse)
            case ast.NamedExpr(target=target, value=value):
                found = self.value(value)
                self._assign(target, found)
                return found
            case ast.Call():
                return self._call(node)
            case ast.JoinedStr() | ast.Dict():
                return NUMBER
        raise ValueError(f"{_text(node)} is not known")

    def _named(self, name: str) -> Any:
        if name not in self.known:
            self.known[name] = self.argument(name)
        return self.known[name]

    def _attribute(self, node: ast.expr, of: ast.expr, attr: str) -> Any:
        if (path := _path(node)) in self.known:
            return self.known[path]
        if (module := _path(of)) in MODULES and module not in self.known:
            return Form(DTYPES[attr]) if attr in DTYPES else NUMBER
        found = self.value(of)
        if isinstance(found, list) and attr in ("values", "indices"):
            return found[attr == "indices"]
        if isinstance(found, Path):
            return self._named(f"{found}.{attr}")
        if isinstance(found, Tensor):
            match attr:
                case "shape":
                    return EXTENTS
                case "dtype":
                    return Form(found.format)
                case "data":
                    return found
                case "T" | "mT" | "H" | "mH":
                    return self._apply("transpose", [found], {})
                case "grad":
                    return self._named(path)
        return NUMBER

    def _subscript(self, node: ast.expr, of: ast.expr, index: ast.expr) -> Any:
        match index:
            case ast.Constant(value=str()) if path := _path(node):
                return self._named(path)
        found = self.value(of)
        if found is EXTENTS:
            return EXTENTS if isinstance(index, ast.Slice) else Share(Fraction(1))
        if isinstance(found, list):
            at = self.value(index)
            if not isinstance(at, int):
                raise ValueError(f"which of them {_text(node)} is, is not known")
            return found[at]
        return self._indexed(found, index) if isinstance(found, Tensor) else NUMBER

    def _indexed(self, whole: Tensor, index: ast.expr) -> Tensor:
        """Return the part of a tensor that an index takes."""
        found = whole
        for n, it in enumerate(index.elts if isinstance(index, ast.Tuple) else [index]):
            match it:
                case ast.Slice(lower=lower, upper=upper, step=step):
                    begin, end = self._edge(lower, Fraction(0)), self._edge(upper, Fraction(1))
                    every = 1 if step is None else self.value(step)
                    if not isinstance(every, int) or begin is None or end is None or end < begin:
                        raise ValueError(
                            f"how large a part [{_text(index)}] is, is not known: a bound such as"
                            " x.shape[-1] // 2 says it"
                        )
                    share = (end - begin) / abs(every)
                    if share < 1:
                        found = _part(found, share, _text(index), sliced=n > 0)
                case ast.Constant(value=None) | ast.Constant(value=types.EllipsisType()):
                    pass
                case _ if isinstance(at := self.value(it), Tensor):
                    raise ValueError(f"how much [{_text(index)}] takes is known only when it runs")
                case _ if isinstance(at, int | Number | Share):
                    found = replace(found, values=0.0, part=f"{found.part}[{_text(index)}]")
                case _ if at is not None and at is not ...:
                    raise ValueError(f"[{_text(index)}] is no index that is understood")
        return found

    def _edge(self, node: ast.expr | None, default: Fraction) -> Fraction | None:
        """Return a bound of a slice as a share of the axis; a few values at an end are none."""
        if node is None:
            return default
        at = self.value(node)
        if isinstance(at, Share):
            return at.of if at.of >= 0 else 1 + at.of
        if isinstance(at, int) and -EDGE_MOST <= at <= 0:
            return Fraction(1) if at < 0 else Fraction(0)
        return Fraction(0) if isinstance(at, int) and 0 < at <= EDGE_MOST else None

    def _binary(self, op: ast.operator, left: Any, right: Any) -> Any:
        if isinstance(left, Tensor):
            return self._apply(OPERATORS[type(op)], [left, right], {})
        if isinstance(right, Tensor):
            match op:
                case ast.Sub():
                    return self._apply("rsub", [right, left], {})
                case ast.Div():
                    inverse = self._apply("reciprocal", [right], {})
                    return self._apply("mul", [inverse, left], {})
            return self._apply(OPERATORS[type(op)], [left, right], {})
        return _arithmetic(op, left, right)

    def _compared(self, op: ast.cmpop, left: Any, right: Any) -> Any:
        if isinstance(op, ast.Is | ast.IsNot):
            if right is not None or isinstance(left, Number | Path):
                return NUMBER
            return (left is None) == isinstance(op, ast.Is)
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            return self._apply(OPERATORS[type(op)], [left, right], {})
        if all(isinstance(it, int | float | str) for it in (left, right)):
            match op:
                case ast.Eq():
                    return left == right
                case ast.NotEq():
                    return left != right
                case ast.Gt() if not isinstance(left, str) and not isinstance(right, str):
                    return left > right
        return NUMBER

    def _call(self, node: ast.Call) -> Any:
        path = _path(node.func)
        function = self.functions.get(path)
        module = self.modules.get(path)
        if isinstance(node.func, ast.Call) and _path(node.func.func).startswith(
            ("nn.", "torch.nn.")
        ):
            module = node.func
        arguments = [self.value(it) for it in node.args if not isinstance(it, ast.Starred)]
        keywords = {it.arg: self.value(it.value) for it in node.keywords if it.arg}
        if function:
            return self._called(function, arguments, keywords)
        if module:
            kind = _path(module.func).rpartition(".")[2].replace("_", "").lower()
            name = {it.replace("_", ""): it for it in (*FLOP, *BARRIERS, *COMPOSED)}.get(kind, kind)
            given = {it.arg: self.value(it.value) for it in module.keywords if it.arg}
            return self._apply(name, [*arguments, *map(self.value, module.args)], given | keywords)
        match node.func:
            case ast.Name(id=name) if name not in self.known and (name in FLOP or name in COMPOSED):
                return self._apply(name, arguments, keywords)
            case ast.Name(
                id="float"
                | "int"
                | "len"
                | "min"
                | "max"
                | "slice"
                | "range"
                | "bool"
                | "isinstance"
                | "hasattr"
                | "getattr"
                | "str"
                | "abs"
                | "round"
            ):
                if any(isinstance(it, Tensor) for it in arguments) and path in ("float", "int"):
                    raise ValueError(f"{_text(node)} waits for the GPU, and is no kernel")
                return NUMBER
            case ast.Attribute(value=of, attr=name):
                if _path(of) in MODULES and _path(of) not in self.known:
                    return self._apply(name, arguments, keywords)
                found = self.value(of)
                if isinstance(found, Tensor):
                    return self._apply(name, [found, *arguments], keywords)
                if isinstance(found, Number | Extents | list | int | float | Share):
                    return NUMBER
        raise ValueError(
            f"{path or _text(node.func)} is not known here: paste its code too, or write the"
            " function that it is, such as F.silu"
        )

    def _called(self, function: ast.FunctionDef, given: list[Any], keywords: dict[str, Any]) -> Any:
        if self.depth >= DEPTH_MOST:
            raise ValueError(f"calls of {function.name} are nested too deep")
        outer, line = self.known, self.line
        kept = {name: it for name, it in outer.items() if "." in name or name == "self"}
        names = [it.arg for it in (*function.args.posonlyargs, *function.args.args)]
        if names[:1] == ["self"]:
            names = names[1:]
        everyone = [*names, *(it.arg for it in function.args.kwonlyargs)]
        self.known = kept | defaults(function, self.value)
        self.known |= dict(zip(names, given, strict=False)) | keywords
        if missing := [it for it in everyone if it not in self.known]:
            self.known = outer
            raise ValueError(f"{function.name} is called without its {missing[0]}")
        self.depth += 1
        try:
            returned = self.run(function.body)
        finally:
            self.known, self.line = outer, line
            self.depth -= 1
        return returned.value if returned else None

    def _apply(self, name: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        """Return the result of an operation of PyTorch, and add its kernel if it has one."""
        within = name.endswith("_") and name not in VIEWS
        name = name.removesuffix("_") if within else name
        within = within or keywords.get("inplace") is True
        name = ALIASES.get(name, name)
        flat = [*_flat(arguments), *_flat(keywords.values())]
        # What is read twice is read once.
        read = [*{(it.memory, it.part): it for it in flat if isinstance(it, Tensor)}.values()]
        if "out" in keywords:
            raise ValueError("out= is not understood: assign the result")
        if name in CREATED:
            raise ValueError(f"how large a tensor {name} makes is not known: leave the line out")
        if not read:
            return NUMBER
        first = read[0]
        if name in COMPOSED:
            names = zip("xy", read, strict=False)
            inner = replace(self, known=dict(names), functions={}, modules={})
            return inner.value(COMPOSED[name])
        if name in ("size", "stride"):
            return EXTENTS if len(arguments) == 1 and not keywords else Share(Fraction(1))
        if name in ("numel", "dim", "item", "element_size", "is_floating_point", "nelement"):
            return NUMBER
        if name in TURNS:
            turned = {"transposed": "dense"}.get(first.layout, "transposed")
            return replace(first, layout=turned)
        if name in PARTS:
            return self._parts(first, arguments, keywords)
        copied = name in COPIES and (
            first.layout == "transposed" or (name == "contiguous" and first.layout != "dense")
        )
        if first.layout == "expanded" and name in COPIES:
            raise ValueError("how far it was expanded, and so how large its copy is, is not known")
        if name in EXPANDS and first.values:
            return replace(first, layout="expanded")
        if name == "empty_like":
            return self._made(first.values, first.format)
        if name in VIEWS and not copied:
            return replace(first, format=VIEWED_AS.get(name, first.format))
        if name in BARRIERS:
            kernel = Kernel(read, [self._made(1.0, first.format)], barrier=True)
        elif name == "to" or name in DTYPES:
            form = self._form(name, arguments, keywords)
            if form is None or form == first.format:
                return first
            written = replace(self._made(first.values, form), origin=first.origin, cast=True)
            written = replace(written, layout=first.layout)
            plain = {form, first.format} == {"", "fp32"}
            kernel = Kernel(read, [written], cast=plain, indexed=first.layout == "sliced")
        else:
            name = "clone" if copied else name
            if name in ("softmax", "log_softmax") and (to := keywords.pop("dtype", None)):
                read = [self._apply("to", [first, to], {})]
            if name == "where":
                for it in arguments[1:]:
                    if not isinstance(it, Tensor):
                        made = [self._made(0, first.format)]
                        self.kernels.append(Kernel([], made, name="scalar_tensor", line=self.line))
            computed = self._computed(name, read, arguments, keywords)
            if computed is None:
                return first
            kernel = computed
        if within:
            target = arguments[0]
            unread = name in ("copy", "zero", "fill")
            kept = [it for it in read if not unread or it is not target]
            kernel = kernel._replace(read=kept, written=[target, *kernel.written[1:]])
            self.mutated.add(target.memory)
        self.kernels.append(kernel._replace(name=name, line=self.line))
        several = (
            name in ("max", "min") and kernel.reduces and not (len(arguments) == 1 and not keywords)
        )
        return list(kernel.written) if several else kernel.written[0]

    def _made(self, values: float, form: str, layout: str = "dense") -> Tensor:
        self.steps += 1
        return Tensor(float(values), form, layout, memory=f"#{self.steps}")

    def _form(self, name: str, arguments: list[Any], keywords: dict[str, Any]) -> str | None:
        """Return to which format a tensor is cast, or None if to none."""
        if name in DTYPES:
            return DTYPES[name]
        given = [*arguments[1:], *keywords.values()]
        for it in given:
            if isinstance(it, Form):
                return str(it)
            if isinstance(it, Tensor):
                return it.format
        if "dtype" in keywords or any("dtype" in it for it in given if isinstance(it, Path)):
            raise ValueError("to what format it is cast is not known: x.dtype or torch.float32 is")
        return None

    def _parts(self, whole: Tensor, arguments: list[Any], keywords: dict[str, Any]) -> list[Tensor]:
        named = ("chunks", "split_size_or_sections", "split_size", "split_sizes", "sections")
        by = next(iter([*arguments[1:2], *(keywords[it] for it in named if it in keywords)]), None)
        shares: list[Fraction] = []
        match by:
            case bool():
                pass
            case int() if 0 < by <= PARTS_MOST:
                shares = [Fraction(1, by)] * by
            case Share(of=of) if 0 < of <= 1 and 1 / of <= PARTS_MOST and not (1 / of) % 1:
                shares = [of] * int(1 / of)
            case list() if all(isinstance(it, Share) for it in by):
                shares = [it.of for it in by]
        if not shares:
            raise ValueError("into how large parts it is split is not known; x.chunk(2, -1) is")
        return [_part(whole, it, f"{n} of {len(shares)}", True) for n, it in enumerate(shares)]

    def _computed(
        self, name: str, read: list[Tensor], arguments: list[Any], keywords: dict[str, Any]
    ) -> Kernel | None:
        """Return a kernel that computes, or None if it is none."""
        most = max(it.values for it in read)
        form = max((it.format for it in read), key=list(BYTES).index)
        operation = f"complex {name}" if form == "complex" else name
        if operation not in FLOP:
            raise ValueError(f"the operation {operation} is not known")
        tensors = [it for it in arguments if isinstance(it, Tensor)]
        reduces = name in FLOP_REDUCED and not (name in ("max", "min") and len(tensors) > 1)
        flop = FLOP[operation] + ("alpha" in keywords)
        if name == "dropout":
            rate = keywords.get("p", next(iter(arguments[1:2]), 0.5))
            training = keywords.get("training", next(iter(arguments[2:3]), True))
            if rate == 0 or training is False:
                return None
        if name in TRUTHS:
            form = "bool"
        elif name == "where":
            form = max((it.format for it in tensors[1:] or read), key=list(BYTES).index)
        elif name in ("argmax", "argmin") or (form == "bool" and name in ("sum", "cumsum")):
            form = "int64"
        elif given := [it for it in keywords.values() if isinstance(it, Form)]:
            form = str(given[0])
        values = 0.0 if reduces else most
        if name in ("cat", "stack"):
            values = sum(it.values for it in _flat(arguments) if isinstance(it, Tensor))
        elif name == "glu":
            values = most / 2
        elif name == "repeat":
            raise ValueError("how often it is repeated is not known: expand takes no kernel")
        turned = any(it.layout == "transposed" and it.values == most for it in read)
        layout = (
            "transposed" if turned and not name.startswith(("cat", "stack", "clone")) else "dense"
        )
        written = [self._made(values, form, layout)]
        if name == "dropout":
            written.append(self._made(values, "bool"))
        if reduces and name in ("max", "min"):
            written.append(self._made(0, "int64"))
        if name in FLOP_MADE:
            return Kernel([], written, 0)
        rows = name in FLOP_ROWS
        indexed = any(it.layout != "dense" or (it.values < most and not rows) for it in read)
        indexed = indexed or name in ("cat", "stack", "roll", "flip")
        return Kernel(read, written, most * flop, indexed, reduces=reduces or rows)


def fused(kernels: Sequence[Kernel], kept: Sequence[str]) -> Kernel:
    """Return the one kernel that does what these do: inputs once, and once what is `kept`.

    `kept` are the memories that somebody needs afterwards.
    """
    read: dict[str, dict[str, Tensor]] = {}
    made: dict[str, dict[str, Tensor]] = {}
    for kernel in kernels:
        for it in kernel.read:
            if it.values and it.memory not in made:
                read.setdefault(it.memory, {})[it.part] = it
        for it in kernel.written:
            made.setdefault(it.memory, {})[it.part] = it
    written = chain.from_iterable(_whole(made[it]) for it in dict.fromkeys(kept) if it in made)
    flop = sum(it.flop for it in kernels if not it.repeated)
    return Kernel([*chain.from_iterable(map(_whole, read.values()))], [*written], flop)


def defaults(function: ast.FunctionDef, value: Callable[[ast.expr], Any]) -> dict[str, Any]:
    """Return the defaults of a function's arguments by name."""
    of = function.args
    last = [*of.posonlyargs, *of.args][-len(of.defaults) :] if of.defaults else []
    pairs = [*zip(last, of.defaults, strict=True), *zip(of.kwonlyargs, of.kw_defaults, strict=True)]
    return {it.arg: value(default) for it, default in pairs if default is not None}


def _whole(parts: Mapping[str, Tensor]) -> list[Tensor]:
    """Return those parts of a memory that hold all that the parts do."""
    return [parts[""]] if "" in parts else [*parts.values()]


def _part(whole: Tensor, share: Fraction, name: str, sliced: bool) -> Tensor:
    layout = "sliced" if sliced and whole.layout == "dense" else whole.layout
    part = f"{whole.part}[{name}]"
    return replace(whole, values=whole.values * float(share), layout=layout, part=part)


def _flat(values: Any) -> list[Any]:
    return [*chain.from_iterable(it if isinstance(it, list) else [it] for it in values)]


def _arithmetic(op: ast.operator, left: Any, right: Any) -> Any:
    """Return plain arithmetic where its numbers are known, with extents as shares of an axis."""
    match op, left, right:
        case ast.FloorDiv() | ast.Div(), Share(of=of), int() if right > 0:
            return Share(of / right)
        case ast.Mult(), Share(of=of), int():
            return Share(of * right)
        case ast.Mult(), int(), Share(of=of):
            return Share(of * left)
        case ast.Add(), Share(of=of), Share(of=other):
            return Share(of + other)
        case ast.Sub(), Share(of=of), Share(of=other):
            return Share(of - other)
    if all(isinstance(it, int | float) and abs(it) <= NUMBER_MOST for it in (left, right)):
        match op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult():
                return left * right
            case ast.Div() if right:
                return left / right
            case ast.FloorDiv() if right:
                return left // right
    return NUMBER


def _path(node: Any) -> str:
    """Return a name with its dots and keys, or "" if it is none."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=of, attr=attr) if path := _path(of):
            return f"{path}.{attr}"
        case ast.Subscript(value=of, slice=ast.Constant(value=str(key))) if path := _path(of):
            return f"{path}[{key!r}]"
    return ""


def _text(node: ast.AST) -> str:
    """Return the code of an expression, not too long to be shown."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= TEXT_MOST else f"{text[: TEXT_MOST - 1]}…"
