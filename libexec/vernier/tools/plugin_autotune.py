"""plugin autotune: which subgraphs to replace by plugins, so that TensorRT is fastest."""

import os
import tempfile
import time

from vernier_worker import wire

from plugin_patterns import matches, save_matches
from plugin_replacement import read_config, replace
from plugin_timing import Timing, check_model, load_extensions
from tool_kit import graphsurgeon, load_model, refuse, save_model, say, write_text


class Search:
    def __init__(self, options, timing, subgraphs):
        self.options, self.timing, self.subgraphs = options, timing, subgraphs
        self.folder = os.path.abspath(options.value("plugin_dir"))
        self.tried = 0

    def model_with(self, chosen):
        """The model with these subgraphs replaced: (plugin, instance) pairs."""
        gs = graphsurgeon("plugin autotune")
        graph = gs.import_onnx(load_model(self.options))
        plugins = {}
        for plugin, instance in chosen:
            entry = plugins.setdefault(plugin["name"], {**plugin, "instances": []})
            entry["instances"].append(instance)
        replace(graph, plugins.values(), self.folder)
        return gs.export_onnx(graph)

    def speed_of(self, chosen):
        """None where TensorRT does not take it."""
        import onnx
        self.tried += 1
        try:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "replaced.onnx")
                onnx.save(self.model_with(chosen), path)
                return self.timing.measure(path)
        except RuntimeError as error:
            say(f"Failed to test a combination: {error}", "W")
            return None

    def greedy(self, baseline):
        """One subgraph after the other: it is replaced where that is faster."""
        say(f"Starting greedy optimization with {len(self.subgraphs)} subgraph patterns")
        chosen, best = [], baseline
        for plugin, instance in self.subgraphs:
            name = f"{plugin['name']}_{plugin['instances'].index(instance)}"
            speed = self.speed_of(chosen + [(plugin, instance)])
            if speed is not None and speed.better_than(best):
                chosen, best = chosen + [(plugin, instance)], speed
                say(f"Decided to replace {name}: {speed}")
            else:
                say(f"Decided not to replace {name}: {best}")
        say(f"Final strategy: {len(chosen)} replacements")
        return chosen, best

    def exhaustive(self, baseline, most, threshold):
        """Every combination, up to `most` of them, until one is faster by the threshold."""
        count = min(2 ** len(self.subgraphs), most)
        say(f"Testing {count} replacement combinations")
        chosen, best = [], baseline
        for number in range(1, count):
            combination = [subgraph for bit, subgraph in enumerate(self.subgraphs)
                           if number >> bit & 1]
            speed = self.speed_of(combination)
            if speed is None or not speed.better_than(best):
                continue
            chosen, best = combination, speed
            say(f"New best strategy found (combination {number + 1}): {speed}")
            if (baseline.latency - best.latency) / baseline.latency > threshold:
                say("Performance threshold reached, stopping early", "V")
                break
        return chosen, best


def report(search, baseline, chosen, best, seconds):
    lines = ["TRT Plugin Operator Auto-tuning Report", "=" * 50, "",
             f"Optimization Time: {seconds:.2f}s",
             f"Total Combinations Tested: {search.tried}",
             f"Number of Engine Builds: {search.timing.builds}",
             f"Total Compilation Time: {search.timing.build_seconds:.2f}s", "",
             "Baseline Performance:", f"  {baseline}", "", "Best Performance:", f"  {best}"]
    if chosen:
        lines += ["", f"Best Strategy ({len(chosen)} replacements):"]
    for number, (plugin, instance) in enumerate(chosen, 1):
        lines += [f"  {number}. {plugin['op']} ({plugin['name']})",
                  f"     Inputs: {', '.join(instance['inputs']) or 'N/A'}",
                  f"     Outputs: {', '.join(instance['outputs']) or 'N/A'}"]
        if instance.get("attributes"):
            lines.append(f"     Attributes: {instance['attributes']}")
    return "\n".join(lines) + "\n"


def run(options):
    check_model(options.value("model_file"))
    load_extensions(options)
    if "load_config_yaml" in options:
        plugins = read_config(options.value("load_config_yaml"))
    else:
        plugins = matches(options)
        if "save_config_yaml" in options:
            save_matches(plugins, options.value("save_config_yaml") or "config.yaml")
    if "skip_autotuning" in options:
        return
    subgraphs = [(plugin, instance) for plugin in plugins for instance in plugin["instances"]]
    if not subgraphs:
        refuse("No optimization strategy found: no plugin matches a part of the model",
               wire.NOT_FOUND)
    start = time.perf_counter()
    timing = Timing(options)
    try:
        baseline = timing.measure(options.value("model_file"))
    except RuntimeError as error:
        refuse(f"the model as it is cannot be measured: {error}", wire.BACKEND)
    say(f"Baseline Performance (without plugin replacements): {baseline}")
    search = Search(options, timing, subgraphs)
    if options.value("autotune_mode", "greedy") == "greedy":
        chosen, best = search.greedy(baseline)
    else:
        chosen, best = search.exhaustive(baseline, options.number("max_combinations", 1000),
                                         float(options.value("threshold", "0.1")))
    timing.save_cache()
    if "report" in options:
        path = options.value("report")
        write_text(path, report(search, baseline, chosen, best, time.perf_counter() - start))
        say(f"Optimization report saved to: {path}")
    if not chosen:
        refuse("No optimization strategy found: the model is fastest as it is, and nothing was "
               "written", wire.NOT_FOUND)
    save_model(search.model_with(chosen), options.value("output"), options)
    say(f"Optimized model saved to: {options.value('output')}")
