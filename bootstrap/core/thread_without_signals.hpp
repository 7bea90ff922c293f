#pragma once

#include <csignal>
#include <thread>
#include <utility>

namespace hpcboot {

// A thread that takes no signals: they belong to the thread that reads them.
template <typename Body>
std::thread thread_without_signals(Body body) {
  sigset_t all;
  sigset_t own;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &own);
  std::thread thread(std::move(body));
  pthread_sigmask(SIG_SETMASK, &own, nullptr);
  return thread;
}

}  // namespace hpcboot
