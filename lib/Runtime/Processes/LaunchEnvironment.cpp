//===- LaunchEnvironment.cpp - who started this process -------------------===//
//
// The one place that knows the names of launchers' variables.
//
//===----------------------------------------------------------------------===//

#include "zero/Runtime/Processes.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace zrt {

namespace {

constexpr int64_t kMostPort = 65535;
/// Ports that Slurm's jobs are spread over: below those that systems hand out to connections.
constexpr int64_t kFirstSlurmPort = 10000, kSlurmPorts = 20000;

class Detector {
public:
  Detector(const GetVariable &get, std::string &error) : get(get), error(error) {}

  std::optional<LaunchEnvironment> detect() {
    if (has("OMPI_COMM_WORLD_SIZE"))
      return mpi("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
    if (has("PMIX_RANK")) {
      LaunchEnvironment launch;
      launch.kind = LaunchEnvironment::Kind::Mpi;
      launch.source = "PMIX_RANK";
      launch.ranks = 0;
      return number("PMIX_RANK", 0, INT32_MAX, launch.rank) ? std::optional(launch) : std::nullopt;
    }
    if (has("RANK") && has("WORLD_SIZE"))
      return torchrun();
    if (has("SLURM_PROCID"))
      for (const char *size : {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"})
        if (has(size))
          return slurm(size);
    if (has("PMI_RANK") && has("PMI_SIZE"))
      return mpi("PMI_RANK", "PMI_SIZE");
    return LaunchEnvironment();
  }

private:
  bool has(const char *name) const { return get(name) && *get(name); }

  bool number(const char *name, int64_t minimum, int64_t maximum, int64_t &into) {
    const char *text = get(name) ? get(name) : "";
    const char *end = text + std::strlen(text);
    auto [stop, code] = std::from_chars(text, end, into);
    if (code == std::errc() && stop == end && into >= minimum && into <= maximum)
      return true;
    error = std::string("expects ") + name +
            " in the environment to be a whole number of at least " + std::to_string(minimum) +
            (maximum == INT32_MAX ? "" : " and at most " + std::to_string(maximum)) + ", got " +
            (*text ? "'" + std::string(text) + "'" : "nothing");
    return false;
  }

  bool rankAndSize(const char *rank, const char *size, LaunchEnvironment &launch) {
    launch.source = size;
    if (!number(size, 1, INT32_MAX, launch.ranks) || !number(rank, 0, INT32_MAX, launch.rank))
      return false;
    if (launch.rank < launch.ranks)
      return true;
    error = std::string("expects ") + rank + " below " + size + ", got " +
            std::to_string(launch.rank) + " and " + std::to_string(launch.ranks);
    return false;
  }

  std::optional<LaunchEnvironment> mpi(const char *rank, const char *size) {
    LaunchEnvironment launch;
    if (!rankAndSize(rank, size, launch))
      return std::nullopt;
    if (launch.ranks > 1)
      launch.kind = LaunchEnvironment::Kind::Mpi;
    return launch;
  }

  std::optional<LaunchEnvironment> torchrun() {
    LaunchEnvironment launch;
    if (!rankAndSize("RANK", "WORLD_SIZE", launch))
      return std::nullopt;
    if (launch.ranks == 1)
      return launch;
    launch.kind = LaunchEnvironment::Kind::Tcp;
    for (const char *name : {"MASTER_ADDR", "MASTER_PORT"})
      if (!has(name)) {
        error = std::string("expects ") + name +
                ", where rank 0 listens, beside RANK and WORLD_SIZE in the environment, got none";
        return std::nullopt;
      }
    return masterAddress(launch);
  }

  std::optional<LaunchEnvironment> masterAddress(LaunchEnvironment &launch) {
    int64_t port = 0;
    if (!number("MASTER_PORT", 1, kMostPort, port))
      return std::nullopt;
    // torchrun's agent keeps the port for a store of its own, and says so.
    if (const char *used = get("TORCHELASTIC_USE_AGENT_STORE"); used && !std::strcmp(used, "True"))
      port = port < kMostPort ? port + 1 : port - 1;
    launch.host = get("MASTER_ADDR");
    launch.port = uint16_t(port);
    return launch;
  }

  /// A lone task is a shell of salloc or sbatch: its ranks are threads, as many as one likes.
  std::optional<LaunchEnvironment> slurm(const char *size) {
    LaunchEnvironment launch;
    if (!rankAndSize("SLURM_PROCID", size, launch))
      return std::nullopt;
    if (launch.ranks == 1)
      return LaunchEnvironment();
    launch.kind = LaunchEnvironment::Kind::Tcp;
    if (has("MASTER_ADDR") && has("MASTER_PORT"))
      return masterAddress(launch);
    for (const char *name : {"SLURM_STEP_NODELIST", "SLURM_NODELIST", "SLURM_JOB_NODELIST"})
      if (launch.host.empty() && has(name))
        launch.host = firstHost(get(name));
    int64_t job = 0, step = has("SLURM_STEP_ID") ? std::atoll(get("SLURM_STEP_ID")) : 0;
    if (launch.host.empty() || !has("SLURM_JOB_ID")) {
      error = "expects SLURM_NODELIST and SLURM_JOB_ID, or MASTER_ADDR and MASTER_PORT, beside "
              "SLURM_PROCID in the environment, to know where rank 0 listens";
      return std::nullopt;
    }
    if (!number("SLURM_JOB_ID", 0, INT32_MAX, job))
      return std::nullopt;
    int64_t place = (job * 31 + step % 31) % kSlurmPorts; // apart for the steps of one job, too
    launch.port = uint16_t(kFirstSlurmPort + place);
    return launch;
  }

  const GetVariable &get;
  std::string &error;
};

} // namespace

std::optional<LaunchEnvironment> detectLaunch(const GetVariable &get, std::string &error) {
  return Detector(get, error).detect();
}

std::optional<LaunchEnvironment> detectLaunch(std::string &error) {
  return detectLaunch([](const char *name) { return std::getenv(name); }, error);
}

std::string firstHost(std::string_view list) {
  size_t bracket = list.find('['), comma = list.find(',');
  if (bracket == list.npos || comma < bracket)
    return std::string(list.substr(0, comma));
  size_t close = list.find(']', bracket);
  std::string_view inside = list.substr(bracket + 1, close - bracket - 1);
  std::string host(list.substr(0, bracket));
  host += inside.substr(0, inside.find_first_of(",-"));
  if (close != list.npos) // `rack[1-2]-[3-4]`, `node[1-2].cluster`
    host += firstHost(list.substr(close + 1));
  return host;
}

} // namespace zrt
