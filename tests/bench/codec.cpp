// What the codec costs: `build/release/bench_codec`. A typical establishment is the one that
// free5GC's SMF writes (2 PDRs, 2 FARs, a URR, a QER).

#include <benchmark/benchmark.h>

#include "tests/unit/pfcp/vectors.hpp"
#include "upf/pfcp/messages/session.hpp"

namespace {

using upf::pfcp::Bytes;
using upf::pfcp::test::vector_named;

template <class M>
void decode_vector(benchmark::State& state, const char* name) {
  const auto frame = upf::pfcp::decode_header(vector_named(name).octets);
  for (auto unused : state) {
    auto message = upf::pfcp::decode<M>(frame->body);
    benchmark::DoNotOptimize(message);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(frame->body.size()) * state.iterations());
}

template <class M>
void encode_vector(benchmark::State& state, const char* name) {
  const auto frame = upf::pfcp::decode_header(vector_named(name).octets);
  const auto message = upf::pfcp::decode<M>(frame->body);
  for (auto unused : state) {
    auto octets = upf::pfcp::encode(*message, {.seid = upf::Seid{1}, .sequence = 1});
    benchmark::DoNotOptimize(octets);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(frame->body.size()) * state.iterations());
}

using upf::pfcp::SessionEstablishmentRequest;
using upf::pfcp::SessionEstablishmentResponse;
using upf::pfcp::SessionModificationRequest;
using upf::pfcp::SessionReportRequest;

void register_all() {
  using benchmark::RegisterBenchmark;
  RegisterBenchmark("decode/establishment_free5gc", decode_vector<SessionEstablishmentRequest>,
                    "establishment_request_free5gc");
  RegisterBenchmark("decode/establishment_open5gs", decode_vector<SessionEstablishmentRequest>,
                    "establishment_request_open5gs");
  RegisterBenchmark("decode/activation", decode_vector<SessionModificationRequest>,
                    "modification_request_activation");
  RegisterBenchmark("encode/establishment_free5gc", encode_vector<SessionEstablishmentRequest>,
                    "establishment_request_free5gc");
  RegisterBenchmark("encode/establishment_response", encode_vector<SessionEstablishmentResponse>,
                    "establishment_response");
  RegisterBenchmark("encode/report", encode_vector<SessionReportRequest>, "report_request_full");
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  register_all();
  benchmark::RunSpecifiedBenchmarks();
}
