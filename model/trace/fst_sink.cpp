#include "model/trace/fst_sink.h"

#include <fstream>

#include <fstapi.h>

#include "model/common/check.h"

namespace rnic {
namespace {

// fstapi does not report failed writes, but they show in the file: each block's length (section type, then 64 bits,
// big-endian) leads to the next block, and the last one's to the end of the file.
bool blocks_fill(const std::string& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const auto end = static_cast<std::uint64_t>(in.tellg());
  std::uint64_t at = 0;
  while (in && at < end) {
    unsigned char length[8] = {};
    in.seekg(static_cast<std::streamoff>(at + 1));
    in.read(reinterpret_cast<char*>(length), sizeof length);
    std::uint64_t bytes = 0;
    for (const unsigned char octet : length) bytes = bytes << 8 | octet;
    if (bytes == 0 || bytes > end) return false;
    at += 1 + bytes;
  }
  return in && at == end;
}

// The hierarchy comes last in the file.
bool is_complete(const std::string& file, std::size_t variables) {
  if (!blocks_fill(file)) return false;
  void* const reader = fstReaderOpen(file.c_str());
  if (reader == nullptr) return false;
  std::size_t found = 0;
  while (const fstHier* item = fstReaderIterateHier(reader)) found += item->htyp == FST_HT_VAR;
  fstReaderClose(reader);
  return found == variables;
}

}  // namespace

FstSink::FstSink(const std::string& file) : pending_(file), writer_(fstWriterCreate(pending_.name().c_str(), 1)) {
  if (writer_ == nullptr) throw ConfigError(file + ": cannot be created");
  fstWriterSetPackType(writer_, FST_WR_PT_LZ4);
  fstWriterSetTimescaleFromString(writer_, "1ps");
  fstWriterSetVersion(writer_, "rnicsim");
  fstWriterSetDate(writer_, "");  // equal runs give equal files
}

FstSink::~FstSink() {
  if (writer_ != nullptr) fstWriterClose(writer_);
}

// Viewers show the word instead of the value. A table serves values of one width.
std::uint32_t FstSink::enumeration(const WaveVariable& v) {
  const auto [known, fresh] = enumerations_.try_emplace({v.words, v.width}, 0);
  if (!fresh) return known->second;
  std::vector<const char*> words;
  std::vector<std::string> values;
  for (std::size_t value = 0; value < v.words->size(); ++value) {
    if ((*v.words)[value].empty() || value >> v.width != 0) continue;
    words.push_back((*v.words)[value].c_str());
    values.emplace_back();
    for (unsigned bit = v.width; bit-- > 0;) values.back() += (value >> bit & 1) != 0 ? '1' : '0';
  }
  std::vector<const char*> bits;
  for (const std::string& value : values) bits.push_back(value.c_str());
  const std::string name = v.name + '_' + std::to_string(enumerations_.size());
  known->second = fstWriterCreateEnumTable(writer_, name.c_str(), static_cast<std::uint32_t>(words.size()), v.width,
                                           words.data(), bits.data());
  return known->second;
}

void FstSink::declare(const std::vector<WaveVariable>& variables) {
  std::string scope;
  for (const WaveVariable& v : variables) {
    const ScopeStep step = scope_step(scope, v.scope);
    for (unsigned i = 0; i < step.leave; ++i) fstWriterSetUpscope(writer_);
    for (const std::string& name : step.enter) fstWriterSetScope(writer_, FST_ST_VCD_MODULE, name.c_str(), nullptr);
    scope = v.scope;
    if (v.is_text) {
      handles_.push_back(fstWriterCreateVar(writer_, FST_VT_GEN_STRING, FST_VD_IMPLICIT, 0, v.name.c_str(), 0));
      continue;
    }
    if (v.words != nullptr) fstWriterEmitEnumTableRef(writer_, enumeration(v));
    handles_.push_back(fstWriterCreateVar(writer_, FST_VT_VCD_WIRE, FST_VD_IMPLICIT, v.width, v.name.c_str(), 0));
  }
}

void FstSink::time(std::uint64_t ps) {
  fstWriterEmitTimeChange(writer_, ps);
  last_ps_ = ps;
}

void FstSink::value(std::size_t variable, std::string_view bits) {
  fstWriterEmitValueChange(writer_, handles_[variable], bits.data());
}

void FstSink::text(std::size_t variable, std::string_view text) {
  fstWriterEmitVariableLengthValueChange(writer_, handles_[variable], text.data(),
                                         static_cast<std::uint32_t>(text.size()));
}

void FstSink::close() {
  if (writer_ == nullptr) return;
  if (last_ps_ == 0) time(1);  // readers take an end at 0 for an unfinished file
  fstWriterClose(writer_);
  writer_ = nullptr;
  if (is_complete(pending_.name(), handles_.size())) return pending_.commit();
  pending_.discard();
  throw OutputError(pending_.file() + ": cannot be written completely; is the disk full?");
}

}  // namespace rnic
