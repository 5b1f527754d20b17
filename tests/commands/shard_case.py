"""What tests of --shard share: all parts of a command, and the merged run against the whole one."""

import random

from program import Case

WHOLE = ["--reproducible", "--save-record", "whole.json", "--save-rows", "whole.jsonl"]


class ShardCase(Case):
    def part(self, number, count):
        return f"part.shard-{number:04}-of-{count:04}.json"

    def shards(self, words, count, rule="contiguous"):
        """The parts of all shards; each must have done its own iterations."""
        for number in range(1, count + 1):
            ended = self.vernier(*words, "--shard", f"{number}/{count}", "--shard-by", rule,
                                 "--shard-exit", "done", "--save-record", "part.json")
            self.assertEqual(ended.code, 0, ended.out + ended.err)
        return [self.part(number, count) for number in range(1, count + 1)]

    def merge(self, parts, *words):
        return self.vernier("merge", *parts, "-o", "merged.json", *words)

    def expect_whole(self, whole, parts):
        """The bytes and the exit code of the whole."""
        ended = self.merge(parts, "--reproducible", "--save-rows", "merged.jsonl")
        self.assertEqual(ended.code, whole.code, ended.out + ended.err + whole.out + whole.err)
        for kind in ("json", "jsonl"):
            self.assertEqual(self.path(f"merged.{kind}").read_text(),
                             self.path(f"whole.{kind}").read_text(), (kind, parts))

    def divide(self, words, *divisions, code):
        """The whole run, and every way of dividing it."""
        whole = self.vernier(*words, *WHOLE)
        self.assertEqual(whole.code, code, whole.out + whole.err)
        order = random.Random(4)
        for count, rule in divisions or ((1, "stride"), (2, "contiguous"), (3, "stride"),
                                         (7, "contiguous")):
            parts = self.shards(words, count, rule)
            order.shuffle(parts)
            self.expect_whole(whole, parts)
        return whole
