#include "src/app/netfilter.hpp"

#include <fmt/format.h>
#include <nftables/libnftables.h>

// libnftables takes scripts of `nft`'s own language and runs each as one transaction. A table of
// our own is replaced whole: created (so that it is there to delete), deleted, created with its
// rules.
namespace upf::app {
namespace {

[[nodiscard]] Result<void, std::string> run_script(const std::string& script) {
  const std::unique_ptr<nft_ctx, void (*)(nft_ctx*)> context{nft_ctx_new(NFT_CTX_DEFAULT),
                                                             nft_ctx_free};
  if (!context) return failure(std::string{"libnftables can't be used"});
  nft_ctx_buffer_error(context.get());
  nft_ctx_buffer_output(context.get());
  if (nft_run_cmd_from_buffer(context.get(), script.c_str()) == 0) return {};
  std::string error = nft_ctx_get_error_buffer(context.get());
  error = error.substr(0, error.find('\n'));
  return failure(error.empty() ? "refused by the kernel" : error);
}

std::string remove_script(const std::string& table) {
  return fmt::format("table inet {0} {{ }}\ndelete table inet {0}\n", table);
}

bool wants_rules(const config::Config& config) {
  for (const auto& dnn : config.dnn_list) {
    if (!dnn.natifname.empty() || dnn.tcp_mss != 0) return true;
  }
  return false;
}

}  // namespace

std::string nat_table(const config::Config& config) {
  std::string name = "kupf_";
  for (const char c : config.gtpu.ifname) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    name += plain ? std::string{c} : fmt::format("_{:02x}", static_cast<unsigned char>(c));
  }
  return name;
}

std::string nat_script(const config::Config& config) {
  if (!wants_rules(config)) return {};
  std::string nat;
  std::string mss;
  for (const auto& dnn : config.dnn_list) {
    const bool v4 = std::holds_alternative<Ipv4Prefix>(dnn.cidr);
    const std::string family = v4 ? "ip" : "ip6";
    const std::string pool = to_string(dnn.cidr);
    if (!dnn.natifname.empty()) {
      nat +=
          fmt::format("    {} saddr {} oifname \"{}\" masquerade\n", family, pool, dnn.natifname);
    }
    if (dnn.tcp_mss == 0) continue;
    for (const char* end : {"saddr", "daddr"}) {
      mss += fmt::format(
          "    {} {} {} tcp flags & (syn | rst) == syn tcp option maxseg size > {} "
          "tcp option maxseg size set {}\n",
          family, end, pool, dnn.tcp_mss, dnn.tcp_mss);
    }
  }
  std::string script = remove_script(nat_table(config));
  script += fmt::format("table inet {} {{\n", nat_table(config));
  if (!nat.empty()) {
    script +=
        "  chain postrouting {\n    type nat hook postrouting priority srcnat;\n" + nat + "  }\n";
  }
  if (!mss.empty()) {
    script += "  chain forward {\n    type filter hook forward priority mangle;\n" + mss + "  }\n";
  }
  return script + "}\n";
}

Result<std::unique_ptr<Netfilter>, std::string> Netfilter::open(const config::Config& config) {
  std::unique_ptr<Netfilter> self{new Netfilter};
  self->table_ = nat_table(config);
  if (!wants_rules(config)) {
    // Without nftables in the kernel there is nothing left over, either.
    [[maybe_unused]] const auto ignored = run_script(remove_script(self->table_));
    return self;
  }
  if (auto ok = self->apply(config); !ok) return failure(ok.error());
  return self;
}

Result<void, std::string> Netfilter::apply(const config::Config& config) {
  const std::string script = wants_rules(config) ? nat_script(config) : remove_script(table_);
  if (auto ok = run_script(script); !ok) {
    return failure(
        fmt::format("natifname and tcpMss of dnnList need nftables ({}): modprobe nf_tables "
                    "nft_masq, or take the keys out",
                    ok.error()));
  }
  installed_ = wants_rules(config);
  return {};
}

Netfilter::~Netfilter() {
  if (!installed_) return;
  [[maybe_unused]] const auto ignored = run_script(remove_script(table_));
}

}  // namespace upf::app
