// lab: plays the neighbours of a UPF. Commands come from standard input, or over a UNIX socket from
// any number of clients; each line gets one line of JSON as its answer.

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>

#include "tests/lab/script.hpp"

namespace upf::lab {
namespace {

int serve_standard_input(Script& script) {
  std::string line;
  while (!script.finished() && std::getline(std::cin, line))
    std::cout << script.run(line) << std::endl;
  return 0;
}

/// Answers the whole lines that a client sent so far; false when the client has gone.
bool serve_client(Script& script, int fd, std::string& pending) {
  char buffer[4096];
  const ssize_t length = ::read(fd, buffer, sizeof buffer);
  if (length <= 0) return false;
  pending.append(buffer, static_cast<std::size_t>(length));
  for (auto end = pending.find('\n'); end != std::string::npos; end = pending.find('\n')) {
    const std::string answer = script.run(pending.substr(0, end)) + "\n";
    pending.erase(0, end + 1);
    if (::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) return false;
  }
  return true;
}

int serve_socket(Script& script, const char* path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::strncpy(name.sun_path, path, sizeof name.sun_path - 1);
  (void)::unlink(path);
  const Socket listener{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (::bind(listener.fd(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0 ||
      ::listen(listener.fd(), 8) != 0) {
    std::fprintf(stderr, "lab: %s\n", errno_text(path).c_str());
    return 1;
  }
  std::map<int, std::pair<Socket, std::string>> clients;
  while (!script.finished()) {
    std::vector<pollfd> waiting{{listener.fd(), POLLIN, 0}};
    for (const auto& [fd, client] : clients) waiting.push_back({fd, POLLIN, 0});
    if (::poll(waiting.data(), waiting.size(), -1) < 0) break;
    for (std::size_t i = 1; i < waiting.size(); ++i) {
      const int fd = waiting[i].fd;
      if (waiting[i].revents != 0 && !serve_client(script, fd, clients[fd].second))
        clients.erase(fd);
    }
    if (waiting[0].revents != 0) {
      Socket client{::accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC)};
      const int fd = client.fd();
      if (fd >= 0) clients[fd].first = std::move(client);
    }
  }
  (void)::unlink(path);
  return 0;
}

/// Sends one command and prints the answer; fails if the answer says `"ok":false` or none comes.
int send_command(const char* path, int count, char** words) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::strncpy(name.sun_path, path, sizeof name.sun_path - 1);
  const Socket socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
    std::fprintf(stderr, "lab: %s\n", errno_text(path).c_str());
    return 1;
  }
  std::string line;
  for (int i = 0; i < count; ++i) {
    const std::string word = words[i];
    const auto equals = word.find(' ') == std::string::npos ? std::string::npos : word.find('=');
    line += equals == std::string::npos
                ? word
                : word.substr(0, equals + 1) + '"' + word.substr(equals + 1) + '"';
    line += i + 1 < count ? ' ' : '\n';
  }
  (void)::send(socket.fd(), line.data(), line.size(), MSG_NOSIGNAL);
  std::string answer;
  char buffer[4096];
  while (answer.find('\n') == std::string::npos) {
    const ssize_t length = ::read(socket.fd(), buffer, sizeof buffer);
    if (length <= 0) break;
    answer.append(buffer, static_cast<std::size_t>(length));
  }
  std::fputs(answer.c_str(), stdout);
  return answer.find("\"ok\":true") != std::string::npos ? 0 : 1;
}

}  // namespace
}  // namespace upf::lab

int main(int argc, char** argv) {
  if (argc >= 4 && std::strcmp(argv[1], "--connect") == 0) {
    return upf::lab::send_command(argv[2], argc - 3, argv + 3);
  }
  upf::lab::Script script;
  if (argc == 1) return upf::lab::serve_standard_input(script);
  if (argc == 3 && std::strcmp(argv[1], "--socket") == 0)
    return upf::lab::serve_socket(script, argv[2]);
  std::fprintf(stderr,
               "usage: lab [--socket PATH]\n"
               "       lab --connect PATH COMMAND [NAME=VALUE...]\n"
               "Plays SMFs, gNBs and UEs around a UPF: one command a line, one line of JSON back.\n"
               "Commands: echo help | lab\n");
  return 2;
}
