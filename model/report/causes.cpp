#include "model/report/causes.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
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
    std::map<why::Symptom, std::size_t> seen;
    for (std::size_t i = 0; i < answers.size() && places.size() < kMostCards; ++i) {
      if (seen[answers[i].symptom]++ / kMostInTurn == round) places.push_back(i);
    }
  }
  std::sort(places.begin(), places.end());
  return places;
}

}  // namespace

nlohmann::ordered_json causes(const std::string& database) {
  why::Report report = why::explain(database, "");
  nlohmann::ordered_json result{{"answers", nlohmann::ordered_json::array()},
                                {"left_out", nlohmann::ordered_json::object()}};
  std::map<why::Symptom, std::size_t> left_out;
  for (const why::Answer& answer : report.answers) ++left_out[answer.symptom];
  std::vector<why::Answer> cards;
  for (const std::size_t place : shown(report.answers)) {
    --left_out[report.answers[place].symptom];
    cards.push_back(std::move(report.answers[place]));
  }
  for (const auto& [symptom, count] : left_out) result["left_out"][why::to_string(symptom)] = count;
  report.answers = std::move(cards);
  for (nlohmann::ordered_json& object : why::to_json(report)) {
    if (object.contains("cable")) result["cable"] = std::move(object["cable"]);
    else result["answers"].push_back(std::move(object));
  }
  return result;
}

}  // namespace rnic::report
