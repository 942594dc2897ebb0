# Finds MLIR 22, and says how a library on top of it is built.

execute_process(COMMAND llvm-config-22 --prefix OUTPUT_VARIABLE ZERO_LLVM_PREFIX
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(MLIR_DIR AND NOT EXISTS ${MLIR_DIR}/MLIRConfig.cmake)
  message(FATAL_ERROR "MLIR_DIR is ${MLIR_DIR}, which holds no MLIRConfig.cmake")
endif()
find_package(MLIR CONFIG QUIET HINTS ${ZERO_LLVM_PREFIX}/lib/cmake/mlir)
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
  add_mlir_library(${name} ${ARG_UNPARSED_ARGUMENTS} DISABLE_INSTALL EXCLUDE_FROM_LIBMLIR PARTIAL_SOURCES_INTENDED
                   DEPENDS ${ARG_DEPENDS} LINK_LIBS PUBLIC ${ARG_LINK})
  target_precompile_headers(${name} REUSE_FROM ZeroPrecompiled)
endfunction()
