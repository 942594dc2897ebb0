# Finds what Zero builds with, and says in one line each what is missing.

execute_process(COMMAND llvm-config-22 --prefix OUTPUT_VARIABLE ZERO_LLVM_PREFIX
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
find_package(MLIR CONFIG QUIET PATHS ${ZERO_LLVM_PREFIX}/lib/cmake/mlir ${MLIR_DIR})
if(NOT MLIR_FOUND)
  message(FATAL_ERROR "MLIR 22 was not found: install libmlir-22-dev and mlir-22-tools, or set MLIR_DIR")
endif()
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Zero needs LLVM 22, and MLIR_DIR leads to LLVM ${LLVM_VERSION}: install libmlir-22-dev, or set MLIR_DIR")
endif()
set(MLIR_LINK_MLIR_DYLIB ON)
set(LLVM_LINK_LLVM_DYLIB ON)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
set(ZERO_LLVM_TOOLS_DIR ${LLVM_TOOLS_BINARY_DIR})
set(ZERO_LIT ${LLVM_TOOLS_BINARY_DIR}/lit)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_INSTALL_PREFIX}")

find_package(GTest QUIET)
if(NOT GTest_FOUND)
  message(FATAL_ERROR "GoogleTest was not found: install libgtest-dev")
endif()
find_package(Threads REQUIRED)

# Optional backends are loaded at run time; here we only tell what this machine has.
find_path(ZERO_DNNL_INCLUDE dnnl.h)
find_library(ZERO_DNNL_LIBRARY dnnl)
if(ZERO_DNNL_INCLUDE AND ZERO_DNNL_LIBRARY)
  message(STATUS "oneDNN: ${ZERO_DNNL_LIBRARY} (measured against in bench/)")
else()
  message(STATUS "oneDNN: not found (libdnnl-dev); the GEMM comparison in bench/ is left out")
endif()
find_program(ZERO_NVCC nvcc PATHS /usr/local/cuda/bin)
if(ZERO_NVCC)
  message(STATUS "CUDA: ${ZERO_NVCC} (no CUDA target in this version; CPU ranks only)")
else()
  message(STATUS "CUDA: not found; CPU ranks only")
endif()
find_path(ZERO_NCCL_INCLUDE nccl.h PATHS /usr/local/cuda/include)
if(ZERO_NCCL_INCLUDE)
  message(STATUS "NCCL: ${ZERO_NCCL_INCLUDE} (no CUDA target in this version)")
else()
  message(STATUS "NCCL: not found; ranks are threads of one process")
endif()
find_program(ZERO_MPIRUN mpirun)
if(ZERO_MPIRUN)
  message(STATUS "MPI: ${ZERO_MPIRUN} (no MPI communicator in this version)")
else()
  message(STATUS "MPI: not found; ranks are threads of one process")
endif()

# TEMPORARY-BEGIN
function(zero_existing out)
  set(found "")
  foreach(f ${ARGN})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${f} OR EXISTS ${f})
      list(APPEND found ${f})
    endif()
  endforeach()
  if(NOT found)
    set(found ${CMAKE_SOURCE_DIR}/cmake/empty.cpp)
  endif()
  set(${out} ${found} PARENT_SCOPE)
endfunction()
# TEMPORARY-END

# zero_add_library(NAME files... LINK libs...): a plain library, free of MLIR.
function(zero_add_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  zero_existing(ARG_UNPARSED_ARGUMENTS ${ARG_UNPARSED_ARGUMENTS})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

# MLIR's headers take four fifths of the time of each file that includes them: they are compiled once.
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
add_mlir_library(ZeroPrecompiled ${CMAKE_SOURCE_DIR}/cmake/empty.cpp DISABLE_INSTALL EXCLUDE_FROM_LIBMLIR
                 PARTIAL_SOURCES_INTENDED)
target_precompile_headers(ZeroPrecompiled PRIVATE
  <mlir/Bytecode/BytecodeOpInterface.h> <mlir/Dialect/Func/IR/FuncOps.h> <mlir/IR/Builders.h>
  <mlir/IR/BuiltinAttributes.h> <mlir/IR/BuiltinOps.h> <mlir/IR/BuiltinTypes.h> <mlir/IR/Dialect.h>
  <mlir/IR/DialectImplementation.h> <mlir/IR/IRMapping.h> <mlir/IR/OpImplementation.h>
  <mlir/IR/PatternMatch.h> <mlir/IR/SymbolTable.h> <mlir/Interfaces/ControlFlowInterfaces.h>
  <mlir/Interfaces/FunctionInterfaces.h> <mlir/Interfaces/InferTypeOpInterface.h>
  <mlir/Interfaces/SideEffectInterfaces.h> <mlir/Pass/Pass.h> <mlir/Pass/PassManager.h>
  <mlir/Pass/PassOptions.h> <mlir/Pass/PassRegistry.h> <llvm/ADT/MapVector.h> <llvm/ADT/SetVector.h>
  <llvm/ADT/StringMap.h> <llvm/ADT/TypeSwitch.h>)

# zero_add_mlir_library(NAME files... LINK libs... DEPENDS targets...): a library on top of MLIR.
function(zero_add_mlir_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  zero_existing(ARG_UNPARSED_ARGUMENTS ${ARG_UNPARSED_ARGUMENTS})
  add_mlir_library(${name} ${ARG_UNPARSED_ARGUMENTS} DISABLE_INSTALL EXCLUDE_FROM_LIBMLIR PARTIAL_SOURCES_INTENDED
                   DEPENDS ${ARG_DEPENDS} LINK_LIBS PUBLIC ${ARG_LINK})
  target_precompile_headers(${name} REUSE_FROM ZeroPrecompiled)
endfunction()

# zero_add_gtest(NAME files... LINK libs...): one gtest program, registered with ctest as a whole.
function(zero_add_gtest name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  zero_existing(ARG_UNPARSED_ARGUMENTS ${ARG_UNPARSED_ARGUMENTS})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE ZERO_TEST_DATA_DIR="${CMAKE_SOURCE_DIR}/test" ZERO_BIN_DIR="${CMAKE_BINARY_DIR}/bin")
  add_test(NAME ${name} COMMAND ${name})
endfunction()
