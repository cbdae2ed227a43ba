/// Which saved tensors selective recompute drops: by module, or by matrix product.
#pragma once

#include <cstdint>

#include "trainplan/spec/framework.hpp"
#include "trainplan/spec/run.hpp"

namespace trainplan::detail {

enum class Tensor : std::uint8_t {
  Input,
  Norm1,
  Latents,
  LatentNorm,
  QkNorm,
  Query,
  Key,
  Value,
  Attention,
  Statistics,
  Matrix,
  Residual,
  Norm2,
  Dropout,
  Up,
  UpSecond,
  MlpInner,
  MlpOutput,
  Router,
  Permuted,
  Returned,
  ExpertInner,
  ExpertActivation,
  SharedUp,
  SharedInner
};

/// What selective recompute drops. A norm can be rebuilt alone where it is a module of its own: before latent
/// projections and before a router; elsewhere it is fused with the product that follows.
struct Selection {
  bool on = false, latent = false;
  SelectivePolicy policy = SelectivePolicy::Modules;
  Modules modules = 0;

  bool has(Module m) const { return (modules & bit(m)) != 0; }
  bool drops(Tensor t, bool sparse) const {
    if (!on) return false;
    return policy == SelectivePolicy::Modules ? drops_by_module(t, sparse) : drops_by_product(t);
  }

 private:
  bool drops_by_module(Tensor t, bool sparse) const {
    switch (t) {
      case Tensor::Norm1: return latent && has(Module::LayerNorm);
      case Tensor::LatentNorm:
      case Tensor::Query:
      case Tensor::Key:
      case Tensor::Value: return latent && has(Module::MlaUpProj);
      case Tensor::Statistics:
      case Tensor::Matrix: return has(Module::CoreAttention);
      case Tensor::Norm2: return has(sparse ? Module::LayerNorm : Module::Mlp);
      case Tensor::Up:
      case Tensor::UpSecond:
      case Tensor::MlpInner: return has(Module::Mlp);
      case Tensor::Router:
      case Tensor::Permuted:
      case Tensor::Returned:
      case Tensor::ExpertInner: return has(Module::Moe);
      case Tensor::ExpertActivation: return has(Module::Moe) || has(Module::MoeAct);
      case Tensor::SharedUp:
      case Tensor::SharedInner: return has(Module::Moe) || has(Module::SharedExperts);
      case Tensor::Input:
      case Tensor::Latents:
      case Tensor::QkNorm:
      case Tensor::Attention:
      case Tensor::Residual:
      case Tensor::Dropout:
      case Tensor::MlpOutput: return false;
    }
    return false;
  }
  /// Attention kernels and exchanges of experts are kept, and every second product in the order of a layer:
  /// queries, values, the first up projection, the down projection.
  bool drops_by_product(Tensor t) const {
    switch (t) {
      case Tensor::Input:
      case Tensor::Latents:
      case Tensor::Attention:
      case Tensor::Statistics:
      case Tensor::Up:
      case Tensor::MlpOutput:
      case Tensor::Permuted:
      case Tensor::Returned: return false;
      case Tensor::Query:
      case Tensor::Value: return latent;
      case Tensor::Norm1:
      case Tensor::LatentNorm:
      case Tensor::QkNorm:
      case Tensor::Key:
      case Tensor::Matrix:
      case Tensor::Residual:
      case Tensor::Norm2:
      case Tensor::Dropout:
      case Tensor::UpSecond:
      case Tensor::MlpInner:
      case Tensor::Router:
      case Tensor::ExpertInner:
      case Tensor::ExpertActivation:
      case Tensor::SharedUp:
      case Tensor::SharedInner: return true;
    }
    return true;
  }
};

}  // namespace trainplan::detail
