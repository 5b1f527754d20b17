"""Writes C++ stand-ins for the classes of TensorRT's interface that vernier calls: each function
writes itself down, or looks up what was written down (traced_call.h).

    make_proxies.py INCLUDE_DIR OUT.h

The headers of 8.5 keep what really crosses the library's boundary in NvInferImpl.h: a class VName of
pure virtual functions for each class IName, which forwards to it. The ONNX parser's classes are pure
virtual themselves.
"""

import pathlib
import re
import sys

# Of NvInferImpl.h; ILayer calls its implementation mLayer.
IMPLEMENTED = ["HostMemory", "Runtime", "OptimizationProfile", "CudaEngine", "ExecutionContext",
               "EngineInspector", "Tensor", "Layer", "NetworkDefinition", "TimingCache",
               "BuilderConfig", "Builder"]
DIRECT = ["IParserError", "IParser"]
# They make something, or change nothing: whatever `const` says of them.
MAKES = ("create", "serialize")
ASKS = ("get", "is")

FUNCTION = re.compile(r"virtual\s+(?P<type>[\w:&*\s]+?[\s&*])(?P<name>\w+)\(\s*(?P<params>[^()]*)\)\s*"
                      r"(?P<const>const)?\s*(?P<noexcept>noexcept)?\s*=\s*0\s*;")
PARAMETER = re.compile(r"^(?P<type>.*?)(?P<name>\w+)?$", re.S)
KNOWN_TYPES = {"IProfiler"}  # parameters of this type have no name


def without_comments(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def class_body(text, name):
    start = re.search(r"class\s+%s\b[^;{]*\{" % name, text)
    depth, place = 1, start.end()
    while depth:
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        place += 1
    return text[start.end():place - 1]


def parameters(text):
    result = []
    for i, part in enumerate(p.strip() for p in text.split(",") if p.strip()):
        part = re.sub(r"\s*=\s*\w+$", "", part)  # a default
        found = PARAMETER.match(part)
        kind, name = found["type"].strip(), found["name"]
        if not kind or name in KNOWN_TYPES or kind.endswith("::"):
            kind, name = part, None
        result.append((kind, name or "argument%d" % i))
    return result


def functions(body):
    for found in FUNCTION.finditer(body):
        returns = re.sub(r"\s+", " ", found["type"].replace("TRT_DEPRECATED", "")).strip()
        yield returns, found["name"], parameters(found["params"]), found["const"], found["noexcept"]


def shown(params):
    """The arguments as they are written down."""
    texts, previous = [], ""
    for kind, name in params:
        if "size_t" in kind and previous == "void const*":
            texts.append("ByteCount{%s}" % name)  # of a file: another one has another size
        elif name == "nbValues" and previous == "int32_t const*":
            texts[-1] = "std::span<const int32_t>(%s, static_cast<size_t>(nbValues))" % texts[-1]
        else:
            texts.append(name)
        previous = kind
    return "".join(", " + text for text in texts)


def write_function(function, out):
    returns, name, params, const, noexcept = function
    asks = name.startswith(ASKS) or (const and not name.startswith(MAKES))
    declared = ", ".join("%s %s" % pair for pair in params)
    given = ", ".join(("RealAllocator(%s)" if "IOutputAllocator" in kind else "Real(%s)") % name
                      for kind, name in params)
    out.append("  %s %s(%s)%s%s override {" % (returns, name, declared, " const" if const else "",
                                               " noexcept" if noexcept else ""))
    if name == "setOutputAllocator":
        out.append("    KeepAllocator(tensorName, outputAllocator);")
    reference = returns.endswith("&")
    kept = returns[:-1] + "*" if reference else returns
    out.append("    %s%sCall<%s>(id_, \"%s\", Kind::%s, [&]() -> decltype(auto) { return %s"
               "real_->%s(%s)%s; }%s);" %
               ("" if returns == "void" else "return ", "*" if reference else "", kept, name,
                "kAsk" if asks else "kCall", "(&" if reference else "", name, given,
                ")" if reference else "", shown(params)))
    out.append("  }")


def write_implemented(name, body, out):
    member = "mLayer" if name == "Layer" else "mImpl"
    out.append("class Proxy%s final : public apiv::V%s {\n public:" % (name, name))
    out.append("  Proxy%s(const std::string& id, I%s* real)\n      : id_(id), real_(real == nullptr "
               "? nullptr : Peek::Of(real)) {}" % (name, name))
    for function in functions(body):
        write_function(function, out)
    out.append(" private:\n  struct Peek : I%s {\n    static apiv::V%s* Of(I%s* object) { return "
               "object->*(&Peek::%s); }\n  };" % (name, name, name, member))
    out.append("  const std::string& id_;\n  apiv::V%s* real_;\n};" % name)
    out.append("template <>\nclass Traced<I%s> final : public I%s {\n public:" % (name, name))
    out.append("  Traced(std::string id, I%s* real)\n      : id_(std::move(id)), real_(real), "
               "proxy_(id_, real) {\n    %s = &proxy_;\n  }" % (name, member))
    if name != "Tensor" and name != "Layer" and name != "OptimizationProfile":
        out.append("  ~Traced() noexcept override {\n    Forget(this, real_);\n    delete real_;\n  }")
    out.append("  const std::string& id() const { return id_; }\n  I%s* real() const { return real_; "
               "}\n\n private:\n  const std::string id_;\n  I%s* real_;\n  Proxy%s proxy_;\n};"
               % (name, name, name))


def write_direct(name, body, out):
    full = "nvonnxparser::" + name
    out.append("template <>\nclass Traced<%s> final : public %s {\n public:" % (full, full))
    out.append("  Traced(std::string id, %s* real) : id_(std::move(id)), real_(real) {}" % full)
    if name == "IParser":
        out.append("  ~Traced() noexcept override {\n    Forget(this, real_);\n    delete real_;\n  }")
    for function in functions(body):
        write_function(function, out)
    out.append("  const std::string& id() const { return id_; }\n  %s* real() const { return real_; "
               "}\n\n private:\n  const std::string id_;\n  %s* real_;\n};" % (full, full))


def enumerators(headers):
    """The enumerators of each enumeration at the namespace's level."""
    found = {}
    for match in re.finditer(r"enum\s+class\s+(\w+)\s*:\s*\w+\s*\{([^}]*)\}", headers):
        names = [re.match(r"\s*(\w+)", part) for part in match[2].split(",")]
        found[match[1]] = [name[1] for name in names if name]
    return found


def write_enums(bodies, headers, out):
    used = set(re.findall(r"\w+", " ".join(bodies)))
    for name, values in enumerators(headers).items():
        if name not in used or name in ("Severity", "ErrorCode"):  # not of this namespace
            continue
        out.append("inline constexpr std::pair<std::string_view, %s> k%sNames[] = {" % (name, name))
        out.extend("    {\"%s\", %s::%s}," % (value, name, value) for value in values)
        out.append("};\ninline std::span<const std::pair<std::string_view, %s>> NamesOf(%s) { return "
                   "k%sNames; }" % (name, name, name))


def main(words):
    folder, target = pathlib.Path(words[1]), pathlib.Path(words[2])
    read = lambda name: without_comments((folder / name).read_text(encoding="utf-8"))
    implementation, parser = read("NvInferImpl.h"), read("NvOnnxParser.h")
    headers = "\n".join(read(name) for name in ("NvInferRuntimeCommon.h", "NvInferRuntime.h",
                                                 "NvInfer.h"))
    bodies = {name: class_body(implementation, "V" + name) for name in IMPLEMENTED}
    direct = {name: class_body(parser, name).replace("ErrorCode", "nvonnxparser::ErrorCode")
              for name in DIRECT}
    out = ["// Written by make_proxies.py.", "#pragma once", "", "namespace vernier::trace {",
           "using namespace nvinfer1;", "using nvonnxparser::IParser;",
           "using nvonnxparser::IParserError;"]
    write_enums([*bodies.values(), *direct.values()], headers, out)
    for name in ["I" + name for name in IMPLEMENTED] + DIRECT:
        out.append("template <>\ninline constexpr std::string_view kNameOf<%s> = \"%s\";"
                   % (name, name))
    for name in ["I" + name for name in IMPLEMENTED] + DIRECT:
        out.append("template <>\nclass Traced<%s>;" % name)
    out.append("}  // namespace vernier::trace\n")
    out.append("#include \"traced_call.h\"\n\nnamespace vernier::trace {")
    for name, body in bodies.items():
        write_implemented(name, body, out)
    for name, body in direct.items():
        write_direct(name, body, out)
    out.append("}  // namespace vernier::trace")
    target.write_text("\n".join(out) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
