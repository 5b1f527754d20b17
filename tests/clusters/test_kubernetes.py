"""The manifests of examples/clusters: valid for Kubernetes, and their commands make one record.

No pod is started: what Kubernetes sets, the index of a pod, is set here.
"""

import unittest

import kubernetes_validate
import yaml

from cluster_case import DIFFERS, ROOT, ClusterCase

FOLDER = ROOT / "examples/clusters"
# From the oldest that is still in use to the newest that the package knows.
VERSIONS = ("1.27", kubernetes_validate.latest_version())


def manifest(name):
    return yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))


def container(name):
    only, = manifest(name)["spec"]["template"]["spec"]["containers"]
    return only


class Kubernetes(ClusterCase):
    def test_manifests_are_valid(self):
        names = sorted(path.name for path in FOLDER.glob("*.yaml"))
        self.assertEqual(names, ["job.yaml", "merge.yaml"])
        for name in names:
            for version in VERSIONS:
                kubernetes_validate.validate(manifest(name), version, strict=True)

    def test_a_wrong_manifest_is_not(self):
        for key, value in (("completions", "eight"), ("completionMood", "Indexed")):
            wrong = manifest("job.yaml")
            wrong["spec"][key] = value
            with self.assertRaises(kubernetes_validate.ValidationError):
                kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)

    def test_pods_make_the_record_of_one_process(self):
        count = manifest("job.yaml")["spec"]["completions"]
        words = container("job.yaml")["command"]
        self.assertIn(f"auto/{count}", words)
        for index in range(count):
            self.expect_done(self.start([*words, "-qqqq"],
                                        env={"JOB_COMPLETION_INDEX": str(index)}))
        self.expect_done(self.start(container("merge.yaml")["command"]), DIFFERS)
        self.assertTrue((self.folder / "result.json").exists())
        self.expect_record_of_one_process(count)


if __name__ == "__main__":
    unittest.main()
