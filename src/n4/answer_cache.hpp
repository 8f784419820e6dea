#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "upf/n4/endpoint.hpp"

namespace upf::n4 {

/// Requests of peers that were seen lately, and what was answered: what a repetition is known by.
///
/// Memory is a ring in the order of arrival and an index into it, both as large as they have ever
/// been needed: a request that comes takes the place of the oldest, and costs no allocation unless
/// its answer is longer than most.
///
/// Limits: so many entries, and so many octets of answers.
class AnswerCache {
 public:
  struct Entry {
    RequestKey key{};
    std::size_t digest{};  ///< of the request's octets
    TimePoint expires{};
    bool answered{};

    [[nodiscard]] wire::Bytes answer() const {
      return {large_ ? large_.get() : small_.data(), size_};
    }

   private:
    friend class AnswerCache;
    bool live_{};
    std::uint32_t size_{};
    std::array<std::uint8_t, 96> small_{};
    std::unique_ptr<std::uint8_t[]> large_{};
  };

  explicit AnswerCache(const Endpoint::CacheLimits& limits) : limits_(limits) {}

  /// Nothing is changed in the entry but by answer(), and it is gone at the next add() or erase().
  [[nodiscard]] const Entry* find(const RequestKey& key) const;
  /// The key must not be there. Beyond the limits the oldest go, answered or not: an answer that
  /// comes for one of these is sent without being remembered.
  void add(const RequestKey& key, std::size_t digest, TimePoint expires);
  /// False: it is not there.
  bool answer(const RequestKey& key, wire::Bytes message);
  bool erase(const RequestKey& key);
  void erase_answers_to(const IpAddress& peer);
  /// Times grow with each add(), so the oldest are the first to go.
  void drop_old(TimePoint now);

  [[nodiscard]] std::size_t size() const { return live_; }
  [[nodiscard]] std::size_t octets() const { return octets_; }

 private:
  struct Slot {
    std::uint32_t hash{};
    std::uint32_t place{};  ///< in the ring, plus one; 0: free
  };
  static constexpr std::size_t kNone = SIZE_MAX;

  [[nodiscard]] static std::uint32_t hash_of(const RequestKey& key);
  [[nodiscard]] std::size_t slot_of(const RequestKey& key) const;
  [[nodiscard]] Entry& at(std::size_t slot) { return ring_[index_[slot].place - 1]; }
  void index(std::uint32_t hash, std::uint32_t place);
  void unindex(std::size_t slot);
  void erase_slot(std::size_t slot);
  void drop_first();
  void shrink();
  void grow();

  Endpoint::CacheLimits limits_;
  std::vector<Entry> ring_{};  ///< a power of two of them
  std::size_t first_{};        ///< the oldest
  std::size_t used_{};         ///< from there on, holes that erase() left included
  std::size_t live_{};         ///< of these, without holes
  std::size_t octets_{};       ///< of answers
  std::vector<Slot> index_{};  ///< twice as many, open addressing
};

}  // namespace upf::n4
