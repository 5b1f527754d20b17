"""plugin list and plugin match: where the patterns of plugins occur in a model.

A folder of plugins has a folder for each, with a pattern.py that defines
`get_matching_subgraphs(graph)` and `get_plugin_metadata()`.
"""

import glob
import os

from vernier_worker import scripts, wire

from tool_kit import graphsurgeon, load_model, need, refuse, say, write_text

PATTERN_FILE = "pattern.py"


def pattern_of(folder, plugin):
    return os.path.join(folder, plugin, PATTERN_FILE)


def plugins_in(options):
    """The folder, and the names of the plugins that are asked for, in their order."""
    folder = os.path.abspath(options.value("plugin_dir"))
    if not os.path.isdir(folder):
        refuse(f"--plugin-dir: there is no folder '{folder}'", wire.MALFORMED)
    names = sorted(os.path.basename(os.path.dirname(file))
                   for file in glob.glob(pattern_of(glob.escape(folder), "*")))
    for key, flag in (("include", "--include"), ("exclude", "--exclude")):
        for word in options.words(key):
            if word not in names:
                say(f"{flag}: there is no plugin '{word}' in '{folder}'; there are: "
                    f"{', '.join(names) or 'none'}", "W")
    if options.words("include"):
        names = [name for name in names if name in options.words("include")]
    return folder, [name for name in names if name not in options.words("exclude")]


def call(path, function, *arguments):
    """A function of a pattern.py; what it raises names it."""
    _, found = scripts.find(path, [function], f"'{path}'")
    with scripts.guard(f"'{path}:{function}'"):
        return found(*arguments)


def matches(options):
    """A list of what was found, as config.yaml has it, and how often each plugin matches."""
    folder, names = plugins_in(options)
    found, counts = [], dict.fromkeys(names, 0)
    for name in names:
        gs = graphsurgeon("looking for patterns of plugins")
        say(f"checking {name} in model")
        # A new graph for each: looking for a pattern may change it.
        graph = gs.import_onnx(load_model(options))
        instances = call(pattern_of(folder, name), "get_matching_subgraphs", graph)
        if not instances:
            continue
        metadata = call(pattern_of(folder, name), "get_plugin_metadata")
        for key in ("name", "op"):
            if key not in metadata:
                refuse(f"'{pattern_of(folder, name)}': get_plugin_metadata returns no '{key}'",
                       wire.MALFORMED)
        found.append({"name": metadata["name"], "op": metadata["op"], "instances": instances})
        counts[name] += len(instances)
    say("the following plugins matched:")
    say(str(counts))
    if not names:
        say("no plugin was looked for: the folder has no NAME/pattern.py that is asked for", "W")
    return found


def save_matches(found, path):
    yaml = need("yaml", "PyYAML", "writing config.yaml")
    write_text(path, yaml.dump_all(found, default_flow_style=False, sort_keys=False))
    say(f"Matching subgraphs saved to {path}")


def beside_model(options, name):
    return os.path.join(os.path.dirname(options.value("model_file")), name)


def run(options):
    found = matches(options)
    if "list" not in options:
        path = options.value("output") or os.path.abspath(beside_model(options, "config.yaml"))
        save_matches(found, path)
