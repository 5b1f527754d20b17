#include "vernier/framework_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace vernier {
namespace {

namespace fs = std::filesystem;

// A folder of its own for each test, gone afterwards.
class FrameworkLibrary : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "framework-library-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string MakeLibrary(const fs::path& folder) {
    fs::create_directories(folder);
    const fs::path file = folder / "libexample.so.2.1";
    std::ofstream(file) << "not loaded here";
    return file.string();
  }

  sdk::LibrarySearch search_ = {
      .framework = "Example",
      .install_hint = "pip install example",
      .option = "--example-lib",
      .root_variable = "VERNIER_TEST_EXAMPLE_ROOT",
      .root_dirs = {"runtime/lib"},
      .python_dirs = {"example/capi"},
      .stem = "libexample",
      .system_names = {},
  };
  fs::path root_;
};

TEST_F(FrameworkLibrary, IsFoundWhereverPeoplePointTo) {
  for (const char* below : {"lib", "lib64", "runtime/lib", "capi", "example/capi",
                            "lib/python3.11/site-packages/example/capi"}) {
    SCOPED_TRACE(below);
    const fs::path place = root_ / std::to_string(std::hash<std::string>()(below));
    const std::string library = MakeLibrary(place / below);
    EXPECT_THAT(sdk::LibraryCandidates(search_, place.string()), testing::Contains(library));
  }
}

TEST_F(FrameworkLibrary, MayBeAnExtensionModuleOfPython) {
  const fs::path package = root_ / "lib" / "python3.11" / "site-packages" / "example" / "capi";
  fs::create_directories(package);
  search_.stem = "example";
  for (const char* other : {"example.cpython-311-x86_64-linux-gnu.txt", "example_core.abi3.so"}) {
    std::ofstream(package / other) << "another file";
  }
  EXPECT_THAT(sdk::LibraryCandidates(search_, root_.string()), testing::IsEmpty());
  for (const char* name : {"example.cpython-311-x86_64-linux-gnu.so", "example.abi3.so"}) {
    const fs::path module = package / name;
    std::ofstream(module) << "not loaded here";
    EXPECT_THAT(sdk::LibraryCandidates(search_, root_.string()),
                testing::ElementsAre(module.string()));
    fs::remove(module);
  }
}

TEST_F(FrameworkLibrary, ThatWasAskedForByNameHasNoSubstitute) {
  const std::string library = MakeLibrary(root_ / "lib");
  ::setenv(search_.root_variable.c_str(), root_.c_str(), 1);
  EXPECT_THAT(sdk::LibraryCandidates(search_, ""), testing::Contains(library));
  EXPECT_THAT(sdk::LibraryCandidates(search_, (root_ / "elsewhere").string()), testing::IsEmpty());
  ::unsetenv(search_.root_variable.c_str());
}

TEST_F(FrameworkLibrary, IsMissedInAWheelThatHasNone) {
  const fs::path site = root_ / "lib" / "python3.11" / "site-packages";
  fs::create_directories(site / "example" / "capi");
  std::ofstream(site / "example" / "__init__.py")
      << "\"\"\"Words\"\"\"\n__version__ = \"1.17.3\"\n";
  const Status named = sdk::LoadFrameworkLibrary(search_, root_.string()).status();
  EXPECT_EQ(named.code(), StatusCode::kUnavailable);
  EXPECT_EQ(named.message(),
            "found example 1.17.3 at '" + (site / "example").string() +
                "', which has no libexample.so to load, as old wheels have none; "
                "`pip install example --upgrade` there brings one, and --model-runner SCRIPT.py "
                "--python INTERPRETER runs what is there, as docs/python-scripts.md shows "
                "(--example-lib)");
  for (const char* own : {"example", "example/capi", "example/capi/"}) {
    const Status of_wheel = sdk::LoadFrameworkLibrary(search_, (site / own).string()).status();
    EXPECT_EQ(of_wheel.message(), named.message()) << own;
  }
  ::setenv("VIRTUAL_ENV", root_.c_str(), 1);
  const Status found = sdk::LoadFrameworkLibrary(search_, "").status();
  ::unsetenv("VIRTUAL_ENV");
  EXPECT_EQ(found.message().rfind("Example: found example 1.17.3 at '", 0), 0u) << found.message();

  MakeLibrary(site / "example" / "capi");
  EXPECT_EQ(sdk::WheelWithoutLibrary(search_, {site}), "");
  EXPECT_EQ(sdk::WheelWithoutLibrary(search_, {root_ / "nowhere"}), "");
}

}  // namespace
}  // namespace vernier
