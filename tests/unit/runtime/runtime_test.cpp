#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "upf/runtime/loop.hpp"
#include "upf/runtime/udp_socket.hpp"

namespace upf::runtime {
namespace {

using namespace std::chrono_literals;
using Octets = std::vector<std::uint8_t>;

const SocketAddress kAnyPort{Ipv4{{127, 0, 0, 1}}, 0};

UdpSocket bound(const SocketAddress& local = kAnyPort) {
  auto socket = UdpSocket::bind(local);
  if (!socket) {
    ADD_FAILURE() << to_string(socket.error());
    std::abort();
  }
  return std::move(*socket);
}

/// A loop that a test can't hang in.
struct BoundedLoop {
  Loop loop{};
  Loop::Source deadline = *loop.add_timer([this] { loop.stop(99); });
  BoundedLoop() { loop.set_timer(deadline, now().steady + 20s); }
};

TEST(UniqueFd, ClosesOnce) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd reader{ends[0]};
  {
    UniqueFd writer{ends[1]};
    UniqueFd moved{std::move(writer)};
    EXPECT_EQ(moved.get(), ends[1]);
  }
  char octet{};
  EXPECT_EQ(::read(reader.get(), &octet, 1), 0);  // end of file: the writer is closed
}

TEST(Loop, CallsBackWhenADescriptorIsReadable) {
  BoundedLoop bounded;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd reader{ends[0]};
  const UniqueFd writer{ends[1]};
  const auto source = bounded.loop.add_io(reader.get(), EPOLLIN, [&](std::uint32_t events) {
    EXPECT_TRUE(events & EPOLLIN);
    bounded.loop.stop(7);
  });
  ASSERT_TRUE(source.has_value());
  ASSERT_EQ(::write(writer.get(), "x", 1), 1);
  EXPECT_EQ(bounded.loop.run(), 7);
}

TEST(Loop, ACallbackMayDestroyItsOwnSource) {
  BoundedLoop bounded;
  Loop::Source timer;
  auto made = bounded.loop.add_timer([&] {
    timer = {};
    bounded.loop.stop(3);
  });
  ASSERT_TRUE(made.has_value());
  timer = std::move(*made);
  bounded.loop.set_timer(timer, now().steady);
  EXPECT_EQ(bounded.loop.run(), 3);
  EXPECT_FALSE(timer);
}

TEST(Loop, TimersFireInOrderNeverEarlyAndOnce) {
  BoundedLoop bounded;
  std::vector<int> fired;
  const TimePoint start = now().steady;
  TimePoint at{};
  auto late = *bounded.loop.add_timer([&] {
    at = now().steady;
    fired.push_back(2);
    bounded.loop.stop(0);
  });
  auto early = *bounded.loop.add_timer([&] { fired.push_back(1); });
  auto never = *bounded.loop.add_timer([&] { fired.push_back(3); });
  bounded.loop.set_timer(late, start + 20ms);
  bounded.loop.set_timer(early, start - 1h);
  bounded.loop.set_timer(never, start + 1ms);
  bounded.loop.set_timer(never, {});
  EXPECT_EQ(bounded.loop.run(), 0);
  EXPECT_EQ(fired, (std::vector<int>{1, 2}));
  EXPECT_GE(at, start + 20ms);
}

TEST(Loop, RunsWhatOtherThreadsPostInOrder) {
  BoundedLoop bounded;
  std::vector<int> got;
  std::thread other{[&] {
    for (int i = 0; i < 100; ++i) bounded.loop.post([&, i] { got.push_back(i); });
    bounded.loop.stop(5);
  }};
  EXPECT_EQ(bounded.loop.run(), 5);
  other.join();
  ASSERT_EQ(got.size(), 100U);
  EXPECT_TRUE(std::ranges::is_sorted(got));
}

TEST(Loop, DeliversABlockedSignal) {
  block_signals({SIGUSR2});
  BoundedLoop bounded;
  const auto source = bounded.loop.on_signal(SIGUSR2, [&] { bounded.loop.stop(4); });
  ASSERT_TRUE(source.has_value());
  ASSERT_EQ(::kill(::getpid(), SIGUSR2), 0);
  EXPECT_EQ(bounded.loop.run(), 4);
}

TEST(UdpSocket, CarriesABatchBothWaysWithAddresses) {
  UdpSocket a = bound();
  UdpSocket b = bound();
  std::vector<Octets> payloads;
  for (std::size_t i = 0; i < 100; ++i) payloads.emplace_back(i, static_cast<std::uint8_t>(i));
  std::vector<Sending> sending;
  for (const Octets& payload : payloads) sending.push_back({b.local(), {}, payload});
  EXPECT_EQ(a.send(sending), 100U);
  std::vector<Octets> got;
  while (got.size() < 100) {
    const auto batch = b.receive();
    ASSERT_TRUE(batch.has_value());
    ASSERT_FALSE(batch->empty()) << "after " << got.size();
    for (const Received& datagram : *batch) {
      EXPECT_EQ(datagram.from, a.local());
      EXPECT_EQ(datagram.to, b.local().ip);
      got.emplace_back(datagram.octets.begin(), datagram.octets.end());
    }
  }
  EXPECT_EQ(got, payloads);  // the first of them is empty, cases.md 1
  EXPECT_TRUE(b.receive()->empty());
}

TEST(UdpSocket, TakesTheLargestDatagramWhole) {
  UdpSocket a = bound();
  UdpSocket b = bound();
  const Octets largest(65507, 0xa5);
  const Sending sending[] = {{b.local(), {}, largest}};
  ASSERT_EQ(a.send(sending), 1U);
  const auto batch = b.receive();
  ASSERT_EQ(batch->size(), 1U);
  EXPECT_EQ(batch->front().octets.size(), 65507U);
}

// cases.md 32: bound to all addresses, the answer still comes from the one that was asked.
TEST(UdpSocket, AnswersFromTheAddressThatWasAsked) {
  UdpSocket server = bound({Ipv4{}, 0});
  UdpSocket client = bound();
  const SocketAddress asked{Ipv4{{127, 0, 0, 9}}, server.local().port};
  const Octets payload{1, 2, 3};
  const Sending request[] = {{asked, {}, payload}};
  ASSERT_EQ(client.send(request), 1U);
  const auto got = server.receive();
  ASSERT_EQ(got->size(), 1U);
  EXPECT_EQ(got->front().to, asked.ip);
  const Sending answer[] = {{got->front().from, got->front().to, payload}};
  ASSERT_EQ(server.send(answer), 1U);
  const auto answered = client.receive();
  ASSERT_EQ(answered->size(), 1U);
  EXPECT_EQ(answered->front().from, asked);
}

TEST(UdpSocket, WorksOverIpv6) {
  Ipv6 loopback;
  loopback.octets[15] = 1;
  UdpSocket server = bound({Ipv6{}, 0});
  UdpSocket client = bound({loopback, 0});
  const Octets payload{9};
  const Sending request[] = {{{loopback, server.local().port}, {}, payload}};
  ASSERT_EQ(client.send(request), 1U);
  const auto got = server.receive();
  ASSERT_EQ(got->size(), 1U);
  EXPECT_EQ(got->front().from, client.local());
  EXPECT_EQ(got->front().to, IpAddress{loopback});
  const Sending answer[] = {{got->front().from, got->front().to, payload}};
  EXPECT_EQ(server.send(answer), 1U);
}

TEST(UdpSocket, OneBadDestinationDoesNotStopTheOthers) {
  UdpSocket a = bound();
  UdpSocket b = bound();
  const Octets payload{1};
  const Octets too_long(65508, 0);
  const Sending sending[] = {{b.local(), {}, too_long}, {b.local(), {}, payload}};
  EXPECT_EQ(a.send(sending), 1U);
  EXPECT_EQ(b.receive()->size(), 1U);
}

TEST(UdpSocket, ShowsWhatHasArrivedAndWhatHadNoRoom) {
  UdpSocket receiver = bound();
  UdpSocket sender = bound();
  const int small = 64 << 10;
  ASSERT_EQ(::setsockopt(receiver.fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
  EXPECT_EQ(receiver.backlog().percent, 0U);
  const Octets octets(1000);
  const auto send = [&](std::size_t datagrams) {
    (void)sender.send(std::vector<Sending>(datagrams, Sending{receiver.local(), {}, octets}));
  };
  send(20);
  const Backlog some = receiver.backlog();
  EXPECT_GE(some.percent, 15U);
  EXPECT_LE(some.percent, 75U);
  EXPECT_GE(some.waiting, 10U);
  EXPECT_LE(some.waiting, 60U);
  EXPECT_EQ(some.dropped, 0U);
  send(300);
  EXPECT_GE(receiver.backlog().percent, 90U);
  EXPECT_GT(receiver.backlog().dropped, 0U);
  while (!receiver.receive()->empty()) {
  }
  EXPECT_LE(receiver.backlog().percent, 25U) << "the kernel gives memory back in steps";
}

TEST(ThreadCpuTime, GoesOnWithWorkAndNotWithSleep) {
  const auto begin = thread_cpu_time();
  std::this_thread::sleep_for(std::chrono::milliseconds{50});
  EXPECT_LT(thread_cpu_time() - begin, std::chrono::milliseconds{25});
  while (thread_cpu_time() - begin < std::chrono::milliseconds{50}) {
  }
}

// cases.md 70
TEST(UdpSocket, ABusyPortIsAnError) {
  const UdpSocket first = bound();
  const auto second = UdpSocket::bind(first.local());
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().number, EADDRINUSE);
  EXPECT_EQ(to_string(second.error()),
            "bind " + to_string(first.local()) + ": Address already in use");
}

}  // namespace
}  // namespace upf::runtime
