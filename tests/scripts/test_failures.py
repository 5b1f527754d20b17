"""scripts/failures.sh: a full disk, a network or a proxy that is in the way is one sentence."""

import shutil
import unittest

from test_machine import SCRIPTS, Case


class Disk(Case):
    # No file can get any contents, as on a full disk.
    FULL = "trap '' XFSZ; ulimit -f 0; "
    ROOM = (r"there is too little room: \d+ MB are free in {}, on the file system of /\S*, and {} "
            r"MB are needed: make room, then type bash again\n$")

    def test_a_command_fails_on_a_full_disk(self):
        printed = self.one_line("source scripts/stages.sh; " + self.FULL +
                                "quietly build/a.log bash -c 'echo it breaks; exit 1'")
        self.assertRegex(printed, self.ROOM.format(f"{self.project}/build", 250))
        printed = self.bash("source scripts/stages.sh; "
                            "quietly build/a.log bash -c 'echo it breaks; exit 1'", code=1)
        self.assertIn("it breaks", printed)
        self.assertNotIn("room", printed)

    def test_what_a_command_has_said_is_read_where_the_log_has_no_room(self):
        """By the time that it has failed, it has removed what it had written."""
        (self.project / "build").mkdir()
        (self.project / "build" / "a.log").symlink_to("/dev/full")
        for words in ("OSError: [Errno 28] No space left on device", "Disk quota exceeded",
                      "E: You do not have enough free space in /var/cache/apt/archives/."):
            self.program("fails", f'echo "{words}"; exit 1\n')
            said = self.one_line("source scripts/stages.sh; quietly build/a.log fails",
                                 TMPDIR="/nonesuch")
            self.assertRegex(said, self.ROOM.format(f"{self.project}/build", 250))

    def test_the_build_fails_on_a_full_disk(self):
        self.program("cmake", "echo '[ 10%] one'; echo '[ 50%] two'; exit 1\n")
        (self.project / "build").mkdir()
        printed = self.bash("source scripts/stages.sh; " + self.FULL + "build_release", code=1)
        self.assertEqual(printed.splitlines()[:3],
                         ["   0 % built", "   10 % built", "   50 % built"])
        self.assertRegex(printed.split("\n", 3)[3], self.ROOM.format(f"{self.project}/build", 250))

    def test_the_set_up_fails_on_a_full_disk(self):
        printed = self.one_line(
            "task=setup; source scripts/environments.sh; mkdir -p .deps/logs; " + self.FULL +
            "environment peer scripts/python-tests.txt Tests")
        self.assertRegex(printed, self.ROOM.format(f"{self.project}/.deps", r"3\d\d"))

    def test_packages_without_room(self):
        self.program("dpkg-query", "exit 1\n")
        self.program("id", "echo 0\n")
        self.program("apt-get", "echo 'E: You do not have enough free space'; exit 1\n")
        self.assertRegex(self.bash("task=setup; source scripts/environments.sh; lock_deps; "
                                   "install_packages scripts/apt-docs.txt Docs", code=1),
                         "(?s)Docs: installing .*" + self.ROOM.format("/usr", 300))

    def test_a_framework_without_room_is_not_passed_over(self):
        """--tolerant is for what this machine cannot have."""
        self.program("dpkg-query", "echo installed\n")
        said = self.bash("sed -i '/^lock_deps/i venv() { mkdir -p .deps/runtimes; "
                         ">.deps/runtimes/.installed; }; run_pip() { said=\"No space left on\"; "
                         "false; }' scripts/setup.sh; scripts/setup.sh --tolerant", code=1)
        self.assertEqual(len(said.splitlines()), 2, said)
        self.assertIn("there is too little room: ", said)

    def test_room_is_asked_for_what_is_missing_only(self):
        words = "source scripts/machine.sh; echo $(($(room_for_runtimes) + $(room_for_build)))"
        everything = int(self.bash(words))
        installed = self.project / ".deps" / "runtimes" / ".installed"
        installed.parent.mkdir(parents=True)
        shutil.copy(SCRIPTS / "python-runtimes.txt", installed)
        self.bash(f"sed -i '/^#/d' {installed}")
        fetched = int(self.bash(words))
        program = self.project / "build" / "release" / "bin" / "vernier"
        program.parent.mkdir(parents=True)
        shutil.copy("/bin/true", program)
        built = int(self.bash(words))
        self.assertGreater(everything, fetched)
        self.assertGreater(fetched, built)
        self.assertLessEqual(built, 50)
        self.assertRegex(
            self.one_line("source scripts/machine.sh; free_megabytes() { echo 40; }; check_room"),
            self.ROOM.format(f"{self.project}/build", built))

    def test_no_inodes(self):
        self.assertIn(" can hold no more files (no inodes are left): remove some, then type bash ",
                      self.bash("source scripts/machine.sh; has_no_files_left() { :; }; "
                                "say_no_room 5 ."))


class InTheWay(Case):
    LOCK = "task=setup; source scripts/environments.sh; lock_deps"

    def test_something_else_of_that_name(self):
        deps = self.project / ".deps"
        for name, make in (("lock", "mkdir"), ("lock", "mkfifo"), ("logs", "touch"),
                           ("", "touch")):
            with self.subTest(name=name, make=make):
                path = deps / name
                if name:
                    deps.mkdir(exist_ok=True)
                said = self.one_line(f"{make} {path}; {self.LOCK}")
                self.assertEqual(said, f"setup: error: {path} cannot be written: type rm -r "
                                       f"{path}, then type bash again\n")
                self.bash(f"rm -r .deps; {self.LOCK}; rm -r .deps")

    def test_two_at_once(self):
        self.bash("mkdir .deps")
        said = self.bash(f"flock .deps/lock sleep 1 & sleep 0.3; {self.LOCK}; wait")
        self.assertEqual(said, f"setup: another set-up is at work in {self.project}/.deps: waiting "
                               "for it\n")


class Proxy(Case):
    def said(self, words, **environment):
        return self.bash(f"source scripts/failures.sh; said={words!r}; "
                         'echo "$(reason)$(what_to_type a.log)"', **environment)

    def test_one_that_answers_or_not(self):
        pip = ('WARNING: Retrying after connection broken by "ProxyError(Cannot connect to proxy., '
               'OSError(Tunnel connection failed: 500 Internal Server Error))": /simple/a/')
        self.assertEqual(
            self.said(pip, https_proxy="http://me:secret@127.0.0.1:8955/"),
            "the proxy http://127.0.0.1:8955/ of https_proxy does not let it through: 500 Internal "
            "Server Error; mend or unset https_proxy, then type bash again\n")
        self.assertEqual(
            self.said(pip), "the proxy of its settings does not let it through: 500 Internal "
            "Server Error; mend or unset its settings, then type bash again\n")
        # apt and git name the address alone.
        for words, answer in (("E: Failed to fetch http://a/  500  Failed [IP: 127.0.0.1 8955]",
                               "500 Failed"),
                              ("Could not connect to 127.0.0.1:8955 - connect (111: Connection "
                               "refused)", "Connection refused"),
                              ("Failed to connect to 127.0.0.1 port 8955 after 0 ms", "no answer")):
            self.assertIn(f"of http_proxy does not let it through: {answer}; mend or unset ",
                          self.said(words, ALL_PROXY="http://other:1",
                                    http_proxy="http://127.0.0.1:8955"))

    def test_one_that_is_not_to_blame(self):
        lost = "Could not connect to 127.0.0.1:80: its server cannot be reached"
        for proxy in ("http://127.0.0.1:8", "http://proxy", "t", ""):
            self.assertEqual(self.said(lost, http_proxy=proxy),
                             "its server cannot be reached; when there is a network, type bash "
                             "again\n")


class Network(Case):
    def test_a_server_that_cannot_be_reached_is_no_missing_version(self):
        for last, reason, then in (
                ("WARNING: Retrying after connection broken by NewConnectionError",
                 "its server cannot be reached",
                 "; when there is a network, type bash again"),
                ("ERROR: wheel is not supported on this platform",
                 "ERROR: No matching distribution found for onnxruntime",
                 "; see a.log, then type bash again")):
            said = self.bash(f"source scripts/failures.sh; said='{last}\nERROR: No matching "
                             "distribution found for onnxruntime'; "
                             'echo "$(reason)$(what_to_type a.log)"')
            self.assertEqual(said, reason + then + "\n")


class Interrupted(Case):
    def test_the_set_up_does_not_go_on(self):
        """pip ends as it does when something cannot be had."""
        for name, code in (("INT", 130), ("TERM", 143), ("HUP", 129)):
            self.program("interrupted-pip", f"kill -{name} $PPID; exit 1\n")
            printed = self.bash("task=setup; source scripts/environments.sh; "
                                "interrupted-pip || step 'this backend is off'", code=code)
            self.assertEqual(printed, "setup: interrupted: type bash again, and it goes on where "
                                      "it was\n")

    def test_what_was_typed_is_told_once_with_its_words(self):
        (self.project / "scripts" / "setup.sh").write_text(
            "#!/bin/bash\nset -euo pipefail\nsource scripts/usage.sh\nsource scripts/failures.sh\n"
            "kill -INT $PPID $$\n", encoding="utf-8")
        self.assertEqual(self.bash("scripts/deps.sh --with 'lint, wheel'", code=130),
                         "deps: interrupted: type scripts/deps.sh --with lint\\,\\ wheel again, "
                         "and it goes on where it was\n")


if __name__ == "__main__":
    unittest.main()
