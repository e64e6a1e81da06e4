#include "model/report/causes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "model/why/why.h"

namespace rnic::report {
namespace {

constexpr std::size_t kMostCards = 8;
// A kind has so many in turn, as long as there is room, so that one of many does not hide the others.
constexpr std::size_t kMostInTurn = 2;

// The places of the answers that are shown, in their order.
std::vector<std::size_t> shown(const std::vector<why::Answer>& answers) {
  std::vector<std::size_t> places;
  for (std::size_t round = 0; places.size() < kMostCards && round < answers.size(); ++round) {
    std::array<std::size_t, static_cast<std::size_t>(why::Symptom::kReduced) + 1> seen{};
    for (std::size_t i = 0; i < answers.size() && places.size() < kMostCards; ++i) {
      const std::size_t n = seen[static_cast<std::size_t>(answers[i].symptom)]++;
      if (n / kMostInTurn == round) places.push_back(i);
    }
  }
  std::sort(places.begin(), places.end());
  return places;
}

}  // namespace

nlohmann::ordered_json causes(const std::string& database) {
  const std::vector<why::Answer> answers = why::answers(database, "");
  nlohmann::ordered_json result{{"answers", nlohmann::ordered_json::array()},
                                {"left_out", nlohmann::ordered_json::object()}};
  for (const why::Answer& answer : answers) {
    auto& count = result["left_out"][why::to_string(answer.symptom)];
    count = count.is_null() ? 1 : count.get<std::size_t>() + 1;
  }
  for (const std::size_t place : shown(answers)) {
    result["answers"].push_back(why::to_json(answers[place]));
    auto& count = result["left_out"][why::to_string(answers[place].symptom)];
    count = count.get<std::size_t>() - 1;
  }
  return result;
}

}  // namespace rnic::report
