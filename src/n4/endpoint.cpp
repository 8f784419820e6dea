// PFCP's transaction layer. Two directions that share nothing but the socket:
//
//   requests of peers   datagram -> seen before? -> repeat the answer | hand it up
//   requests of ours    send -> repeat each T1 -> answer | give up after N1 repetitions
//
// Nothing here looks into a message's IEs. Nothing a stranger sends makes us send more octets than
// came in, except by what the layer above answers.
#include "upf/n4/endpoint.hpp"

#include <functional>
#include <string_view>
#include <utility>

#include "src/n4/answer_cache.hpp"
#include "upf/base/assert.hpp"

namespace upf::n4 {
namespace {

using pfcp::MessageType;

constexpr std::size_t kLengthOffset = 4;  ///< the length field counts from here

std::size_t digest_of(wire::Bytes octets) {
  const std::string_view text{reinterpret_cast<const char*>(octets.data()), octets.size()};
  return std::hash<std::string_view>{}(text);
}

wire::Octets version_not_supported(const Header& header) {
  wire::Writer out;
  out.be<std::uint8_t>(1U << 5U);
  out.be<std::uint8_t>(static_cast<std::uint8_t>(MessageType::VersionNotSupportedResponse));
  out.be<std::uint16_t>(4);
  out.be<std::uint32_t, 3>(header.sequence);
  out.be<std::uint8_t>(0);
  return std::move(out).take();
}

}  // namespace

/// Of known peers and of all others. A request stays where it was put when its peer becomes known.
struct Endpoint::Caches {
  explicit Caches(const Settings& settings) : known(settings.known), unknown(settings.unknown) {}
  AnswerCache known;
  AnswerCache unknown;

  [[nodiscard]] const AnswerCache::Entry* find(const RequestKey& key) const {
    const auto* entry = known.find(key);
    return entry != nullptr ? entry : unknown.find(key);
  }
  void erase(const RequestKey& key) {
    if (!known.erase(key)) (void)unknown.erase(key);
  }
  void drop_old(TimePoint now) {
    known.drop_old(now);
    unknown.drop_old(now);
  }
};

Endpoint::Endpoint(const Settings& settings)
    : settings_(settings),
      caches_(std::make_unique<Caches>(settings)),
      sequence_(settings.first_sequence & kLastSequence) {}
Endpoint::~Endpoint() = default;

Input Endpoint::on_datagram(const Now& now, const SocketAddress& from, wire::Bytes datagram) {
  Input input;
  if (datagram.empty()) return input;  // says nothing, asks nothing
  ++counters_.received;
  caches_->drop_old(now.steady);
  // TS 29.244 6.5, 7.2.1A: messages in one datagram follow each other where FO is set.
  for (wire::Bytes rest = datagram; !rest.empty();) {
    const std::optional<Header> header = read_header(rest);
    if (!header) {  // 7.6.3: too short for its header, discarded silently
      ++counters_.malformed;
      break;
    }
    const std::size_t size = kLengthOffset + header->length;
    const bool last = !header->follow_on;
    const bool fits = size >= header->size() && (last ? size == rest.size() : size <= rest.size());
    if (!fits) ++counters_.malformed;
    on_message(now, from, *header, fits ? rest.first(size) : rest, !fits, input);
    if (last || !fits) break;
    rest = rest.subspan(size);
  }
  return input;
}

void Endpoint::on_message(const Now& now, const SocketAddress& from, const Header& header,
                          wire::Bytes message, bool invalid_length, Input& input) {
  if (header.version != 1) {  // 7.6.2; an answer is never answered, whatever its version
    ++counters_.unsupported_version;
    if (!pfcp::is_response(header.type))
      input.send.push_back({from, version_not_supported(header)});
    return;
  }
  if (is_request(header.type)) {
    on_request(now, from, header, message, invalid_length, input);
  } else if (pfcp::is_response(header.type)) {
    on_response(from, header, message, invalid_length, input);
  } else {
    ++counters_.unknown_type;  // 7.6.4: discarded silently
  }
}

void Endpoint::on_request(const Now& now, const SocketAddress& from, const Header& header,
                          wire::Bytes message, bool invalid_length, Input& input) {
  const RequestKey key{from, header.sequence, header.type};
  if (header.type != MessageType::HeartbeatRequest) {
    const std::size_t digest = digest_of(message);
    if (const auto* seen = caches_->find(key); seen != nullptr) {
      if (seen->digest == digest) {
        if (seen->answered) {
          ++counters_.repeated_answered;
          const wire::Bytes answer = seen->answer();
          input.send.push_back({from, {answer.begin(), answer.end()}});
        } else {
          ++counters_.repeated_dropped;
        }
        return;
      }
      caches_->erase(key);
    }
    AnswerCache& cache = known_peers_.contains(from.ip) ? caches_->known : caches_->unknown;
    cache.add(key, digest, now.steady + settings_.keep_answers);
  }
  input.received.emplace_back(Request{key, header, message.subspan(header.size()), invalid_length});
}

void Endpoint::on_response(const SocketAddress& from, const Header& header, wire::Bytes message,
                           bool invalid_length, Input& input) {
  const std::optional<std::uint32_t> sequence = match(from, header);
  if (!sequence) {
    ++counters_.stray_responses;
    return;
  }
  // 7.6.1: even an erroneous answer ends the request.
  finish(own_.find(*sequence));
  input.received.emplace_back(
      Response{{*sequence}, from, header, message.subspan(header.size()), invalid_length});
}

// free5GC's SMF answers our Association Setup and Release Requests with sequence number 1 whatever
// ours was. Such an answer is taken if just one request of that kind to that address is open, so
// there is nothing else that it could answer.
std::optional<std::uint32_t> Endpoint::match(const SocketAddress& from,
                                             const Header& header) const {
  const auto answers = [&](const Own& own) {
    return own.to.ip == from.ip && (header.type == pfcp::response_to(own.type) ||
                                    header.type == MessageType::VersionNotSupportedResponse);
  };
  const auto exact = own_.find(header.sequence);
  if (exact != own_.end() && answers(exact->second)) return exact->first;

  const bool fixed_sequence =
      header.sequence == 1 && (header.type == MessageType::AssociationSetupResponse ||
                               header.type == MessageType::AssociationReleaseResponse);
  if (!fixed_sequence) return std::nullopt;
  std::optional<std::uint32_t> only;
  for (const auto& [sequence, own] : own_) {
    if (!answers(own)) continue;
    if (only) return std::nullopt;
    only = sequence;
  }
  return only;
}

Datagram Endpoint::answer(const RequestKey& key, wire::Octets message) {
  if (!caches_->known.answer(key, message)) (void)caches_->unknown.answer(key, message);
  return {key.peer, std::move(message)};
}

void Endpoint::abandon(const RequestKey& key) { caches_->erase(key); }

std::optional<OwnRequest> Endpoint::request(const Now& now, const SocketAddress& to,
                                            wire::Octets message, std::vector<Datagram>& send) {
  if (own_.size() >= settings_.max_own_requests) return std::nullopt;
  const std::uint32_t sequence = next_sequence();
  write_sequence(message, sequence);
  const auto type = static_cast<MessageType>(message[1]);
  Own own{.to = to,
          .type = type,
          .message = std::move(message),
          .due = now.steady + settings_.retransmit_after};
  send.push_back({to, own.message});
  due_.emplace(own.due, sequence);
  own_.emplace(sequence, std::move(own));
  return OwnRequest{sequence};
}

std::uint32_t Endpoint::next_sequence() {
  // Fewer than 2^24 are in use, so this ends.
  while (sequence_ == 0 || own_.contains(sequence_)) sequence_ = (sequence_ + 1) & kLastSequence;
  return std::exchange(sequence_, (sequence_ + 1) & kLastSequence);
}

void Endpoint::cancel(OwnRequest request) {
  if (const auto own = own_.find(request.value); own != own_.end()) finish(own);
}

void Endpoint::finish(std::map<std::uint32_t, Own>::iterator own) {
  due_.erase({own->second.due, own->first});
  own_.erase(own);
}

Timeouts Endpoint::on_timer(const Now& now) {
  Timeouts out;
  caches_->drop_old(now.steady);
  while (!due_.empty() && due_.begin()->first <= now.steady) {
    const std::uint32_t sequence = due_.begin()->second;
    const auto at = own_.find(sequence);
    UPF_ASSERT(at != own_.end());
    Own& own = at->second;
    if (own.repeated >= settings_.max_retransmissions) {
      ++counters_.expired;
      out.expired.push_back({{sequence}, own.to, own.type});
      finish(at);
      continue;
    }
    ++own.repeated;
    ++counters_.retransmitted;
    out.send.push_back({own.to, own.message});
    due_.erase(due_.begin());
    own.due = now.steady + settings_.retransmit_after;
    due_.emplace(own.due, sequence);
  }
  return out;
}

std::optional<TimePoint> Endpoint::wake_at() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

void Endpoint::set_known(const IpAddress& peer, bool known) {
  if (known) {
    known_peers_.insert(peer);
  } else {
    known_peers_.erase(peer);
  }
}

void Endpoint::forget_answers(const IpAddress& peer) {
  caches_->known.erase_answers_to(peer);
  caches_->unknown.erase_answers_to(peer);
}

std::size_t Endpoint::cached_octets() const {
  return caches_->known.octets() + caches_->unknown.octets();
}
std::size_t Endpoint::cached_entries() const {
  return caches_->known.size() + caches_->unknown.size();
}

}  // namespace upf::n4
