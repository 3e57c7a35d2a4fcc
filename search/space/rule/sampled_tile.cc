#include "kiln/search/space/rule/sampled_tile.h"

#include <cstdint>
#include <numeric>

#include "absl/algorithm/container.h"
#include "kiln/base/status_macros.h"

namespace kiln {
namespace {

struct Number {
  int RegisterTile::* of_tile;
  Arg SampledTile::* sampled;
};

constexpr Number kNumbers[] = {
    {&RegisterTile::outer_rows, &SampledTile::outer_rows},
    {&RegisterTile::rows, &SampledTile::rows},
    {&RegisterTile::vectors, &SampledTile::vectors}};

// The weights, which come to 1.
std::vector<double> Shares(const std::vector<RegisterTile>& tiles) {
  std::vector<double> shares;
  for (const RegisterTile& tile : tiles) shares.push_back(tile.weight);
  const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= total;
  return shares;
}

// What `number` is in each of the tiles.
std::vector<int64_t> ValuesOf(const Number& number,
                              const std::vector<RegisterTile>& tiles) {
  std::vector<int64_t> values;
  for (const RegisterTile& tile : tiles) {
    values.push_back(tile.*number.of_tile);
  }
  return values;
}

absl::StatusOr<std::vector<Rv>> SampleNumbers(
    Schedule* sch, const std::vector<Number>& open,
    const std::vector<RegisterTile>& tiles) {
  if (open.size() == 1) {
    KILN_ASSIGN_OR_RETURN(
        const Rv value,
        sch->SampleCategorical(ValuesOf(open[0], tiles), Shares(tiles)));
    return std::vector<Rv>{value};
  }
  std::vector<std::vector<int64_t>> candidates(tiles.size());
  for (const Number& number : open) {
    const std::vector<int64_t> values = ValuesOf(number, tiles);
    for (size_t i = 0; i < values.size(); ++i) {
      candidates[i].push_back(values[i]);
    }
  }
  return sch->SampleTuple(candidates, Shares(tiles));
}

}  // namespace

absl::StatusOr<SampledTile> SampleTile(Schedule* sch,
                                       const std::vector<RegisterTile>& tiles) {
  SampledTile sampled;
  std::vector<Number> open;
  for (const Number& number : kNumbers) {
    const std::vector<int64_t> values = ValuesOf(number, tiles);
    sampled.*number.sampled = values[0];
    const bool is_open =
        absl::c_any_of(values, [&](int64_t v) { return v != values[0]; });
    if (is_open) open.push_back(number);
  }
  if (open.empty()) return sampled;
  KILN_ASSIGN_OR_RETURN(const std::vector<Rv> values,
                        SampleNumbers(sch, open, tiles));
  for (size_t i = 0; i < open.size(); ++i) {
    sampled.*open[i].sampled = values[i];
  }
  return sampled;
}

}  // namespace kiln
