//===- LoadMpi.cpp - load the module that links MPI -----------------------===//

#include "MpiTransport.h"

#include <dlfcn.h>

namespace zrt {

std::unique_ptr<Transport> createMpiTransport(std::string &error) {
  // Open MPI's plugins look for its symbols among the global ones. Never unloaded: MPI's threads
  // may outlive its end.
  void *module = dlopen("libzero-mpi.so", RTLD_NOW | RTLD_GLOBAL);
  void *entry = module ? dlsym(module, kMpiEntry) : nullptr;
  if (!entry) {
    const char *reason = dlerror();
    error =
        "expects libzero-mpi.so, which is built where MPI is found (libopenmpi-dev), and its MPI "
        "library, got: " +
        std::string(reason ? reason : "no reason");
    return nullptr;
  }
  return std::unique_ptr<Transport>(reinterpret_cast<MpiEntry>(entry)(error));
}

} // namespace zrt
