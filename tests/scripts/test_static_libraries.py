"""scripts/static-libraries.sh, with programs that only seem to build, and where CMake looks."""

import unittest

from test_machine import ROOT, Case


class Archives(Case):
    def test_an_archive_from_elsewhere_is_refused(self):
        (self.root / "lib").mkdir()
        for name in ("lib/libz.a", "libz.a", "lib/libz.so"):
            (self.root / name).write_text("", encoding="utf-8")
        for name, code in (("lib/libz.a", 0), ("lib/libz.so", 1), ("lib/no.a", 1)):
            script = self.root / "try.cmake"
            script.write_text(f"include({ROOT}/cmake/StaticLibraries.cmake)\n"
                              f"vernier_require_static({self.root} {self.root}/{name} m)\n"
                              f"vernier_require_static({self.root}/lib {self.root}/lib/libz.a)\n",
                              encoding="utf-8")
            self.bash(f"cmake -P {script}", code=code)
        script.write_text(f"include({ROOT}/cmake/StaticLibraries.cmake)\n"
                          f"vernier_require_static({self.root}/lib {self.root}/libz.a)\n",
                          encoding="utf-8")
        self.assertRegex(self.bash(f"cmake -P {script}", code=1), r"is no\s+archive below")


class Built(Case):
    FILES = "lib/libz.a lib/libpng.a lib/libjpeg.a lib/libhwy.a"
    HEADERS = "include/zlib.h include/png.h include/jpeglib.h include/hwy/highway.h"

    def setUp(self):
        super().setUp()
        self.folder = self.project / ".deps" / "static"
        self.program("apt-get", """case "$*" in
  indextargets*) echo Packages http://mirror/ bookworm main ;;
  *source*) touch "${*: -1}_1.orig.tar.gz" ;;
esac\n""")
        self.program("tar", """[[ $1 == --version ]] && echo tar
printf '#!/bin/sh\\n' >"$4/configure"; chmod +x "$4/configure"\n""")
        self.program("make", f"""cd "$OLDPWD/.deps/static.new" 2>/dev/null || cd ..
mkdir -p root/lib root/include/hwy
for file in {self.FILES} {self.HEADERS}; do echo built >root/$file; done
echo "prefix=$PWD/root" >root/lib/z.pc\n""")
        self.program("cmake", "echo built\n")

    def test_what_is_there_stays_until_others_are_built(self):
        script = "scripts/static-libraries.sh"
        self.assertEqual(self.bash(script), f"{self.folder}/root\n")
        self.assertEqual((self.folder / "root/lib/z.pc").read_text(encoding="utf-8"),
                         f"prefix={self.folder}/root\n")
        self.assertEqual(self.bash(script), f"{self.folder}/root\n")
        damaged = self.folder / "root" / "lib" / "libz.a"
        damaged.write_text("damaged", encoding="utf-8")
        self.program("cmake", "echo it breaks; exit 1\n")
        said = self.bash(script, code=1)
        self.assertIn("static libraries: lib/libz.a missing or changed: built again, and the old "
                      "ones stay until then\n", said)
        self.assertIn("libpng1.6 does not build: it breaks; see ", said)
        self.assertEqual(damaged.read_text(encoding="utf-8"), "damaged")
        self.program("cmake", "echo built\n")
        self.bash(script)
        self.assertEqual(damaged.read_text(encoding="utf-8"), "built\n")
        self.assertEqual(sorted(path.name for path in self.folder.parent.glob("static*")),
                         ["static"])

    def test_no_source(self):
        self.program("apt-get", """case "$*" in
  indextargets*) echo Packages http://mirror/ bookworm main ;;
  *) echo "Temporary failure resolving 'mirror'" >&2; exit 1 ;;
esac\n""")
        self.assertIn("no source of the package 'zlib' on this machine's mirrors: its server "
                      "cannot be reached; when there is a network, type "
                      "scripts/static-libraries.sh again",
                      self.one_line("scripts/static-libraries.sh"))


if __name__ == "__main__":
    unittest.main()
