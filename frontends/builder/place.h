// Where in a program that builds a call stands.
#ifndef KILN_FRONTENDS_BUILDER_PLACE_H_
#define KILN_FRONTENDS_BUILDER_PLACE_H_

#include <source_location>
#include <string>

#include "absl/strings/str_cat.h"

namespace kiln::graph {

// "model.cc:12".
inline std::string PlaceText(const std::source_location& place) {
  return absl::StrCat(place.file_name(), ":", place.line());
}

}  // namespace kiln::graph

#endif  // KILN_FRONTENDS_BUILDER_PLACE_H_
