/// Models that are not what is counted here: told by name, never counted as something near.
#pragma once

#include "families.hpp"
#include "reader.hpp"

namespace trainplan {

/// Refuses architectures that are known to be of another kind, by their model_type or by keys that mark them.
/// `in` may be the root or the nested text part of a file. True when it did.
bool refuse_other_kinds(const Reader& in);

/// Refuses keys that ask for something which models of the family do not have.
void refuse_foreign_parts(const Reader& in, const Family& family);

/// Refuses a model_type that no row has.
void refuse_unknown_type(const Reader& in, std::string_view model_type);

}  // namespace trainplan
