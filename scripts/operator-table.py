#!/usr/bin/env python3
"""Writes src/lint/operators.txt: what ONNX's operators take and give, from the onnx package.

Usage: operator-table.py [--check]   with a Python that has onnx and onnxruntime (.deps/peer/bin/python)

--check compares instead and exits 1 on a difference. onnxruntime adds the names of its own
operators (com.microsoft); without it, those that the file has are kept.
"""

import pathlib
import re
import sys

from command_line import begin

begin(__doc__, "onnx")

import onnx  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402

TABLE = pathlib.Path(__file__).parents[1] / "src" / "lint" / "operators.txt"
OWN_DOMAIN = "com.microsoft"
OTHER_KINDS = 1 << 31  # sequences, maps, optionals, sparse tensors

HEAD = """\
# ONNX's operators. Made by scripts/operator-table.py: do not edit.
# ir VERSION; domain NAME NEWEST-OPSET, then its operators, one line a version:
# NAME SINCE INPUTS OUTPUTS INPUT-TYPES OUTPUT-TYPES TYPES ATTRIBUTES
# INPUTS, OUTPUTS: least-most, or "least-" without a limit. *-TYPES: for each place an index into TYPES,
# with ? where it may be left out, * where it repeats with one type, + with any. TYPES: NAME:BITS in
# hexadecimal, a bit for each TensorProto.DataType, bit 31 for what is no tensor. ATTRIBUTES: NAME=TYPE
# (AttributeProto.AttributeType), with ! where it is required. "deprecated" instead of all that ends an
# operator. "known" lines: operators of which only the name is known.
"""

TENSOR_TYPES = {helper.tensor_dtype_to_string(number).replace("TensorProto.", "").lower(): number
                for number in TensorProto.DataType.values() if number}


def bits(types):
    found = 0
    for text in types:
        tensor = re.fullmatch(r"tensor\((\w+)\)", text)
        found |= 1 << TENSOR_TYPES[tensor.group(1)] if tensor else OTHER_KINDS
    return found


def places(params, constraints):
    """The types of inputs or outputs; adds concrete ones to the constraints."""
    words = []
    for param in params:
        if param.type_str not in constraints:
            constraints[param.type_str] = bits([param.type_str])
        option = param.option
        kinds = onnx.defs.OpSchema.FormalParameterOption
        mark = "?" if option == kinds.Optional else ""
        if option == kinds.Variadic:
            mark = "*" if param.is_homogeneous else "+"
        words.append(f"{list(constraints).index(param.type_str)}{mark}")
    return ",".join(words) or "-"


def limits(least, most):
    return f"{least}-{most if most < 2**31 - 1 else ''}"


def row(schema):
    if schema.deprecated:
        return f"{schema.name} {schema.since_version} deprecated"
    constraints = {c.type_param_str: bits(c.allowed_type_strs) for c in schema.type_constraints}
    inputs = places(schema.inputs, constraints)
    outputs = places(schema.outputs, constraints)
    types = ",".join(f"{re.sub('[(),]', '_', name)}:{mask:x}" for name, mask in constraints.items())
    attributes = ",".join(f"{name}={int(attribute.type)}{'!' if attribute.required else ''}"
                          for name, attribute in sorted(schema.attributes.items()))
    return (f"{schema.name} {schema.since_version} {limits(schema.min_input, schema.max_input)} "
            f"{limits(schema.min_output, schema.max_output)} {inputs} {outputs} {types or '-'} "
            f"{attributes or '-'}")


def own_operators():
    try:
        from onnxruntime.capi import onnxruntime_pybind11_state as state
    except ImportError:
        lines = TABLE.read_text().splitlines() if TABLE.exists() else []
        return [line.split()[1] for line in lines if line.startswith("known ")]
    return sorted({schema.name for schema in state.get_all_operator_schema()
                   if schema.domain == OWN_DOMAIN})


def table():
    lines = [f"ir {onnx.IR_VERSION}"]
    schemas = onnx.defs.get_all_schemas_with_history()
    newest = {}
    for schema in schemas:
        newest[schema.domain] = max(newest.get(schema.domain, 0), schema.since_version)
    newest[""] = onnx.defs.onnx_opset_version()
    for domain in sorted(newest):
        lines.append(f"domain {domain or 'ai.onnx'} {newest[domain]}")
        mine = [schema for schema in schemas if schema.domain == domain]
        lines += [row(s) for s in sorted(mine, key=lambda s: (s.name, s.since_version))]
    lines.append(f"domain {OWN_DOMAIN} 1")
    lines += [f"known {name}" for name in own_operators()]
    return HEAD + "\n".join(lines) + "\n"


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__.strip())
    made = table()
    if not sys.argv[1:]:
        TABLE.write_text(made)
        return 0
    if made == TABLE.read_text():
        return 0
    print(f"{TABLE} is not what this onnx package says; run scripts/operator-table.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
