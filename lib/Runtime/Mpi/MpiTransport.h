//===- MpiTransport.h - bytes over MPI, if there is one -------------------===//
//
// Zero does not link MPI: what uses it is a module of its own, libzero-mpi.so, which
// is loaded where an MPI launcher started the process. Loading it initialises MPI.
//
//===----------------------------------------------------------------------===//
#ifndef ZERO_RUNTIME_MPI_MPITRANSPORT_H
#define ZERO_RUNTIME_MPI_MPITRANSPORT_H

#include "../Processes/Transport.h"

#include <memory>

namespace zrt {

/// Looks for the module beside the program (`../lib`) and where the system looks. Null with a
/// message where it, or the MPI that it was built with, is missing or cannot be initialised.
std::unique_ptr<Transport> createMpiTransport(std::string &error);

/// What the module exports, under the name kMpiEntry.
using MpiEntry = Transport *(*)(std::string & error);
inline constexpr const char *kMpiEntry = "zrtCreateMpiTransport";

} // namespace zrt

#endif // ZERO_RUNTIME_MPI_MPITRANSPORT_H
