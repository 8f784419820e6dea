#include "datagram_batch.hpp"

#include <cstring>

#include "upf/base/assert.hpp"

namespace upf::userplane {

DatagramBatch::DatagramBatch(Sink& sink, bool segment)
    : sink_(sink), segment_(segment), arena_(new std::uint8_t[kArena]), messages_(kMessages) {
  out_.reserve(kMessages);
}

std::span<std::uint8_t, DatagramBatch::kMaxHead> DatagramBatch::head() {
  if (kArena - arena_used_ < kMaxHead + kCopied) flush();
  return std::span<std::uint8_t, kMaxHead>{arena_.get() + arena_used_, kMaxHead};
}

std::size_t DatagramBatch::hash(const Target& target) {
  std::uint64_t x = target.peer.low ^ target.peer.high ^ std::uint64_t{target.socket} << 48U ^
                    std::uint64_t{target.tos} << 40U ^ std::uint64_t{target.port} << 32U;
  x *= 0x9e3779b97f4a7c15ULL;
  return static_cast<std::size_t>(x >> 58U);
}

DatagramBatch::Message& DatagramBatch::message_for(const Target& target, std::size_t size) {
  std::uint8_t& newest = newest_[hash(target)];
  if (newest != 0) {
    Message& message = messages_[newest - 1U];
    if (!message.closed && message.target == target && size <= message.segment_size &&
        message.octets + size <= kMaxOctets && message.parts + 2U <= message.part.size()) {
      return message;
    }
  }
  // Callers leave room for one message (see add()).
  Message& message = messages_[used_++];
  newest = static_cast<std::uint8_t>(used_);
  message.target = target;
  message.segment_size = static_cast<std::uint32_t>(size);
  message.octets = 0;
  message.count = 0;
  message.parts = 0;
  message.closed = !segment_;
  return message;
}

void DatagramBatch::append(Message& message, const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  if (message.parts > 0) {
    iovec& last = message.part[message.parts - 1U];
    if (static_cast<const std::uint8_t*>(last.iov_base) + last.iov_len == data) {
      last.iov_len += size;
      return;
    }
  }
  message.part[message.parts++] = {const_cast<std::uint8_t*>(data), size};
}

void DatagramBatch::add(const Target& target, std::size_t head_size,
                        std::span<const std::uint8_t> payload) {
  UPF_ASSERT(head_size <= kMaxHead);
  std::uint8_t* at = arena_.get() + arena_used_;
  std::size_t inline_size = head_size;
  if (payload.size() <= kCopied) {
    if (!payload.empty()) std::memcpy(at + head_size, payload.data(), payload.size());
    inline_size += payload.size();
    payload = {};
  }
  const std::size_t size = inline_size + payload.size();
  Message& message = message_for(target, size);
  append(message, at, inline_size);
  append(message, payload.data(), payload.size());
  arena_used_ += inline_size;
  message.octets += static_cast<std::uint32_t>(size);
  ++message.count;
  if (size < message.segment_size || message.count == kSegments) message.closed = true;
  if (used_ == kMessages) flush();
}

void DatagramBatch::flush() {
  if (used_ == 0) return;
  out_.clear();
  for (std::size_t i = 0; i < used_; ++i) {
    const Message& m = messages_[i];
    out_.push_back({.socket = m.target.socket,
                    .port = m.target.port,
                    .peer = m.target.peer,
                    .ipv6 = m.target.ipv6,
                    .tos = m.target.tos,
                    .count = m.count,
                    .segment_size = m.segment_size,
                    .octets = m.octets,
                    .parts = {m.part.data(), m.parts}});
  }
  sink_.send(out_);
  used_ = 0;
  arena_used_ = 0;
  newest_.fill(0);
}

}  // namespace upf::userplane
