#include "core/block_signals.hpp"

#include <csignal>
#include <gtest/gtest.h>
#include <thread>

namespace errand::detail {
namespace {

bool blocks(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

TEST(BlockSignals, AThreadOfTheLibraryTakesNoSignalsButItsOwnFaults) {
  bool terminate = false;
  bool window = false;
  bool fault = true;
  start_without_signals([&] {
    terminate = blocks(SIGTERM);
    window = blocks(SIGWINCH);
    fault = blocks(SIGSEGV);
  }).join();
  EXPECT_TRUE(terminate);
  EXPECT_TRUE(window);
  EXPECT_FALSE(fault);
}

TEST(BlockSignals, TheThreadThatStartsItTakesThemAsBefore) {
  ASSERT_FALSE(blocks(SIGTERM));
  start_without_signals([] {}).join();
  EXPECT_FALSE(blocks(SIGTERM));
}

}  // namespace
}  // namespace errand::detail
