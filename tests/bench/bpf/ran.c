// The RAN of the benchmark, in the kernel: UEs are addresses of the ran namespace, and their packets are put
// into GTP-U as they leave the veth and taken out as they arrive, so that the generator costs less than any
// UPF. Built with clang -target bpf for each run, with the addresses as constants:
//   UPF, GNB      IPv4 addresses in network order, as numbers
//   UE_NET        the first 16 bits of the UEs' addresses, host order
//   TEID(index)   the uplink TEID of the UE with that lower half, host order
//   SEGMENTER     the ifindex of the veth that cuts what can't be cut after encapsulation
//   NO_CHECKSUM   1: outer UDP checksum 0, as hardware gNBs send it
//
// TCP super packets stay whole until they leave (GSO after encapsulation): the outer UDP checksum follows
// from headers alone, because the checksum of what is inside is valid (local checksum offload), and is the
// same for all segments of full size. A super packet whose last segment is shorter would get a wrong GTP-U
// length there, since segmentation copies that header: such ones, and UDP super packets, take the segmenter.

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <linux/tcp.h>
#include <linux/udp.h>

#define SEC(name) __attribute__((section(name), used))
#define INLINE static inline __attribute__((always_inline))

static long (*adjust_room)(struct __sk_buff*, __s32, __u32, __u64) = (void*)BPF_FUNC_skb_adjust_room;
static long (*store_bytes)(struct __sk_buff*, __u32, const void*, __u32, __u64) =
    (void*)BPF_FUNC_skb_store_bytes;
static long (*load_bytes)(const struct __sk_buff*, __u32, void*, __u32) = (void*)BPF_FUNC_skb_load_bytes;
static long (*redirect)(__u32, __u64) = (void*)BPF_FUNC_redirect;
static long (*adjust_head)(struct xdp_md*, int) = (void*)BPF_FUNC_xdp_adjust_head;

#define BE16(x) __builtin_bswap16(x)
#define BE32(x) __builtin_bswap32(x)

struct gtpu {
  __u8 flags, type;
  __be16 length;
  __be32 teid;
  __be16 sequence;
  __u8 npdu, next, units, pdu_type, qfi, end;
} __attribute__((packed));

struct outer {
  struct iphdr ip;
  struct udphdr udp;
  struct gtpu gtpu;
} __attribute__((packed));

INLINE __u32 sum16(const void* data, int words) {
  const __u16* at = data;
  __u32 sum = 0;
#pragma unroll
  for (int i = 0; i < words; ++i) sum += at[i];
  return sum;
}

INLINE __u16 fold(__u32 sum) {
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return (__u16)sum;
}

/// What `inner` octets of a valid IPv4 packet add up to behind its header (which adds up to 0xffff): to the
/// complement of the pseudo header, or, where the checksum covers none, to 0xffff.
INLINE __u16 inner_sum(const struct iphdr* ip, __u16 inner) {
  if (ip->protocol == IPPROTO_ICMP) return 0xffff;
  __u32 pseudo = sum16(&ip->saddr, 4) + BE16((__u16)ip->protocol) + BE16((__u16)(inner - ip->ihl * 4));
  return (__u16)~fold(pseudo);
}

INLINE void fill(struct outer* out, const struct iphdr* inner_ip, __u16 segment, __u16 whole, __u32 teid) {
  out->ip.version = 4;
  out->ip.ihl = 5;
  out->ip.ttl = 64;
  out->ip.protocol = IPPROTO_UDP;
  out->ip.tot_len = BE16((__u16)(whole + sizeof(struct outer)));
  out->ip.saddr = GNB;
  out->ip.daddr = UPF;
  out->ip.check = (__u16)~fold(sum16(&out->ip, 10));
  out->udp.source = out->udp.dest = BE16(2152);
  out->udp.len = BE16((__u16)(whole + 8 + sizeof(struct gtpu)));
  out->gtpu.flags = 0x34;
  out->gtpu.type = 255;
  out->gtpu.length = BE16((__u16)(segment + 8));
  out->gtpu.teid = BE32(teid);
  out->gtpu.next = 0x85;
  out->gtpu.units = 1;
  out->gtpu.pdu_type = 0x10;
  out->gtpu.qfi = 9;
#if !NO_CHECKSUM
  // Pseudo header, UDP header and all behind it, for one segment.
  __u16 length = BE16((__u16)(segment + 8 + sizeof(struct gtpu)));
  __u32 sum = sum16(&out->ip.saddr, 4) + BE16(IPPROTO_UDP) + length + out->udp.source + out->udp.dest + length +
              sum16(&out->gtpu, sizeof(struct gtpu) / 2) + 0xffff + inner_sum(inner_ip, segment);
  __u16 check = (__u16)~fold(sum);
  out->udp.check = check ? check : 0xffff;
#endif
}

/// The size of each segment that leaves, or 0: it can't be cut after encapsulation.
INLINE __u32 segment_size(struct __sk_buff* skb, const struct iphdr* ip, __u32 inner) {
  if (skb->gso_size == 0) return inner;
  if (ip->protocol != IPPROTO_TCP) return 0;
  __u8 offset = 0;
  if (load_bytes(skb, ETH_HLEN + ip->ihl * 4 + 12, &offset, 1)) return 0;
  __u32 headers = ip->ihl * 4 + (offset >> 4) * 4;
  if (inner < headers || (inner - headers) % skb->gso_size) return 0;
  return headers + skb->gso_size;
}

INLINE int encapsulate(struct __sk_buff* skb, int may_redirect) {
  struct iphdr ip;
  if (skb->protocol != BE16(ETH_P_IP) || load_bytes(skb, ETH_HLEN, &ip, sizeof ip)) return TC_ACT_OK;
  __u32 ue = BE32(ip.saddr);
  if (ue >> 16 != UE_NET) return TC_ACT_OK;
  __u32 inner = skb->len - ETH_HLEN;
  __u32 segment = segment_size(skb, &ip, inner);
  if (segment == 0) return may_redirect ? redirect(SEGMENTER, 0) : TC_ACT_SHOT;
  struct outer out = {};
  fill(&out, &ip, (__u16)segment, (__u16)inner, TEID(ue & 0xffff));
  if (adjust_room(skb, sizeof out, BPF_ADJ_ROOM_MAC,
                  BPF_F_ADJ_ROOM_FIXED_GSO | BPF_F_ADJ_ROOM_ENCAP_L3_IPV4 | BPF_F_ADJ_ROOM_ENCAP_L4_UDP)) {
    return TC_ACT_SHOT;
  }
  if (store_bytes(skb, ETH_HLEN, &out, sizeof out, 0)) return TC_ACT_SHOT;
  return TC_ACT_OK;
}

SEC("bench_encap") int encap(struct __sk_buff* skb) { return encapsulate(skb, 1); }

/// At the far end of the segmenter: the frame goes to the N3 link, where encap() sees it again, now single.
SEC("bench_again") int again(struct __sk_buff* skb) { return redirect(N3, 0); }

/// Takes GTP-U off before GRO, so that the UEs' TCP gets its segments merged. With SINK, UDP to port 9 ends
/// here: the interface's own counters have seen it.
SEC("bench_decap") int decap(struct xdp_md* context) {
  void* end = (void*)(long)context->data_end;
  struct ethhdr* ethernet = (void*)(long)context->data;
  struct iphdr* ip = (void*)(ethernet + 1);
  struct udphdr* udp = (void*)(ip + 1);
  __u8* gtpu = (void*)(udp + 1);
  if ((void*)(gtpu + 16) > end) return XDP_PASS;
  if (ethernet->h_proto != BE16(ETH_P_IP) || ip->protocol != IPPROTO_UDP || ip->ihl != 5) return XDP_PASS;
  if (udp->dest != BE16(2152) || (gtpu[0] & 0xf0) != 0x30 || gtpu[1] != 255) return XDP_PASS;
  int header = 8;
  if (gtpu[0] & 7) {
    header = 12;
    // One extension header of 4 or 8 octets is all that UPFs send on N3.
    if (gtpu[0] & 4 && gtpu[11] != 0) header += gtpu[12] == 2 ? 8 : 4;
  }
  struct ethhdr kept = *ethernet;
  if (adjust_head(context, sizeof(struct iphdr) + sizeof(struct udphdr) + header)) return XDP_DROP;
  end = (void*)(long)context->data_end;
  ethernet = (void*)(long)context->data;
  ip = (void*)(ethernet + 1);
  udp = (void*)(ip + 1);
  if ((void*)(udp + 1) > end) return XDP_DROP;
  *ethernet = kept;
  if (ip->protocol == IPPROTO_UDP && udp->dest == BE16(9)) return XDP_DROP;
  return XDP_PASS;
}

/// At the data network's link: UDP to port 9 ends here.
SEC("bench_sink") int sink(struct __sk_buff* skb) {
  struct iphdr ip;
  __be16 port = 0;
  if (skb->protocol != BE16(ETH_P_IP) || load_bytes(skb, ETH_HLEN, &ip, sizeof ip)) return TC_ACT_OK;
  if (ip.protocol != IPPROTO_UDP || load_bytes(skb, ETH_HLEN + ip.ihl * 4 + 2, &port, 2)) return TC_ACT_OK;
  return port == BE16(9) ? TC_ACT_SHOT : TC_ACT_OK;
}

char _license[] SEC("license") = "GPL";
