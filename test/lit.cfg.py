# lit configuration: FileCheck tests over the tools in the build folder.
import os
import sys
import lit.formats

config.name = "zero"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["golden", "models", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.zero_build_dir, "test")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.zero_build_dir, "bin"), config.llvm_tools_dir, os.environ["PATH"]])
config.substitutions.append(("%testdir", config.test_source_root))
config.substitutions.append(("%root", os.path.dirname(config.test_source_root)))
config.substitutions.append(("%python", sys.executable))
