"""--torch: TorchScript and torch.export models, by the user's own torch.

Nothing is unpickled: a file of neither kind is refused.
"""

import zipfile

import torch


def _kind(path):
    """"script", "export", or None: by the members of the archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return None
    ends = {name.rsplit("/", 1)[-1] for name in names}
    if "constants.pkl" in ends and any("/code/" in name for name in names):
        return "script"
    is_export = any("serialized_exported_program" in n or "models/" in n for n in names)
    return "export" if is_export else None


class TorchModel:
    """One module, called with its inputs by name where the feed has the names, else in order."""

    def __init__(self, module, input_names, output_names):
        self.module = module
        self.input_names = input_names
        self.output_names = output_names
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.module.to(self.device)

    def infer(self, feed):
        if all(name in feed for name in self.input_names):
            arrays = [feed[name] for name in self.input_names]
        elif len(feed) == len(self.input_names):
            arrays = list(feed.values())
        else:
            raise ValueError(f"the model takes {self.input_names}, and the feed has {list(feed)}")
        inputs = [torch.from_numpy(array).to(self.device) for array in arrays]
        with torch.inference_mode():
            results = self.module(*inputs)
        if isinstance(results, dict):
            return results
        results = list(results) if isinstance(results, (tuple, list)) else [results]
        names = self.output_names
        if len(names) != len(results):
            names = [f"output_{i}" for i in range(len(results))]
        return dict(zip(names, results))


def load(model_path):
    """TorchScript, or a saved torch.export program."""
    kind = _kind(model_path)
    if kind == "script":
        module = torch.jit.load(model_path, map_location="cpu").eval()
        arguments = module.forward.schema.arguments[1:]  # without self
        return TorchModel(module, [argument.name for argument in arguments], [])
    if kind == "export":
        program = torch.export.load(model_path)
        signature = program.graph_signature
        return TorchModel(program.module(), list(signature.user_inputs),
                          list(signature.user_outputs))
    raise ValueError(f"'{model_path}' is neither TorchScript nor a torch.export program; write "
                     "one with torch.jit.script or torch.export.save")
