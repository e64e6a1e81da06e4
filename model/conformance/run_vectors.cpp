#include "model/conformance/run_vectors.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

#include "model/common/check.h"
#include "model/common/cited.h"

namespace rnic::conformance {
namespace {

struct Tally {
  std::size_t passed = 0, failed = 0, not_implemented = 0;
};

std::vector<std::filesystem::path> json_files(const std::string& dir) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

const std::vector<VectorField> kFileFields = {"kind", "note", "vectors"};

// Throws what explains why the file is not one of vectors.
nlohmann::json load(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in) throw std::runtime_error("cannot be read");
  nlohmann::json file = nlohmann::json::parse(in);
  if (!file.is_object() || !file.value("kind", nlohmann::json()).is_string() ||
      !file.value("vectors", nlohmann::json()).is_array()) {
    throw std::runtime_error("is no file of vectors: it has no \"kind\" and \"vectors\"");
  }
  refuse_unknown_fields(file, kFileFields);
  return file;
}

Outcome run_one(const VectorKind& kind, const nlohmann::json& vector) {
  try {
    std::vector<VectorField> known = kind.fields;
    known.emplace_back("name");
    refuse_unknown_fields(vector, known);
    return kind.check(vector);
  } catch (const InternalError&) {
    throw;
  } catch (const std::exception& e) {
    return {{}, e.what()};
  }
}

std::string name_of(const nlohmann::json& vector, std::size_t index) {
  const bool named = vector.is_object() && vector.contains("name") && vector["name"].is_string();
  return named ? vector["name"].get<std::string>() : fmt::format("#{}", index);
}

Tally run_file(const VectorKind& kind, const nlohmann::json& vectors, const std::string& file, std::ostream& out) {
  Tally tally;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    const Outcome outcome = run_one(kind, vectors[i]);
    ++(outcome.passed() ? tally.passed : tally.failed);
    if (!outcome.unreadable.empty()) {
      out << fmt::format("FAILED {}/{}: cannot be run: {} ({})\n", kind.name, name_of(vectors[i], i),
                         outcome.unreadable, file);
    }
    for (const Outcome::Difference& d : outcome.differences) {
      out << fmt::format("FAILED {}/{}: {}: expected {}, got {}\n", kind.name, name_of(vectors[i], i), d.field,
                         d.expected, d.got);
    }
  }
  return tally;
}

void print(const std::map<std::string, Tally>& kinds, std::ostream& out) {
  Tally total;
  for (const auto& [kind, tally] : kinds) {
    if (tally.not_implemented != 0) {
      out << fmt::format("{}: not implemented, {} vectors not run\n", kind, tally.not_implemented);
    } else {
      out << fmt::format("{}: {} passed, {} failed\n", kind, tally.passed, tally.failed);
    }
    total.passed += tally.passed;
    total.failed += tally.failed;
    total.not_implemented += tally.not_implemented;
  }
  out << fmt::format("total: {} passed, {} failed", total.passed, total.failed);
  if (total.not_implemented != 0) out << fmt::format(", {} not run", total.not_implemented);
  out << "\n";
}

}  // namespace

int run_vectors(const std::string& dir, std::ostream& out, const std::vector<VectorKind>& kinds) {
  std::vector<std::filesystem::path> files;
  try {
    files = json_files(dir);
  } catch (const std::filesystem::filesystem_error& e) {
    out << fmt::format("{}: {}\n", cited(dir), e.code().message());
    return 2;
  }

  std::map<std::string, Tally> tallies;
  bool unreadable = false;
  std::size_t run = 0, failed = 0;
  for (const std::filesystem::path& path : files) {
    try {
      const nlohmann::json file = load(path);
      const std::string name = file["kind"];
      const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const VectorKind& k) { return k.name == name; });
      Tally& tally = tallies[name];
      if (kind == kinds.end()) {
        tally.not_implemented += file["vectors"].size();
        continue;
      }
      const Tally of_file = run_file(*kind, file["vectors"], path.string(), out);
      tally.passed += of_file.passed;
      tally.failed += of_file.failed;
      run += of_file.passed + of_file.failed;
      failed += of_file.failed;
    } catch (const InternalError&) {
      throw;
    } catch (const std::exception& e) {
      out << fmt::format("{}: {}\n", path.string(), shortened(e.what()));
      unreadable = true;
    }
  }
  print(tallies, out);
  if (run == 0) out << fmt::format("{}: no vectors to run\n", cited(dir));
  if (unreadable || run == 0) return 2;
  return failed == 0 ? 0 : 1;
}

}  // namespace rnic::conformance
