"""Vectors of 16 numbers for kernels, which one processor instruction or a few compute together (SIMD).

LLVM can vectorise plain loops, but only after checks at run time that arrays do not overlap. For loops over 16 numbers these
checks take longer than the work. So this module adds types of vectors to Numba. A kernel loads a row of an array with 16
columns, computes with the operators `+ - * & | ^ << >> < >`, and stores the result:

    store(rows, 0, load(rows, 0) + 2.0 * load(rows, 1))

A scalar operand applies to every lane. Both operands need the same type of number, and there are no implicit conversions
between lanes of different types. The results do not depend on the vector instructions that the processor has.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.imputils import lower_builtin, lower_cast
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, register_model

from dagneal.base.kernels import kernel_with_arrays

LANES = 16
_ALIGNMENT = 64  # bytes; a cache line, and the widest vector of current processors


class LaneType(types.Type):  # type: ignore[misc]
    """The Numba type of a vector.

    Args:
        element: Numba type of the numbers in the lanes; boolean for masks.
    """

    def __init__(self, element: Any) -> None:
        self.element = element
        super().__init__(name=f"{LANES} x {element}")


def _llvm(element: Any) -> Any:
    """Return the LLVM type of a vector."""
    kinds = {types.float64: ir.DoubleType(), types.float32: ir.FloatType(), types.boolean: ir.IntType(1)}
    return ir.VectorType(kinds[element] if element in kinds else ir.IntType(element.bitwidth), LANES)


@register_model(LaneType)
class _LaneModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, lanes: LaneType) -> None:
        super().__init__(manager, lanes, _llvm(lanes.element))


@lower_cast(types.Number, LaneType)  # type: ignore[untyped-decorator]
def _broadcast(context: Any, builder: Any, given: Any, lanes: LaneType, value: Any) -> Any:
    """Return a vector with the same number in every lane."""
    scalar = context.cast(builder, value, given, lanes.element)
    empty = ir.Constant(_llvm(lanes.element), ir.Undefined)
    first = builder.insert_element(empty, scalar, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES))


def _define(operation: Any, build: Callable[[Any, LaneType, Any, Any], Any], compares: bool = False) -> None:
    """Define an operator for two vectors, or for a vector and a scalar.

    Args:
        operation: function of the module `operator`.
        build: function that builds the LLVM instruction from a builder, the type, and both operands.
        compares: whether the result is a mask.
    """

    @infer_global(operation)
    class _Operator(AbstractTemplate):  # type: ignore[misc]
        def generic(self, arguments: Any, keywords: Any) -> Any:
            lanes = [argument for argument in arguments if isinstance(argument, LaneType)]
            others = [argument for argument in arguments if not isinstance(argument, LaneType | types.Number)]
            if not lanes or others or len(set(lanes)) > 1:
                return None
            return signature(LaneType(types.boolean) if compares else lanes[0], lanes[0], lanes[0])

    @lower_builtin(operation, LaneType, LaneType)  # type: ignore[untyped-decorator]
    def lower(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return build(builder, sig.args[0], *arguments)


def _arithmetic(name: str) -> Callable[[Any, LaneType, Any, Any], Any]:
    def build(builder: Any, lanes: LaneType, left: Any, right: Any) -> Any:
        return getattr(builder, f"f{name}" if isinstance(lanes.element, types.Float) else name)(left, right)

    return build


def _bitwise(name: str) -> Callable[[Any, LaneType, Any, Any], Any]:
    return lambda builder, lanes, left, right: getattr(builder, name)(left, right)


def _comparison(sign: str) -> Callable[[Any, LaneType, Any, Any], Any]:
    return lambda builder, lanes, left, right: builder.fcmp_ordered(sign, left, right)


for _operation, _name in ((operator.add, "add"), (operator.sub, "sub"), (operator.mul, "mul")):
    _define(_operation, _arithmetic(_name))
for _operation, _name in (
    (operator.and_, "and_"),
    (operator.or_, "or_"),
    (operator.xor, "xor"),
    (operator.lshift, "shl"),
    (operator.rshift, "lshr"),
):
    _define(_operation, _bitwise(_name))
for _operation, _name in ((operator.lt, "<"), (operator.gt, ">")):
    _define(_operation, _comparison(_name), compares=True)


def _row(context: Any, builder: Any, kind: Any, array: Any, row: Any) -> tuple[Any, int]:
    """Return a pointer to a row of an array as a vector, and its alignment in bytes."""
    data = context.make_array(kind)(context, builder, array).data
    vector = _llvm(kind.dtype)
    pointer = builder.gep(data, [builder.mul(row, ir.Constant(row.type, LANES))])
    return builder.bitcast(pointer, vector.as_pointer()), min(LANES * kind.dtype.bitwidth // 8, _ALIGNMENT)


@intrinsic  # type: ignore[untyped-decorator]
def load(_: Any, array: Any, row: Any) -> Any:
    """Return a row of an array that `lane_rows` returned."""

    def build(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        pointer, alignment = _row(context, builder, sig.args[0], *arguments)
        return builder.load(pointer, align=alignment)

    return LaneType(array.dtype)(array, types.int64), build


@intrinsic  # type: ignore[untyped-decorator]
def store(_: Any, array: Any, row: Any, lanes: Any) -> Any:
    """Write lanes, or one number for all lanes, into a row of an array that `lane_rows` returned."""

    def build(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        pointer, alignment = _row(context, builder, sig.args[0], *arguments[:2])
        builder.store(arguments[2], pointer, align=alignment)
        return context.get_dummy_value()

    return types.void(array, types.int64, LaneType(array.dtype)), build


@intrinsic  # type: ignore[untyped-decorator]
def multiply_add(_: Any, left: Any, right: Any, term: Any) -> Any:
    """Return left * right + term, rounded only once. Scalars apply to every lane."""
    lanes = next(kind for kind in (left, right, term) if isinstance(kind, LaneType))

    def build(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        vector = _llvm(lanes.element)
        name = f"llvm.fma.v{LANES}f{lanes.element.bitwidth}"
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(vector, [vector] * 3), name)
        return builder.call(function, arguments)

    return lanes(lanes, lanes, lanes), build


@intrinsic  # type: ignore[untyped-decorator]
def any_lane(_: Any, mask: Any) -> Any:
    """Return whether a mask is True in any lane."""

    def build(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        bits = builder.bitcast(arguments[0], ir.IntType(LANES))
        return builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    return types.boolean(mask), build


@intrinsic  # type: ignore[untyped-decorator]
def keep(_: Any, mask: Any, lanes: Any) -> Any:
    """Return lanes, with 0 instead of their values if the mask is False."""

    def build(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return builder.select(*arguments, cgutils.get_null_value(arguments[1].type))

    return lanes(mask, lanes), build


@intrinsic  # type: ignore[untyped-decorator]
def convert(_: Any, lanes: Any, kind: Any) -> Any:
    """Return 32-bit lanes converted to `kind`: integers below 2^31 to `np.float32`, or `np.float32` to `np.float64`."""
    target = kind.instance_type

    def build(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        change = builder.sitofp if isinstance(sig.args[0].element, types.Integer) else builder.fpext
        return change(arguments[0], _llvm(target))

    return LaneType(target)(lanes, kind), build


@intrinsic  # type: ignore[untyped-decorator]
def reinterpret(_: Any, lanes: Any, kind: Any) -> Any:
    """Return lanes with the same bits as numbers of the type `kind`."""
    target = kind.instance_type

    def build(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], _llvm(target))

    return LaneType(target)(lanes, kind), build


@kernel_with_arrays
def lane_rows(rows: int, kind: Any) -> Any:
    """Return an array of zeros with one vector per row, which begins at a cache line.

    Args:
        rows: number of rows.
        kind: type of the numbers, such as `np.float64`.
    """
    buffer = np.zeros((rows + 1) * LANES, kind)
    gap = (-buffer.ctypes.data % _ALIGNMENT) // buffer.itemsize
    return buffer[gap : gap + rows * LANES].reshape(rows, LANES)
