"""Writes a C++ class for each class of TensorRT's interface that vernier calls. The stand-in's own
classes are made of them: what is told is noted, what was set is what is got, all else is zero.

    make_standin.py INCLUDE_DIR OUT.h
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "trt_trace"))
import make_proxies  # noqa: E402  # the folder is no package

IMPLEMENTED = [*make_proxies.IMPLEMENTED, "RuntimeConfig", "SerializationConfig"]
PARSER = ["IParserError", "IParser"]
HEADERS = ("NvInferRuntimeBase.h", "NvInferRuntime.h", "NvInfer.h")


def write_function(function, out):
    returns, name, params, const, noexcept = function
    declared = ", ".join("%s %s" % pair for pair in params)
    given = [name for _, name in params]
    out.append("  %s %s(%s)%s%s override {" % (returns, name, declared, " const" if const else "",
                                               " noexcept" if noexcept else ""))
    noted = ", ".join([""] + given)
    if returns.endswith("&"):
        out.append("    Unforeseen(\"%s\");" % name)
    elif name.startswith("get"):
        out.append("    return Kept<%s>(\"%s\"%s);" % (returns, name[3:], noted))
    else:
        if not const:
            out.append("    Note(\"%s\"%s);" % (name, noted))
        if name.startswith("set") and given:
            key = ", ".join(["\"%s\"" % name[3:]] + given[:-1])
            out.append("    Keep(KeyOf(%s), %s);" % (key, given[-1]))
            if returns == "bool":
                out.append("    return true;")
        if returns not in ("void", "bool") or (returns == "bool" and not name.startswith("set")):
            out.append("    return %s{};" % ("decltype(this->%s(%s))" % (name, ", ".join(given))))
    if not given or returns.endswith("&"):
        out.append("")
    out.append("  }")


def write_class(name, base, body, out):
    out.append("class Noted%s : public %s, public Noted {\n public:" % (name, base))
    out.append("  Noted%s() : Noted(\"I%s\") {}" % (name, name))
    for function in make_proxies.functions(body):
        write_function(function, out)
    out.append("};")


def main(words):
    folder, target = pathlib.Path(words[1]), pathlib.Path(words[2])
    def read(name):
        text = make_proxies.without_comments((folder / name).read_text(encoding="utf-8"))
        return text.replace("TRT_NODISCARD", "").replace("TRT_DEPRECATED_ENUM", "")

    implementation, parser = read("NvInferImpl.h"), read("NvOnnxParser.h")
    bodies = {name: make_proxies.class_body(implementation, "V" + name) for name in IMPLEMENTED}
    direct = {name: make_proxies.class_body(parser, name).replace(
        "ErrorCode", "nvonnxparser::ErrorCode") for name in PARSER}
    out = ["// Written by make_standin.py.", "#pragma once", "", "namespace trt_standin {",
           "using namespace nvinfer1;", "using nvonnxparser::IParser;",
           "using nvonnxparser::IParserError;", "using nvonnxparser::OnnxParserFlag;",
           "using nvonnxparser::OnnxParserFlags;"]
    make_proxies.write_enums([*bodies.values(), "CalibrationAlgoType"], "\n".join(map(read, HEADERS)), out)
    out.append("}  // namespace trt_standin\n\n#include \"noted.h\"\n\nnamespace trt_standin {")
    for name, body in bodies.items():
        write_class(name, "apiv::V" + name, body, out)
    for name, body in direct.items():
        write_class(name[1:], name, body, out)
    out.append("}  // namespace trt_standin")
    target.write_text("\n".join(out) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv)
