//===- LaunchEnvironmentTest.cpp - what launchers say ---------------------===//

#include "zero/Runtime/Processes.h"

#include <gtest/gtest.h>
#include <map>

using namespace zrt;

namespace {

using Variables = std::map<std::string, std::string>;
using Kind = LaunchEnvironment::Kind;

std::optional<LaunchEnvironment> detect(const Variables &variables, std::string &error) {
  return detectLaunch(
      [&](const char *name) -> const char * {
        auto found = variables.find(name);
        return found == variables.end() ? nullptr : found->second.c_str();
      },
      error);
}

LaunchEnvironment expectLaunch(const Variables &variables) {
  std::string error;
  auto launch = detect(variables, error);
  EXPECT_TRUE(launch) << error;
  return launch.value_or(LaunchEnvironment());
}

std::string faultOf(const Variables &variables) {
  std::string error;
  EXPECT_FALSE(detect(variables, error));
  return error;
}

TEST(LaunchEnvironment, NoLauncherMeansThreads) {
  LaunchEnvironment launch = expectLaunch({});
  EXPECT_EQ(launch.kind, Kind::Threads);
  EXPECT_EQ(launch.source, "");
  // Variables of the same names that other programs use.
  EXPECT_EQ(expectLaunch({{"RANK", "3"}}).kind, Kind::Threads);
  EXPECT_EQ(expectLaunch({{"MASTER_ADDR", "a"}, {"WORLD_SIZE", "8"}}).kind, Kind::Threads);
}

TEST(LaunchEnvironment, Mpi) {
  LaunchEnvironment launch =
      expectLaunch({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "2"}});
  EXPECT_EQ(launch.kind, Kind::Mpi);
  EXPECT_EQ(launch.source, "OMPI_COMM_WORLD_SIZE");
  EXPECT_EQ(launch.rank, 2);
  EXPECT_EQ(launch.ranks, 4);
  launch = expectLaunch({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}});
  EXPECT_EQ(launch.kind, Kind::Mpi);
  EXPECT_EQ(launch.ranks, 2);
  launch = expectLaunch({{"PMIX_RANK", "5"}});
  EXPECT_EQ(launch.kind, Kind::Mpi);
  EXPECT_EQ(launch.rank, 5);
  EXPECT_EQ(launch.ranks, 0); // MPI will say
}

// mpirun inside a Slurm allocation sets both; torchrun under srun too: the inner launcher counts.
TEST(LaunchEnvironment, TheInnerLauncherCounts) {
  Variables slurm = {{"SLURM_PROCID", "0"},
                     {"SLURM_NTASKS", "2"},
                     {"SLURM_NODELIST", "n1"},
                     {"SLURM_JOB_ID", "5"}};
  Variables both = slurm;
  both.insert({{"OMPI_COMM_WORLD_SIZE", "8"}, {"OMPI_COMM_WORLD_RANK", "7"}});
  EXPECT_EQ(expectLaunch(both).ranks, 8);
  both = slurm;
  both.insert({{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "m"}, {"MASTER_PORT", "1"}});
  EXPECT_EQ(expectLaunch(both).ranks, 4);
  // srun sets PMI's variables also for programs without MPI.
  both = slurm;
  both.insert({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}});
  EXPECT_EQ(expectLaunch(both).kind, Kind::Tcp);
}

TEST(LaunchEnvironment, Torchrun) {
  Variables variables = {
      {"RANK", "1"}, {"WORLD_SIZE", "3"}, {"MASTER_ADDR", "node7"}, {"MASTER_PORT", "29500"}};
  LaunchEnvironment launch = expectLaunch(variables);
  EXPECT_EQ(launch.kind, Kind::Tcp);
  EXPECT_EQ(launch.source, "WORLD_SIZE");
  EXPECT_EQ(launch.rank, 1);
  EXPECT_EQ(launch.ranks, 3);
  EXPECT_EQ(launch.host, "node7");
  EXPECT_EQ(launch.port, 29500);
  // The agent's own store lies at the port.
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  EXPECT_EQ(expectLaunch(variables).port, 29501);
  variables["MASTER_PORT"] = "65535";
  EXPECT_EQ(expectLaunch(variables).port, 65534);
}

TEST(LaunchEnvironment, Slurm) {
  Variables variables = {{"SLURM_PROCID", "2"},
                         {"SLURM_NTASKS", "4"},
                         {"SLURM_NODELIST", "node[03-05,9]"},
                         {"SLURM_JOB_ID", "1000"}};
  LaunchEnvironment launch = expectLaunch(variables);
  EXPECT_EQ(launch.kind, Kind::Tcp);
  EXPECT_EQ(launch.rank, 2);
  EXPECT_EQ(launch.ranks, 4);
  EXPECT_EQ(launch.host, "node03");
  EXPECT_EQ(launch.port, 10000 + 31 * 1000 % 20000); // 21000
  // Steps of one job may run side by side, on nodes of their own.
  variables["SLURM_STEP_ID"] = "2";
  variables["SLURM_STEP_NODELIST"] = "node05";
  launch = expectLaunch(variables);
  EXPECT_EQ(launch.port, 21002);
  EXPECT_EQ(launch.host, "node05");
  variables["MASTER_ADDR"] = "here";
  variables["MASTER_PORT"] = "77";
  launch = expectLaunch(variables);
  EXPECT_EQ(launch.host, "here");
  EXPECT_EQ(launch.port, 77);
}

TEST(LaunchEnvironment, ALoneRankIsThreads) {
  // A shell of salloc; as a step of one task inside a larger job, too.
  LaunchEnvironment launch = expectLaunch({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}});
  EXPECT_EQ(launch.kind, Kind::Threads);
  EXPECT_EQ(launch.source, "");
  launch =
      expectLaunch({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"SLURM_STEP_NUM_TASKS", "1"}});
  EXPECT_EQ(launch.kind, Kind::Threads);
  // Who says `mpirun -n 1` means one rank.
  launch = expectLaunch({{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}});
  EXPECT_EQ(launch.kind, Kind::Threads);
  EXPECT_EQ(launch.source, "OMPI_COMM_WORLD_SIZE");
  EXPECT_EQ(launch.ranks, 1);
}

TEST(LaunchEnvironment, F1_Contradictions) {
  EXPECT_EQ(faultOf({{"RANK", "3"}, {"WORLD_SIZE", "3"}}),
            "expects RANK below WORLD_SIZE, got 3 and 3");
  EXPECT_EQ(faultOf({{"RANK", "0"}, {"WORLD_SIZE", "two"}}),
            "expects WORLD_SIZE in the environment to be a whole number of at least 1, got 'two'");
  EXPECT_EQ(faultOf({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}),
            "expects MASTER_PORT, where rank 0 listens, beside RANK and WORLD_SIZE in the "
            "environment, got none");
  EXPECT_EQ(
      faultOf({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "65536"}}),
      "expects MASTER_PORT in the environment to be a whole number of at least 1 and at most "
      "65535, got '65536'");
  EXPECT_EQ(faultOf({{"OMPI_COMM_WORLD_SIZE", "2"}}),
            "expects OMPI_COMM_WORLD_RANK in the environment to be a whole number of at least 0, "
            "got nothing");
  EXPECT_EQ(faultOf({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}}),
            "expects SLURM_NODELIST and SLURM_JOB_ID, or MASTER_ADDR and MASTER_PORT, beside "
            "SLURM_PROCID in the environment, to know where rank 0 listens");
}

TEST(LaunchEnvironment, FirstHost) {
  EXPECT_EQ(firstHost("node1"), "node1");
  EXPECT_EQ(firstHost("node1,node2"), "node1");
  EXPECT_EQ(firstHost("node[03-05,9],login"), "node03");
  EXPECT_EQ(firstHost("login,node[1-2]"), "login");
  EXPECT_EQ(firstHost("node[7]"), "node7");
  EXPECT_EQ(firstHost("rack[1-2]-n[4,6].hall"), "rack1-n4.hall");
  EXPECT_EQ(firstHost(""), "");
}

} // namespace
