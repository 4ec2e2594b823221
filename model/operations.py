"""Chains of operations as data: what each kernel reads and writes, per value of the main tensor.

Counted from the formulas named with each chain, run op by op: each operation that PyTorch
dispatches is one kernel; views are free. Tensors of one number a row or a column count as nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

FIXED_BYTES = {"fp32": 4.0, "bool": 1.0}
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

    A `cast` from the chain's format to FP32 or back is no kernel where that format is FP32.
    """

    name: str
    reads: tuple[Tensor, ...]
    writes: tuple[Tensor, ...]
    flop: float = 1
    cast: bool = False


@dataclass(frozen=True)
class Chain:
    """An operation written out as steps, and as the one kernel that fuses it.

    `writes` of the fused kernel are the results that somebody needs; it reads what nobody computed.
    """

    name: str
    steps: tuple[Step, ...]
    fused_reads: tuple[Tensor, ...]
    fused_writes: tuple[Tensor, ...]
    source: str

    @property
    def fused(self) -> Step:
        """The fused kernel: the same arithmetic on less traffic, in the layout that suits it."""
        flop = sum(step.flop for step in self.steps)
        return Step("fused", self.fused_reads, self.fused_writes, flop)


@dataclass(frozen=True)
class Steps:
    """Steps as columns, one entry a step, in the units of the formulas.

    Tensors in the chain's format are in values and others in bytes, both per value of the main
    tensor. `indexed` and `mixed` are the two reasons for slow access: operands that are not dense,
    and operands of two formats.
    """

    read_values: Any
    read_bytes: Any
    write_values: Any
    write_bytes: Any
    flop: Any
    indexed: Any
    mixed: Any
    cast: Any


def columns(steps: Sequence[Step]) -> Steps:
    """Return the steps as columns."""
    rows = [
        (
            *_amounts(step.reads),
            *_amounts(step.writes),
            float(step.flop),
            any(it.layout != "dense" for it in step.reads),
            len({it.dtype for it in step.reads}) > 1,
            step.cast,
        )
        for step in steps
    ]
    return Steps(*(np.array(column) for column in zip(*rows, strict=True)))


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


def _step(name: str, *reads: Tensor, to: Tensor | None = X, flop: float = 1) -> Step:
    return Step(name, reads, () if to is None else (to,), flop)


def _upcast(name: str = "to FP32") -> Step:
    return Step(name, (X,), (WIDE,), 0, cast=True)


def _downcast(name: str = "back") -> Step:
    return Step(name, (WIDE,), (X,), 0, cast=True)


def _per_row(*names: str) -> tuple[Step, ...]:
    return tuple(Step(name, (), (), 0) for name in names)


TRANSFORMERS = "transformers 4.56"
LIGER = "linkedin/Liger-Kernel, benchmark/scripts"
MEGATRON = "Megatron-LM at d98e8a64"

_RMS_INNER = (
    _step("square", WIDE, to=WIDE),
    _step("mean", WIDE, to=None),
    *_per_row("add ε", "rsqrt"),
    _step("times rsqrt", WIDE, WIDE_ROW, to=WIDE),
)
_RMS_NORM = (_upcast(), *_RMS_INNER, _downcast(), _step("times weight", X, ROW))

_GELU = (
    _step("times 0.5", X),
    _step("cube", X),
    _step("times 0.044715", X),
    _step("add x", X, X),
    _step("times √(2/π)", X),
    _step("tanh", X),
    _step("add 1", X),
    _step("product", X, X),
)

_BIAS_GELU = (
    _step("add bias", X, ROW),
    _step("times 0.5", X),
    _step("times 0.797885", X),
    _step("times 0.044715", X),
    _step("times x", X, X),
    _step("add 1", X),
    _step("product inside", X, X),
    _step("tanh", X),
    _step("add 1 again", X),
    _step("product", X, X),
)

_LAYER_NORM = (
    _step("mean", X, to=None),
    _step("subtract mean", X, ROW),
    _step("square", X),
    _step("variance", X, to=None),
    *_per_row("add ε", "rsqrt"),
    _step("times rsqrt", X, ROW),
    _step("times weight", X, ROW),
    _step("add bias", X, ROW),
)

_LAYER_NORM_WIDE = (
    *_per_row("weight to FP32", "bias to FP32"),
    _upcast(),
    _step("mean", WIDE, to=None),
    _step("subtract mean", WIDE, WIDE_ROW, to=WIDE),
    _step("square", WIDE, to=WIDE),
    _step("variance", WIDE, to=None),
    *_per_row("add ε", "rsqrt"),
    _step("times rsqrt", WIDE, WIDE_ROW, to=WIDE),
    _step("times weight", WIDE, WIDE_ROW, to=WIDE),
    _step("add bias", WIDE, WIDE_ROW, to=WIDE),
    _downcast(),
)

QUERY_HEADS, KEY_HEADS = 32, 8
"""Heads that share one table of angles. Source: Llama 3 8B, grouped-query attention."""


def _rope(tensor: str, heads: int) -> tuple[Step, ...]:
    share = heads / (QUERY_HEADS + KEY_HEADS)
    part, half = Tensor(share, layout="strided"), Tensor(share / 2, layout="strided")
    angles = Tensor(1 / (QUERY_HEADS + KEY_HEADS), layout="broadcast")
    return (
        _step(f"{tensor} times cos", part, angles, to=Tensor(share), flop=share),
        _step(f"minus half of {tensor}", half, to=Tensor(share / 2), flop=0),
        _step(f"join halves of {tensor}", half, half, to=Tensor(share), flop=0),
        _step(f"{tensor} turned times sin", Tensor(share), angles, to=Tensor(share), flop=share),
        _step(f"add for {tensor}", part, Tensor(share), to=Tensor(share), flop=share),
    )


def _rope_complex(tensor: str, heads: int) -> tuple[Step, ...]:
    share = heads / (QUERY_HEADS + KEY_HEADS)
    wide = Tensor(share, "fp32")
    angles = Tensor(1 / (QUERY_HEADS + KEY_HEADS), "fp32", "broadcast")
    return (
        Step(f"{tensor} to FP32", (Tensor(share),), (wide,), 0, cast=True),
        _step(f"{tensor} times angles", wide, angles, to=wide, flop=3 * share),
        Step(f"{tensor} back", (wide,), (Tensor(share),), 0, cast=True),
    )


def _norm(name: str, steps: Sequence[Step], source: str) -> Chain:
    return Chain(name, tuple(steps), (X,), (X,), source)


def _divergence(target: str) -> Iterator[Step]:
    yield _step(f"log of the mean for {target}", WIDE, to=WIDE)
    yield _step(f"exp of {target}", WIDE, to=WIDE)
    yield _step(f"{target} minus log of the mean", WIDE, WIDE, to=WIDE)
    yield _step(f"product for {target}", WIDE, WIDE, to=WIDE)
    yield _step(f"sum over {target}", WIDE, to=None)


_JSD = (
    _step("exp of q", WIDE, to=WIDE),
    _step("exp of p", WIDE, to=WIDE),
    _step("mean of both", WIDE, WIDE, to=WIDE, flop=3),
    *_divergence("p"),
    *_divergence("q"),
    *_per_row("times β", "times 1 − β", "add", "divide by rows", "sum of rows"),
)

CHAINS = {
    "sketch": Chain(
        "k like steps",
        (_step("one of k steps", X),),
        (X,),
        (X,),
        "the sketch: each kernel reads the tensor and writes it",
    ),
    "rms-norm": _norm("RMSNorm", _RMS_NORM, f"{TRANSFORMERS}, LlamaRMSNorm"),
    "add-rms-norm": Chain(
        "Residual add, RMSNorm",
        (_step("add", X, X), *_RMS_NORM),
        (X, X),
        (X, X),
        f"{TRANSFORMERS}, LlamaDecoderLayer; the sum is needed again",
    ),
    "layer-norm": _norm("LayerNorm, written out", _LAYER_NORM, "its definition (Ba et al. 2016)"),
    "layer-norm-fp32": _norm(
        "LayerNorm, written out in FP32", _LAYER_NORM_WIDE, "the same, cast to FP32 and back"
    ),
    "swiglu": Chain(
        "SwiGLU",
        (_step("SiLU of gate", X, flop=5), _step("times up", X, X)),
        (X, X),
        (X,),
        f"{TRANSFORMERS}, LlamaMLP",
    ),
    "swiglu-split": Chain(
        "SwiGLU on halves of one tensor",
        (_step("SiLU of gate", STRIDED, flop=5), _step("times up", X, STRIDED)),
        (X, X),
        (X,),
        f"{MEGATRON}, fused_bias_swiglu: gate and up are halves of each row",
    ),
    "geglu": Chain(
        "GeGLU",
        (_step("GELU of gate", X, flop=9), _step("times up", X, X)),
        (X, X),
        (X,),
        f"{TRANSFORMERS}, GemmaMLP: gelu_pytorch_tanh",
    ),
    "gelu": _norm("GELU (tanh), op by op", _GELU, f"{TRANSFORMERS}, NewGELUActivation"),
    "quick-gelu": _norm(
        "Quick GELU, op by op",
        (_step("times 1.702", X), _step("sigmoid", X), _step("times x", X, X)),
        f"{TRANSFORMERS}, QuickGELUActivation",
    ),
    "bias-gelu": _norm("Bias, GELU (tanh)", _BIAS_GELU, f"{MEGATRON}, fused_bias_gelu"),
    "bias-dropout-add": Chain(
        "Bias, dropout, residual (training)",
        (
            _step("add bias", X, ROW),
            Step("dropout", (X,), (X, MASK), 2),
            _step("add residual", X, X),
        ),
        (X, X),
        (X,),
        f"{MEGATRON}, fused_bias_dropout; the fused kernel draws its mask again when it needs it",
    ),
    "bias-add": Chain(
        "Bias, residual (inference)",
        (_step("add bias", X, ROW), _step("add residual", X, X)),
        (X, X),
        (X,),
        f"{MEGATRON}, fused_bias_dropout",
    ),
    "rope": Chain(
        "RoPE on queries and keys",
        (*_rope("q", QUERY_HEADS), *_rope("k", KEY_HEADS)),
        (X, Tensor(2 / (QUERY_HEADS + KEY_HEADS))),
        (X,),
        f"{TRANSFORMERS}, apply_rotary_pos_emb in modeling_llama.py, 32 and 8 heads",
    ),
    "rope-complex": Chain(
        "RoPE on complex numbers (Llama 4)",
        (*_rope_complex("q", QUERY_HEADS), *_rope_complex("k", KEY_HEADS)),
        (X, Tensor(1 / (QUERY_HEADS + KEY_HEADS), "fp32")),
        (X,),
        f"{TRANSFORMERS}, apply_rotary_emb in modeling_llama4.py, 32 and 8 heads",
    ),
    "softmax": _norm(
        "Softmax, written out",
        (
            _step("row maximum", X, to=None),
            _step("subtract maximum", X, ROW),
            _step("exp", X),
            _step("row sum", X, to=None),
            _step("divide by sum", X, ROW),
        ),
        "triton-lang/triton, python/tutorials/02-fused-softmax.py: naive_softmax",
    ),
    "attention-scores": Chain(
        "Attention scores: scale, mask, softmax",
        (
            _step("scale", X),
            _step("add mask", X, Tensor(1 / QUERY_HEADS, layout="broadcast")),
            _upcast(),
            _step("softmax", WIDE, to=WIDE, flop=5),
            _downcast(),
        ),
        (X, Tensor(1 / QUERY_HEADS)),
        (X,),
        f"{TRANSFORMERS}, eager_attention_forward in modeling_llama.py, 32 heads",
    ),
    "adamw": Chain(
        "AdamW, written out (FP32)",
        (
            _step("m times β₁", WIDE, to=WIDE),
            _step("m plus gradient", WIDE, WIDE, to=WIDE, flop=2),
            _step("v times β₂", WIDE, to=WIDE),
            _step("v plus squared gradient", WIDE, WIDE, to=WIDE, flop=3),
            _step("decay weights", WIDE, to=WIDE),
            _step("root of v", WIDE, to=WIDE),
            _step("correct bias", WIDE, to=WIDE),
            _step("add ε", WIDE, to=WIDE),
            _step("step weights", WIDE, WIDE, WIDE, to=WIDE, flop=3),
        ),
        (WIDE,) * 4,
        (WIDE,) * 3,
        "Loshchilov, Hutter 2019; weights, gradient and both moments in FP32",
    ),
    "relu-squared": _norm(
        "ReLU, square", (_step("ReLU", X), _step("square", X)), f"{LIGER}/benchmark_relu_squared.py"
    ),
    "rms-norm-wide-weight": _norm(
        "RMSNorm with an FP32 weight",
        (_upcast(), *_RMS_INNER, _downcast(), _step("times weight", X, WIDE_ROW, to=WIDE)),
        f"{LIGER}/benchmark_rms_norm.py: the weight is FP32, and so is the result of the last step",
    ),
    "add-rms-norm-upcast": Chain(
        "Residual add, RMSNorm, all in FP32",
        (
            _upcast("x to FP32"),
            _upcast("residual to FP32"),
            _step("add", WIDE, WIDE, to=WIDE),
            *_RMS_INNER,
            _downcast(),
            _step("times weight", X, WIDE_ROW, to=WIDE),
            _downcast("residual back"),
        ),
        (X, X),
        (X, X),
        f"{LIGER}/benchmark_fused_add_rms_norm.py: NaiveAddRMSNorm",
    ),
    "dyt": _norm(
        "Dynamic tanh",
        (
            _step("times α", X, WIDE_ROW, to=WIDE),
            _step("tanh", WIDE, to=WIDE),
            _step("times γ", WIDE, WIDE_ROW, to=WIDE),
        ),
        f"{LIGER}/benchmark_dyt.py: TorchDyT, parameters in FP32",
    ),
    "dyt-beta": _norm(
        "Dynamic tanh with β",
        (
            _step("times α", X, WIDE_ROW, to=WIDE),
            _step("tanh", WIDE, to=WIDE),
            _step("times γ", WIDE, WIDE_ROW, to=WIDE),
            _step("add β", WIDE, WIDE_ROW, to=WIDE),
        ),
        f"{LIGER}/benchmark_dyt.py: TorchDyT, parameters in FP32",
    ),
    "group-norm": _norm(
        "GroupNorm, written out", _LAYER_NORM, "its definition (Wu, He 2018), weights by channel"
    ),
    "tvd": Chain(
        "Total variation distance (FP32)",
        (
            _step("p minus q", WIDE, WIDE, to=WIDE),
            _step("absolute value", WIDE, to=WIDE),
            _step("halve", WIDE, to=WIDE),
            _step("sum", WIDE, to=None),
            *_per_row("divide by rows"),
        ),
        (WIDE, WIDE),
        (WIDE,),
        f"{LIGER}/benchmark_tvd.py: TorchTVDLoss; the fused kernel also writes the gradient",
    ),
    "kl-div": Chain(
        "KL divergence (FP32)",
        (
            _step("target times its log", WIDE, to=WIDE, flop=2),
            _step("target times input", WIDE, WIDE, to=WIDE),
            _step("subtract", WIDE, WIDE, to=WIDE),
            _step("sum", WIDE, to=None),
            *_per_row("divide by rows"),
        ),
        (WIDE, WIDE),
        (),
        f"{LIGER}/benchmark_kl_div.py: torch.nn.KLDivLoss",
    ),
    "jsd": Chain(
        "Jensen–Shannon divergence (FP32)",
        _JSD,
        (WIDE, WIDE),
        (WIDE,),
        f"{LIGER}/benchmark_jsd.py: TorchJSD; the fused kernel also writes the gradient",
    ),
}
