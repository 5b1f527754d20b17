"""scripts/build-tools.sh: what of compilers and CMake is in the way is one sentence."""

import shutil
import unittest

from test_machine import ROOT, SCRIPTS, Case


class Compiler(Case):
    CHECK = "source scripts/build-tools.sh; check_compilers build"

    def compiler(self, name, first_line, version):
        self.program(name, f'case $1 in --version) echo "{first_line}" ;; '
                           f'-dump*version) echo {version} ;; *) touch "${{@: -1}}" ;; esac\n')

    def test_one_that_is_not_there(self):
        printed = self.one_line(self.CHECK, CXX="g++-99")
        self.assertIn("no compiler 'g++-99', which CXX names: type ", printed)

    def test_too_old(self):
        self.compiler("old-g++", "g++ (Debian) 11.4.0", "11.4.0")
        printed = self.one_line(self.CHECK, CXX="ccache old-g++ -m64")
        self.assertIn("old-g++ is g++ 11.4.0, and g++ 12 or newer is needed", printed)
        self.assertIn("CXX=g++-12 ", printed)
        self.compiler("old-clang", "Debian clang version 13.0.1", "13.0.1")
        printed = self.one_line(self.CHECK, CXX="old-clang")
        self.assertIn("clang++ 13.0.1, and clang++ 14 or newer is needed", printed)
        self.assertIn("CXX=clang++-14 ", printed)

    def test_new_enough_or_unknown(self):
        self.compiler("c++", "g++ (Debian) 12.2.0", "12.2.0")
        self.assertEqual(self.bash(self.CHECK), "")
        self.compiler("other", "another compiler", "")
        self.assertEqual(self.bash(self.CHECK, CXX="other"), "")

    def test_one_that_does_not_compile(self):
        printed = self.one_line(self.CHECK, CXX="false")
        self.assertIn("false does not make a program of one line (it makes no program, and its "
                      "exit code is 1): type apt-get install g++, then env --unset=CXX ",
                      printed)
        self.assertIn("its exit code is 0", self.one_line(self.CHECK, CXX="true"))
        self.program("broken", "echo; echo 'broken: error: no cc1plus' >&2; echo more; exit 4\n")
        self.assertIn("broken -m64 does not make a program of one line (broken: error: no "
                      "cc1plus)", self.one_line(self.CHECK, CXX="ccache broken -m64"))

    def test_one_of_c(self):
        for name, reason in (("nonesuch", "there is no compiler 'nonesuch', which CC names"),
                             ("true", "true does not make a program of one line (it makes no "
                                      "program, and its exit code is 0)")):
            self.assertTrue(self.one_line(self.CHECK, CC=name).startswith(
                reason + ": type apt-get install gcc, then env --unset=CC "))
        self.program("cc", "echo 'cc: error: no cc1' >&2; exit 1\n")
        self.assertIn("cc does not make a program of one line (cc: error: no cc1)",
                      self.one_line(self.CHECK))

    def test_flags_of_nonsense(self):
        for name, compiler, flags in (("CXXFLAGS", "c++", "-nonsense"),
                                      ("CFLAGS", "cc", "-nonsense"),
                                      ("LDFLAGS", "c++", "-lnosuchlib"), ("CXXFLAGS", "c++", "'")):
            said = self.one_line(self.CHECK, **{name: flags})
            self.assertTrue(said.startswith(f"with {name}='{flags}' {compiler} does not make a "
                                            "program of one line ("), said)
            self.assertTrue(said.endswith(f": type env --unset={name} bash\n"), said)
        for name, flags in (("CXXFLAGS", "-DA='b c' -g"), ("LDFLAGS", "-Wl,-O1"), ("CFLAGS", "-g")):
            self.assertEqual(self.bash(self.CHECK, **{name: flags}), "")
        # CMake has put those of the first configuration down.
        (self.project / "build").mkdir()
        (self.project / "build" / "CMakeCache.txt").touch()
        self.assertEqual(self.bash(self.CHECK, CXXFLAGS="-nonsense"), "")

    def test_one_that_a_configured_build_would_ignore(self):
        self.compiler("g++-a", "g++ (Debian) 12.2.0", "12.2.0")
        self.compiler("g++-b", "g++ (Debian) 13.3.0", "13.3.0")
        (self.project / "build").mkdir()
        (self.project / "build" / "CMakeCache.txt").write_text(
            f"CMAKE_CXX_COMPILER:FILEPATH={self.bin}/g++-a\n", encoding="utf-8")
        self.assertEqual(self.bash(self.CHECK, CXX="g++-a"), "")
        printed = self.one_line(self.CHECK, CXX="g++-b")
        self.assertIn(f"configured with {self.bin}/g++-a, and CXX says g++-b: type rm -r build",
                      printed)


class Ccache(Case):
    """cmake/CompilerLauncher.cmake."""

    def launcher(self, *options):
        words = " ".join((*options, "-DCMAKE_CXX_COMPILER=c++"))
        return self.bash(f"cmake {words} -P {ROOT}/cmake/CompilerLauncher.cmake")

    def ccache(self, body='exec "$@"', folder="$HOME"):
        self.program("ccache", f"if [[ $1 == --get-config ]]; then echo {folder}\n"
                               f"else {body}; fi\n")

    def test_one_that_works_calls_the_compilers(self):
        self.ccache()
        self.assertEqual(self.launcher(), f"-- compiled through {self.bin}/ccache\n")

    def test_another_launcher_or_none(self):
        self.ccache()
        given = "-DCMAKE_CXX_COMPILER_LAUNCHER="
        self.assertEqual(self.launcher(given + "sccache"), "-- compiled through sccache\n")
        self.assertEqual(self.launcher(given), "")

    def test_one_that_does_not_work_is_left_out(self):
        self.ccache("echo 'ccache: error: no' >&2; false")
        self.assertEqual(self.launcher(),
                         "-- ccache does not work (ccache: error: no): it is left out\n")

    def test_a_folder_that_cannot_be_made(self):
        self.ccache('[[ $CCACHE_DIR == "$PWD/ccache" ]] && "$@"', "/dev/null/ccache")
        printed = self.launcher()
        own = f"{self.project}/ccache"
        self.assertIn(f"ccache cannot write '/dev/null/ccache': it uses {own} instead\n", printed)
        self.assertTrue(printed.endswith(f"-E env CCACHE_DIR={own} {self.bin}/ccache\n"), printed)


class CMake(Case):
    CONFIGURE = "source scripts/stages.sh; configure_preset {}"

    def setUp(self):
        super().setUp()
        shutil.copy(ROOT / "CMakeLists.txt", self.project)
        self.program("cmake", 'echo cmake version 99.0; echo "$@" >>called\n')
        self.program("ninja", "")

    def test_what_a_first_configuration_left_is_forgotten(self):
        folder = self.project / "build" / "asan"
        cache, files = folder / "CMakeCache.txt", folder / "CMakeFiles" / "compiler"
        files.parent.mkdir(parents=True)
        for finished in (True, False):
            (folder / "build.ninja").touch() if finished else (folder / "build.ninja").unlink()
            cache.write_text(f"CMAKE_C_COMPILER:FILEPATH={shutil.which('cc')}\n", encoding="utf-8")
            files.touch()
            self.bash(self.CONFIGURE.format("asan"))
            self.assertEqual((cache.exists(), files.exists()), (finished, finished))

    def test_every_preset_is_configured_from_one_place(self):
        self.bash("source scripts/stages.sh; configure_preset tsan -DA=1; "
                  "configure_release -DB=2")
        called = (self.project / "called").read_text(encoding="utf-8").splitlines()
        self.assertEqual([line for line in called if "--preset" in line],
                         ["--preset tsan -DA=1", "--preset release -DB=2"])
        for script in SCRIPTS.glob("*.sh"):
            if script.name != "stages.sh":
                self.assertNotRegex(script.read_text(encoding="utf-8"),
                                    r"quietly \S+ cmake .*--preset")

    def test_one_that_is_too_old_or_does_not_run(self):
        shutil.copy(ROOT / "CMakeLists.txt", self.project)
        for text, what in (("echo cmake version 3.1.8", " is 3.1.8, and CMake "),
                           ("exit 0", " is no CMake that runs, and CMake ")):
            self.program("cmake", text + "\n")
            printed = self.one_line("source scripts/build-tools.sh; check_cmake")
            self.assertIn(f"{self.bin}/cmake{what}", printed)
            self.assertIn("newer is needed: type apt-get install cmake, or take this one out of "
                          "PATH", printed)
        self.program("cmake", "echo cmake version 99.0\n")
        self.program("ninja", "exit 1\n")
        printed = self.one_line("source scripts/build-tools.sh; check_cmake")
        self.assertIn(f"{self.bin}/ninja does not run: type apt-get install ninja-build", printed)


class Moved(Case):
    def test_a_build_folder_that_came_along(self):
        cache = self.project / "build" / "CMakeCache.txt"
        cache.parent.mkdir()
        for place in ("/elsewhere", str(self.project)):
            cache.write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={place}\n", encoding="utf-8")
            if place == "/elsewhere":
                said = self.one_line("source scripts/build-tools.sh; check_place build")
                self.assertIn("build was configured in /elsewhere, and this is ", said)
                self.assertIn("type rm -r build, then type bash again", said)
            else:
                self.bash("source scripts/build-tools.sh; check_place build; check_place nowhere")


if __name__ == "__main__":
    unittest.main()
