// A source of packets that costs less than any UPF: it runs on frames that `traffic offer` hands to the kernel
// (BPF_PROG_TEST_RUN with live frames) and sends each straight to the far end of a link, which receives it as
// from a wire. It keeps the pace too: a burst whose time has not come is dropped, here, and tried again.
//
// Frames come back with what the receiver made of their headers, so those are written anew each time.

#include <linux/bpf.h>
#include <stddef.h>

#define SEC(name) __attribute__((section(name), used))

static __u64 (*now_ns)(void) = (void*)BPF_FUNC_ktime_get_ns;
static long (*redirect)(__u32, __u64) = (void*)BPF_FUNC_redirect;

// traffic.cpp has the same structure.
struct flow {
  __u64 head[11];  // Ethernet to inner UDP header, 86 octets, and 2 more
};
struct control {
  __u64 next_ns, gap_ns;  // when the next burst is due, and the time between two
  __u64 sent;
  __u32 burst, left;  // packets of a burst, and those left of the present one
  __u32 turn;         // within the frames that the kernel handles as one: bursts begin with them
  __u32 spare;
  __u32 flows, flow;
  __u32 ifindex;
  __u32 span;  // more than 1: the only flow stands for so many, of TEIDs and sources that follow each other
  __u32 teid, source;
  __u32 ip_sum, pseudo_sum, udp_sum, outer_sum;  // of what doesn't change from one to the next
  struct flow at[8];
};
volatile struct control control;

#define BE16(x) __builtin_bswap16(x)
#define BE32(x) __builtin_bswap32(x)

static inline __attribute__((always_inline)) __u16 fold(__u32 sum) {
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return (__u16)sum;
}

/// The fields of the flow with that number, in a frame that has the first one's.
static inline __attribute__((always_inline)) void number(char* frame, __u32 at) {
  __u32 teid = control.teid + at, source = control.source + at;
  __u32 source_sum = (source >> 16) + (source & 0xffff);
  __u16 udp = (__u16)~fold(control.udp_sum + source_sum);
  // The inner UDP datagram adds up to the complement of its pseudo header, whatever is in it.
  __u32 inner = 0xffff - fold(control.pseudo_sum + source_sum);
  __u16 outer = (__u16)~fold(control.outer_sum + (teid >> 16) + (teid & 0xffff) + inner);
  *(__u16*)(frame + 40) = BE16(outer ? outer : 0xffff);
  *(__u32*)(frame + 46) = BE32(teid);
  *(__u16*)(frame + 68) = BE16((__u16)~fold(control.ip_sum + source_sum));
  *(__u32*)(frame + 70) = BE32(source);
  *(__u16*)(frame + 84) = BE16(udp ? udp : 0xffff);
}

SEC("bench_source") int source(struct xdp_md* context) {
  control.turn = control.turn + 1 < control.burst ? control.turn + 1 : 0;
  if (control.left == 0) {
    if (control.turn != 0 || now_ns() < control.next_ns) return XDP_DROP;
    control.next_ns += control.gap_ns;
    control.left = control.burst;
    control.flow = control.flow + 1 < control.flows * control.span ? control.flow + 1 : 0;
  }
  --control.left;
  ++control.sent;
  volatile struct flow* flow = &control.at[control.span > 1 ? 0 : control.flow & 7];
  __u64* out = (void*)(long)context->data;
  if ((void*)(out + 11) > (void*)(long)context->data_end) return XDP_ABORTED;
#pragma unroll
  for (int i = 0; i < 11; ++i) out[i] = flow->head[i];
  if (control.span > 1) number((char*)out, control.flow);
  return redirect(control.ifindex, 0);
}

char _license[] SEC("license") = "GPL";
