#include "trainplan/spec/resize.hpp"

#include "catch.hpp"
#include "trainplan/io/load.hpp"

using namespace trainplan;

TEST_CASE("a cluster of another size has other nodes and nothing else") {
  Issues issues;
  const auto cluster = load_cluster("h100x1024", issues);
  REQUIRE(cluster);
  const auto small = with_gpus(**cluster, 96, issues);
  REQUIRE(small);
  CHECK((*small)->nodes == 12);
  CHECK((*small)->gpus() == 96);
  CHECK((*small)->gpus_per_node == (*cluster)->gpus_per_node);
  CHECK((*small)->storage_write.value == (*cluster)->storage_write.value);
  CHECK(issues.all().empty());
}

TEST_CASE("GPUs that are not whole nodes are refused with those nearby") {
  Issues issues;
  const auto cluster = load_cluster("h100x1024", issues);
  REQUIRE(cluster);
  CHECK_FALSE(with_gpus(**cluster, 100, issues));
  CHECK_FALSE(with_gpus(**cluster, 3, issues));
  CHECK_FALSE(with_gpus(**cluster, 0, issues));
  REQUIRE(issues.all().size() == 3);
  CHECK(issues.all()[0].rule == "whole-nodes");
  CHECK(issues.all()[0].must == "be a multiple of gpus_per_node = 8 of h100x1024");
  CHECK(issues.all()[0].hint == "try 96 or 104");
  CHECK(issues.all()[1].hint == "try 8");
}

TEST_CASE("GPUs fill whole scale-up domains") {
  Issues issues;
  const auto cluster = load_cluster("h100x1024", issues);
  REQUIRE(cluster);
  ClusterSpec rack = **cluster;
  rack.gpus_per_node = 4;
  rack.scale_up_domain = 64;
  CHECK_FALSE(with_gpus(rack, 100, issues));
  CHECK(issues.all().back().hint == "try 64 or 128");
  CHECK(with_gpus(rack, 128, issues));
}
