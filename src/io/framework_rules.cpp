#include "framework_rules.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainplan/plan/rules.hpp"

namespace trainplan {
namespace {

constexpr Named<ExpertMesh> kMeshes[] = {{"gpus", ExpertMesh::Gpus},
                                         {"shard-ranks", ExpertMesh::ShardRanks},
                                         {"data-parallel", ExpertMesh::DataParallel}};

struct Switch {
  std::string_view key;
  bool FrameworkRules::*member;
};
constexpr Switch kSwitchKeys[] = {
    {"tp_divides_chunk", &FrameworkRules::tp_divides_chunk},
    {"sequence_parallel", &FrameworkRules::sequence_parallel},
    {"experts_need_sequence_parallel", &FrameworkRules::experts_need_sequence_parallel},
    {"uneven_vocabulary", &FrameworkRules::uneven_vocabulary},
    {"latent_ranks_over_tp", &FrameworkRules::latent_ranks_over_tp},
    {"replicates_key_value_over_cp", &FrameworkRules::replicates_key_value_over_cp},
    {"micro_batches_cover_stages", &FrameworkRules::micro_batches_cover_stages},
    {"interleaves_in_rounds", &FrameworkRules::interleaves_in_rounds},
    {"ring", &FrameworkRules::ring},
    {"all_to_all", &FrameworkRules::all_to_all},
    {"all_gather", &FrameworkRules::all_gather},
    {"tp_overlap", &FrameworkRules::tp_overlap},
    {"ep_overlap", &FrameworkRules::ep_overlap},
    {"fp16", &FrameworkRules::fp16},
    {"recompute_layers", &FrameworkRules::recompute_layers},
    {"split_needs_eager", &FrameworkRules::split_needs_eager}};

/// Member names are ids of rules, so that a citation that nobody would print is a mistake.
void read_sources(const Reader& in, FrameworkRules& r) {
  std::vector<std::string_view> ids;
  for (const Rule& rule : rules()) ids.push_back(rule.id);
  in.allow(ids);
  for (const std::string_view id : ids)
    if (auto source = in.string(id)) r.sources.emplace_back(std::string(id), std::move(*source));
}

}  // namespace

FrameworkRules read_framework_rules(const Reader& in) {
  std::vector<std::string_view> keys{"expert_mesh", "chunks_per_cp_rank", "interleaving_stages", "sources"};
  for (const Switch& s : kSwitchKeys) keys.push_back(s.key);
  in.allow(keys);
  FrameworkRules r;
  r.expert_mesh = in.choice("expert_mesh", kMeshes).value_or(r.expert_mesh);
  r.chunks_per_cp_rank = in.integer("chunks_per_cp_rank", 1, 2).value_or(r.chunks_per_cp_rank);
  r.interleaving_stages = in.integer("interleaving_stages", 2, kMaxDegree).value_or(r.interleaving_stages);
  for (const Switch& s : kSwitchKeys) r.*s.member = in.boolean(s.key).value_or(r.*s.member);
  if (const auto sources = in.object("sources")) read_sources(*sources, r);
  return r;
}

}  // namespace trainplan
