#include "model/rnic/llp/sctp/cookie.h"

#include "model/wire/fields.h"

namespace rnic::sctp {
namespace {

std::uint64_t mac(const SipKey& key, ByteSpan octets) { return siphash(key, octets.subspan(0, Cookie::kFieldBytes)); }

}  // namespace

CookieOctets seal(const SipKey& key, const Cookie& cookie) {
  CookieOctets octets{};
  wire::FieldWriter writer(octets.data());
  Cookie::fields(cookie, writer);
  store_be64(octets.data() + Cookie::kFieldBytes, mac(key, octets));
  return octets;
}

bool unseal(const SipKey& key, ByteSpan octets, Cookie& cookie) {
  if (octets.size() != Cookie::kBytes) return false;
  if (load_be64(octets.data() + Cookie::kFieldBytes) != mac(key, octets)) return false;
  wire::FieldReader reader(octets.data());
  Cookie::fields(cookie, reader);
  return true;
}

}  // namespace rnic::sctp
