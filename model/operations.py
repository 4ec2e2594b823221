"""Chains of operations as data: what each kernel reads and writes, per value of the main tensor.

Counted from the formulas named with each chain, run op by op: each operation that PyTorch
dispatches is one kernel; views are free. Tensors of one number a row or a column count as nothing.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from model.hardware import FORMATS

FIXED_BYTES = {"fp32": FORMATS["fp32"].bytes, "bool": 1}
"""Bytes of a value of a format that does not follow the chain's. Source: the formats."""


@dataclass(frozen=True)
class Tensor:
    """A tensor that a kernel reads or writes.

    `values` is how many, per value of the main tensor. `dtype` is a key of `FIXED_BYTES`, or empty
    for the format that the chain works in. `layout` is "dense", "strided" (a transposed or sliced
    view, or one that is concatenated) or "broadcast" (repeated over the main tensor).
    """

    values: float = 1
    dtype: str = ""
    layout: str = "dense"


@dataclass(frozen=True)
class Step:
    """One kernel: its tensors, and its floating-point operations per value of the main tensor.

    `code` is the kernel as one assignment in PyTorch; views on the way are part of the line. A
    `cast` from the chain's format to FP32 or back is no kernel where that format is FP32. One that
    is `repeated` stands for all but the first of k like steps.
    """

    name: str
    code: str
    reads: tuple[Tensor, ...]
    writes: tuple[Tensor, ...]
    flop: float = 1
    cast: bool = False
    repeated: bool = False


@dataclass(frozen=True)
class Chain:
    """An operation written out as steps, and as the one kernel that fuses it.

    The code of the steps, in order, is the body of a function: it takes `arguments` and `returns`
    names; `F` is `torch.nn.functional`. `writes` of the fused kernel are the results that somebody
    needs; it reads what nobody computed.
    """

    name: str
    arguments: str
    steps: tuple[Step, ...]
    returns: str
    fused_reads: tuple[Tensor, ...]
    fused_writes: tuple[Tensor, ...]
    source: str


@dataclass(frozen=True)
class Steps:
    """Steps as columns, one entry a step, in the units of the formulas.

    Tensors in the chain's format are in values and others in bytes, both per value of the main
    tensor. `indexed` and `mixed` are the two reasons for slow access: operands that are not dense,
    and operands of two formats. A `fresh` step reads a tensor that no step before it has touched;
    where the format is FP32, and casts are no kernels, that is a `fresh_wide` one.
    """

    read_values: Any
    read_bytes: Any
    write_values: Any
    write_bytes: Any
    flop: Any
    indexed: Any
    mixed: Any
    cast: Any
    repeated: Any
    fresh: Any
    fresh_wide: Any


def unfused(chain: Chain) -> Steps:
    """Return the steps of the chain as columns."""
    return _columns(chain.steps, _first_touches(chain, False), _first_touches(chain, True))


def fused(chain: Chain) -> Steps:
    """Return the fused kernel as columns: the same arithmetic on less traffic, in a dense layout.

    Steps that are repeated are not in it.
    """
    flop = sum(step.flop for step in chain.steps if not step.repeated)
    kernel = Step("fused", "", chain.fused_reads, chain.fused_writes, flop)
    return _columns([kernel], [True], [True])


def _columns(steps: Sequence[Step], fresh: Sequence[bool], fresh_wide: Sequence[bool]) -> Steps:
    rows = [
        (
            *_amounts(step.reads),
            *_amounts(step.writes),
            float(step.flop),
            any(it.layout != "dense" for it in step.reads),
            len({it.dtype for it in step.reads}) > 1,
            step.cast,
            step.repeated,
            *touches,
        )
        for step, *touches in zip(steps, fresh, fresh_wide, strict=True)
    ]
    return Steps(*(np.array(column) for column in zip(*rows, strict=True)))


TENSORS = {
    "x", "residual", "gate", "up", "both", "q", "k", "scores", "weights", "gradient", "m", "v", "p",
    "log_q", "log_p", "input", "target",
}  # fmt: skip
"""Arguments, by their name in the code, that are as large as the main tensor or nearly so."""


def _first_touches(chain: Chain, wide: bool) -> list[bool]:
    """Return for each step whether its code reads such an argument that none before it has read."""
    untouched = TENSORS & {name.strip() for name in chain.arguments.split(",")}
    also: dict[str, str] = {}
    found = []
    for step in chain.steps:
        line = ast.parse(step.code).body[0]
        names = [it for it in ast.walk(line) if isinstance(it, ast.Name)]
        read = {also.get(it.id, it.id) for it in names if isinstance(it.ctx, ast.Load)}
        if wide and step.cast:
            # The cast is none, and what it is called is what it was.
            also |= {it.id: min(read & untouched) for it in names[:1] if read & untouched}
            found.append(False)
            continue
        found.append(bool(read & untouched))
        untouched -= read
    return found


def _amounts(tensors: Sequence[Tensor]) -> tuple[float, float]:
    """Return the values of the tensors in the chain's format, and the bytes of the others."""
    values = sum(it.values for it in tensors if not it.dtype)
    fixed = sum(it.values * FIXED_BYTES[it.dtype] for it in tensors if it.dtype)
    return float(values), float(fixed)


X = Tensor()
WIDE = Tensor(dtype="fp32")
MASK = Tensor(dtype="bool")
ROW = Tensor(0, layout="broadcast")
WIDE_ROW = Tensor(0, "fp32", "broadcast")
STRIDED = Tensor(layout="strided")


def _step(name: str, code: str, *reads: Tensor, to: Tensor | None = X, flop: float = 1) -> Step:
    return Step(name, code, reads, () if to is None else (to,), flop)


def _wide(name: str, code: str, count: int = 1, flop: float = 1) -> Step:
    return Step(name, code, (WIDE,) * count, (WIDE,), flop)


def _upcast(name: str, code: str) -> Step:
    return Step(name, code, (X,), (WIDE,), 0, cast=True)


def _downcast(name: str, code: str) -> Step:
    return Step(name, code, (WIDE,), (X,), 0, cast=True)


def _per_row(name: str, code: str) -> Step:
    return Step(name, code, (), (), 0)


TRANSFORMERS = "transformers 4.56"
LIGER = "linkedin/Liger-Kernel, benchmark/scripts"
MEGATRON = "Megatron-LM at d98e8a64"

_RMS_INNER = (
    _wide("square", "square = wide.pow(2)"),
    _step("mean", "mean = square.mean(-1, keepdim=True)", WIDE, to=None),
    _per_row("add ε", "shifted = mean + eps"),
    _per_row("rsqrt", "inverse = shifted.rsqrt()"),
    _step("times rsqrt", "normal = wide * inverse", WIDE, WIDE_ROW, to=WIDE),
    _downcast("back", "narrow = normal.to(x.dtype)"),
)
_RMS_NORM = (
    _upcast("to FP32", "wide = x.float()"),
    *_RMS_INNER,
    _step("times weight", "out = narrow * weight", X, ROW),
)
_RMS_WIDE_WEIGHT = (
    *_RMS_INNER,
    _step("times weight", "out = narrow * weight", X, WIDE_ROW, to=WIDE),
)

_GELU = (
    _step("times 0.5", "half = x * 0.5", X),
    _step("cube", "cube = x.pow(3)", X),
    _step("times 0.044715", "small = cube * 0.044715", X),
    _step("add x", "inside = x + small", X, X),
    _step("times √(2/π)", "scaled = inside * (2 / torch.pi) ** 0.5", X),
    _step("tanh", "tanh = scaled.tanh()", X),
    _step("add 1", "shifted = tanh + 1", X),
    _step("product", "out = half * shifted", X, X),
)

_BIAS_GELU = (
    _step("add bias", "x = x + bias", X, ROW),
    _step("times 0.5", "half = x * 0.5", X),
    _step("times 0.797885", "scaled = x * 0.79788456", X),
    _step("times 0.044715", "small = x * 0.044715", X),
    _step("times x", "square = small * x", X, X),
    _step("add 1", "factor = square + 1", X),
    _step("product inside", "inside = scaled * factor", X, X),
    _step("tanh", "tanh = inside.tanh()", X),
    _step("add 1 again", "shifted = tanh + 1", X),
    _step("product", "out = half * shifted", X, X),
)


def _layer_on_one_tensor(
    x: str = "x", axes: str = "-1", normal: str = "normal", column: str = ""
) -> tuple[Step, ...]:
    return (
        _step("mean", f"mean = {x}.mean({axes}, keepdim=True)", X, to=None),
        _step("subtract mean", f"centred = {x} - mean", X, ROW),
        _step("square", "square = centred.pow(2)", X),
        _step("variance", f"variance = square.mean({axes}, keepdim=True)", X, to=None),
        _per_row("add ε", "shifted = variance + eps"),
        _per_row("rsqrt", "inverse = shifted.rsqrt()"),
        _step("times rsqrt", "normal = centred * inverse", X, ROW),
        _step("times weight", f"weighted = {normal} * weight{column}", X, ROW),
        _step("add bias", f"out = weighted + bias{column}", X, ROW),
    )


_LAYER_NORM_WIDE = (
    Step("weight to FP32", "weight = weight.float()", (), (), 0, cast=True),
    Step("bias to FP32", "bias = bias.float()", (), (), 0, cast=True),
    _upcast("to FP32", "wide = x.float()"),
    _step("mean", "mean = wide.mean(-1, keepdim=True)", WIDE, to=None),
    _step("subtract mean", "centred = wide - mean", WIDE, WIDE_ROW, to=WIDE),
    _wide("square", "square = centred.pow(2)"),
    _step("variance", "variance = square.mean(-1, keepdim=True)", WIDE, to=None),
    _per_row("add ε", "shifted = variance + eps"),
    _per_row("rsqrt", "inverse = shifted.rsqrt()"),
    _step("times rsqrt", "normal = centred * inverse", WIDE, WIDE_ROW, to=WIDE),
    _step("times weight", "weighted = normal * weight", WIDE, WIDE_ROW, to=WIDE),
    _step("add bias", "biased = weighted + bias", WIDE, WIDE_ROW, to=WIDE),
    _downcast("back", "out = biased.to(x.dtype)"),
)

_DYT = (
    _step("times α", "scaled = x * alpha", X, WIDE_ROW, to=WIDE),
    _wide("tanh", "tanh = scaled.tanh()"),
    _step("times γ", "out = tanh * gamma", WIDE, WIDE_ROW, to=WIDE),
)

QUERY_HEADS, KEY_HEADS = 32, 8
"""Heads that share one table of angles. Source: Llama 3 8B, grouped-query attention."""


def _rope(q: str, heads: int) -> Iterator[Step]:
    share = heads / (QUERY_HEADS + KEY_HEADS)
    dense, part = Tensor(share), Tensor(share, layout="strided")
    half = Tensor(share / 2, layout="strided")
    angles = Tensor(1 / (QUERY_HEADS + KEY_HEADS), layout="broadcast")
    heads_first = f"{q}.transpose(1, 2)"
    first, second = (f"{heads_first}.chunk(2, -1)[{n}]" for n in (0, 1))
    joined = f"torch.cat(({q}_minus, {first}), -1)"
    yield _step(
        f"{q} times cos", f"{q}_cos = {heads_first} * cos", part, angles, to=dense, flop=share
    )
    yield _step(f"minus half of {q}", f"{q}_minus = -{second}", half, to=Tensor(share / 2), flop=0)
    yield _step(f"join halves of {q}", f"{q}_turned = {joined}", half, half, to=dense, flop=0)
    yield _step(
        f"{q} turned times sin", f"{q}_sin = {q}_turned * sin", dense, angles, to=dense, flop=share
    )
    yield _step(f"add for {q}", f"{q}_out = {q}_cos + {q}_sin", part, dense, to=dense, flop=share)


def _rope_complex(q: str, heads: int) -> Iterator[Step]:
    share = heads / (QUERY_HEADS + KEY_HEADS)
    dense, wide = Tensor(share), Tensor(share, "fp32")
    angles = Tensor(1 / (QUERY_HEADS + KEY_HEADS), "fp32", "broadcast")
    pairs = f"torch.view_as_complex({q}_wide.unflatten(-1, (-1, 2)))"
    turned = f"{q}_turned = {pairs} * angles[:, None]"
    out = f"{q}_out = torch.view_as_real({q}_turned).flatten(-2).to({q}.dtype)"
    yield Step(f"{q} to FP32", f"{q}_wide = {q}.float()", (dense,), (wide,), 0, cast=True)
    yield _step(f"{q} times angles", turned, wide, angles, to=wide, flop=3 * share)
    yield Step(f"{q} back", out, (wide,), (dense,), 0, cast=True)


def _on_one_tensor(name: str, arguments: str, steps: Sequence[Step], source: str) -> Chain:
    return Chain(name, arguments, tuple(steps), "out", (X,), (X,), source)


def _divergence(p: str) -> Iterator[Step]:
    yield _wide(f"log of the mean for {p}", "log_mean = mean.log()")
    yield _wide(f"exp of {p}", f"{p} = log_{p}.exp()")
    yield _wide(f"{p} minus log of the mean", f"difference = log_{p} - log_mean", 2)
    yield _wide(f"product for {p}", f"product = {p} * difference", 2)
    yield _step(f"sum over {p}", f"sum_{p} = product.sum(-1)", WIDE, to=None)


_JSD = (
    _wide("exp of q", "q = log_q.exp()"),
    _wide("exp of p", "p = log_p.exp()"),
    _wide("mean of both", "mean = q.lerp(p, beta)", 2, flop=3),
    *_divergence("p"),
    *_divergence("q"),
    _per_row("times β", "part_p = sum_p * beta"),
    _per_row("times 1 − β", "part_q = sum_q * (1 - beta)"),
    _per_row("add", "both = part_p + part_q"),
    _per_row("divide by rows", "shares = both / log_q.shape[0]"),
    _per_row("sum of rows", "loss = shares.sum()"),
)

CHAINS = {
    "sketch": Chain(
        "k equal steps",
        "x, scale",
        (
            _step("the first step", "x = x * scale", X),
            Step("each further step", "x = x * scale  # again", (X,), (X,), repeated=True),
        ),
        "x",
        (X,),
        (X,),
        "the sketch: each kernel reads the tensor and writes it",
    ),
    "rms-norm": _on_one_tensor(
        "RMSNorm", "x, weight, eps", _RMS_NORM, f"{TRANSFORMERS}, LlamaRMSNorm"
    ),
    "add-rms-norm": Chain(
        "Residual add, RMSNorm",
        "x, residual, weight, eps",
        (_step("add", "x = residual + x", X, X), *_RMS_NORM),
        "out, x",
        (X, X),
        (X, X),
        f"{TRANSFORMERS}, LlamaDecoderLayer; the sum is needed again",
    ),
    "layer-norm": _on_one_tensor(
        "LayerNorm, written out",
        "x, weight, bias, eps",
        _layer_on_one_tensor(),
        "its definition (Ba et al. 2016)",
    ),
    "layer-norm-fp32": _on_one_tensor(
        "LayerNorm, written out in FP32",
        "x, weight, bias, eps",
        _LAYER_NORM_WIDE,
        "the same, cast to FP32 and back",
    ),
    "swiglu": Chain(
        "SwiGLU",
        "gate, up",
        (
            _step("SiLU of gate", "gate = F.silu(gate)", X, flop=5),
            _step("times up", "out = gate * up", X, X),
        ),
        "out",
        (X, X),
        (X,),
        f"{TRANSFORMERS}, LlamaMLP",
    ),
    "swiglu-split": Chain(
        "SwiGLU on halves of one tensor",
        "both",
        (
            _step("SiLU of gate", "gate = F.silu(both.chunk(2, -1)[0])", STRIDED, flop=5),
            _step("times up", "out = gate * both.chunk(2, -1)[1]", X, STRIDED),
        ),
        "out",
        (X, X),
        (X,),
        f"{MEGATRON}, fused_bias_swiglu: gate and up are halves of each row",
    ),
    "geglu": Chain(
        "GeGLU",
        "gate, up",
        (
            _step("GELU of gate", 'gate = F.gelu(gate, approximate="tanh")', X, flop=9),
            _step("times up", "out = gate * up", X, X),
        ),
        "out",
        (X, X),
        (X,),
        f"{TRANSFORMERS}, GemmaMLP: gelu_pytorch_tanh",
    ),
    "gelu": _on_one_tensor(
        "GELU (tanh), op by op", "x", _GELU, f"{TRANSFORMERS}, NewGELUActivation"
    ),
    "quick-gelu": _on_one_tensor(
        "Quick GELU, op by op",
        "x",
        (
            _step("times 1.702", "scaled = x * 1.702", X),
            _step("sigmoid", "gate = scaled.sigmoid()", X),
            _step("times x", "out = x * gate", X, X),
        ),
        f"{TRANSFORMERS}, QuickGELUActivation",
    ),
    "bias-gelu": _on_one_tensor(
        "Bias, GELU (tanh)", "x, bias", _BIAS_GELU, f"{MEGATRON}, fused_bias_gelu"
    ),
    "bias-dropout-add": Chain(
        "Bias, dropout, residual (training)",
        "x, bias, residual, rate",
        (
            _step("add bias", "biased = x + bias", X, ROW),
            Step("dropout", "dropped = F.dropout(biased, rate)", (X,), (X, MASK), 2),
            _step("add residual", "out = residual + dropped", X, X),
        ),
        "out",
        (X, X),
        (X,),
        f"{MEGATRON}, fused_bias_dropout; the fused kernel draws its mask again when it needs it",
    ),
    "bias-add": Chain(
        "Bias, residual (inference)",
        "x, bias, residual",
        (
            _step("add bias", "biased = x + bias", X, ROW),
            _step("add residual", "out = residual + biased", X, X),
        ),
        "out",
        (X, X),
        (X,),
        f"{MEGATRON}, fused_bias_dropout",
    ),
    "rope": Chain(
        "RoPE on queries and keys",
        "q, k, cos, sin",
        (*_rope("q", QUERY_HEADS), *_rope("k", KEY_HEADS)),
        "q_out, k_out",
        (X, Tensor(2 / (QUERY_HEADS + KEY_HEADS))),
        (X,),
        f"{TRANSFORMERS}, apply_rotary_pos_emb in modeling_llama.py, 32 and 8 heads",
    ),
    "rope-complex": Chain(
        "RoPE on complex numbers (Llama 4)",
        "q, k, angles",
        (*_rope_complex("q", QUERY_HEADS), *_rope_complex("k", KEY_HEADS)),
        "q_out, k_out",
        (X, Tensor(1 / (QUERY_HEADS + KEY_HEADS), "fp32")),
        (X,),
        f"{TRANSFORMERS}, apply_rotary_emb in modeling_llama4.py, 32 and 8 heads",
    ),
    "softmax": _on_one_tensor(
        "Softmax, written out",
        "x",
        (
            _step("row maximum", "maximum = x.max(-1, keepdim=True)[0]", X, to=None),
            _step("subtract maximum", "shifted = x - maximum", X, ROW),
            _step("exp", "numerator = shifted.exp()", X),
            _step("row sum", "denominator = numerator.sum(-1, keepdim=True)", X, to=None),
            _step("divide by sum", "out = numerator / denominator", X, ROW),
        ),
        "triton-lang/triton, python/tutorials/02-fused-softmax.py: naive_softmax",
    ),
    "attention-scores": Chain(
        "Attention scores: scale, mask, softmax",
        "scores, scale, mask",
        (
            _step("scale", "scaled = scores * scale", X),
            _step(
                "add mask", "masked = scaled + mask", X, Tensor(1 / QUERY_HEADS, layout="broadcast")
            ),
            _upcast("to FP32", "wide = masked.float()"),
            _wide("softmax", "weights = wide.softmax(-1)", flop=5),
            _downcast("back", "out = weights.to(scores.dtype)"),
        ),
        "out",
        (X, Tensor(1 / QUERY_HEADS)),
        (X,),
        f"{TRANSFORMERS}, eager_attention_forward in modeling_llama.py, 32 heads",
    ),
    "adamw": Chain(
        "AdamW, written out (FP32)",
        "weights, gradient, m, v, step, rate, decay, beta1, beta2, eps",
        (
            _wide("m times β₁", "m = m * beta1"),
            _wide("m plus gradient", "m = m.add(gradient, alpha=1 - beta1)", 2, flop=2),
            _wide("v times β₂", "v = v * beta2"),
            _wide(
                "v plus squared gradient",
                "v = v.addcmul(gradient, gradient, value=1 - beta2)",
                2,
                flop=3,
            ),
            _wide("decay weights", "weights = weights * (1 - rate * decay)"),
            _wide("root of v", "root = v.sqrt()"),
            _wide("correct bias", "root = root / (1 - beta2**step) ** 0.5"),
            _wide("add ε", "root = root + eps"),
            _wide(
                "step weights",
                "weights = weights.addcdiv(m, root, value=-rate / (1 - beta1**step))",
                3,
                flop=3,
            ),
        ),
        "weights, m, v",
        (WIDE,) * 4,
        (WIDE,) * 3,
        "Loshchilov, Hutter 2019; weights, gradient and both moments in FP32",
    ),
    "relu-squared": _on_one_tensor(
        "ReLU, square",
        "x",
        (_step("ReLU", "positive = F.relu(x)", X), _step("square", "out = positive.square()", X)),
        f"{LIGER}/benchmark_relu_squared.py",
    ),
    "rms-norm-wide-weight": _on_one_tensor(
        "RMSNorm with an FP32 weight",
        "x, weight, eps",
        (_upcast("to FP32", "wide = x.float()"), *_RMS_WIDE_WEIGHT),
        f"{LIGER}/benchmark_rms_norm.py: the weight is FP32, and so is the result of the last step",
    ),
    "add-rms-norm-upcast": Chain(
        "Residual add, RMSNorm, all in FP32",
        "x, residual, weight, eps",
        (
            _upcast("x to FP32", "wide_x = x.float()"),
            _upcast("residual to FP32", "wide_residual = residual.float()"),
            _wide("add", "wide = wide_x + wide_residual", 2),
            *_RMS_WIDE_WEIGHT,
            _downcast("residual back", "residual = wide.to(x.dtype)"),
        ),
        "out, residual",
        (X, X),
        (X, X),
        f"{LIGER}/benchmark_fused_add_rms_norm.py: NaiveAddRMSNorm",
    ),
    "dyt": _on_one_tensor(
        "Dynamic tanh",
        "x, alpha, gamma",
        _DYT,
        f"{LIGER}/benchmark_dyt.py: TorchDyT, parameters in FP32",
    ),
    "dyt-beta": _on_one_tensor(
        "Dynamic tanh with β",
        "x, alpha, gamma, beta",
        (*_DYT, _step("add β", "out = out + beta", WIDE, WIDE_ROW, to=WIDE)),
        f"{LIGER}/benchmark_dyt.py: TorchDyT, parameters in FP32",
    ),
    "group-norm": _on_one_tensor(
        "GroupNorm, written out",
        "x, groups, weight, bias, eps",
        _layer_on_one_tensor(
            "x.unflatten(1, (groups, -1))", "(2, 3)", "normal.flatten(1, 2)", "[:, None]"
        ),
        "its definition (Wu, He 2018), weights by channel",
    ),
    "tvd": Chain(
        "Total variation distance (FP32)",
        "p, q",
        (
            _wide("p minus q", "difference = p - q", 2),
            _wide("absolute value", "distance = difference.abs()"),
            _wide("halve", "half = distance / 2"),
            _step("sum", "total = half.sum()", WIDE, to=None),
            _per_row("divide by rows", "loss = total / p.shape[0]"),
        ),
        "loss",
        (WIDE, WIDE),
        (WIDE,),
        f"{LIGER}/benchmark_tvd.py: TorchTVDLoss; the fused kernel also writes the gradient",
    ),
    "kl-div": Chain(
        "KL divergence (FP32)",
        "input, target",
        (
            _wide("target times its log", "own = torch.xlogy(target, target)", flop=2),
            _wide("target times input", "cross = target * input", 2),
            _wide("subtract", "difference = own - cross", 2),
            _step("sum", "total = difference.sum()", WIDE, to=None),
            _per_row("divide by rows", "loss = total / input.shape[0]"),
        ),
        "loss",
        (WIDE, WIDE),
        (),
        f"{LIGER}/benchmark_kl_div.py: torch.nn.KLDivLoss",
    ),
    "jsd": Chain(
        "Jensen–Shannon divergence (FP32)",
        "log_q, log_p, beta",
        _JSD,
        "loss",
        (WIDE, WIDE),
        (WIDE,),
        f"{LIGER}/benchmark_jsd.py: TorchJSD; the fused kernel also writes the gradient",
    ),
}
