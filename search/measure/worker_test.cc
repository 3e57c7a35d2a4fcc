// The worker behind plain pipes, as it would sit behind ssh, and fed nonsense.
#include "kiln/search/measure/worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <string>

#include "kiln/base/status_matchers.h"
#include "kiln/search/measure/channel.h"
#include "kiln/search/measure/runner.pb.h"
#include "kiln/search/measure/testing.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

class WorkerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    worker_ = fork();
    if (worker_ == 0) {
      close(ends[0]);
      RunWorker(ends[1]);
      _exit(0);
    }
    close(ends[1]);
    fd_.Reset(ends[0]);
  }

  void TearDown() override {
    fd_.Reset();
    int status = 0;
    waitpid(worker_, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }

  search::Response Ask(const std::string& payload) {
    KILN_EXPECT_OK(SendFrame(fd_.get(), payload));
    auto frame = ReceiveFrame(fd_.get());
    KILN_EXPECT_OK(frame);
    search::Response response;
    if (frame.ok()) response.ParseFromString(frame->payload);
    return response;
  }

  search::Response Ask(search::Request request) {
    request.set_version(kRunnerProtocolVersion);
    return Ask(request.SerializeAsString());
  }

  search::Request Good() {
    const BuildResult kernel = testing::TestKernel("good");
    search::Request request;
    request.mutable_measure()->set_object(kernel.object);
    request.mutable_measure()->set_symbol(kernel.symbol);
    request.mutable_measure()->set_check(true);
    request.mutable_measure()->set_budget_ms(1);
    request.mutable_measure()->set_max_samples(3);
    return request;
  }

  pid_t worker_ = -1;
  OwnedFd fd_;
};

TEST_F(WorkerTest, MeasuresWithMemoryThatCameInsideTheRequest) {
  const auto task = testing::AffineTask(1000);
  EXPECT_EQ(Ask(*task->RequestWithMemory()).verdict(), "ok");
  const search::Response response = Ask(Good());
  EXPECT_EQ(response.verdict(), "ok") << response.reason();
  EXPECT_GT(response.min_ns(), 0);
}

TEST_F(WorkerTest, RefusesAKernelWithoutATask) {
  EXPECT_THAT(Ask(Good()).reason(), HasSubstr("no task was loaded"));
}

TEST_F(WorkerTest, RefusesAnotherVersionAndUnknownRequests) {
  search::Request request = Good();
  request.set_version(99);
  EXPECT_THAT(Ask(request.SerializeAsString()).reason(),
              HasSubstr("protocol version 99"));
  EXPECT_THAT(Ask(search::Request()).reason(), HasSubstr("does not know"));
  EXPECT_THAT(Ask("\xff\xff\xff").reason(), HasSubstr("cannot be parsed"));
}

TEST_F(WorkerTest, RefusesTasksThatContradictThemselves) {
  search::Request good;
  good.ParseFromString(*testing::AffineTask(1000)->RequestWithMemory());
  const auto broken = [&](auto&& change) {
    search::Request request = good;
    change(*request.mutable_load_task());
    return Ask(request);
  };
  EXPECT_EQ(broken([](auto&) {}).verdict(), "ok");
  for (const search::Response& response : {
           broken([](auto& t) { t.set_memory("short"); }),
           broken([](auto& t) { t.set_memory_bytes(~uint64_t{0}); }),
           broken([](auto& t) { t.mutable_buffers(0)->set_bytes(1u << 31); }),
           broken([](auto& t) { t.mutable_buffers(0)->set_dtype("what"); }),
           broken([](auto& t) { t.mutable_buffers(0)->set_initial_offset(1); }),
           broken([](auto& t) {
             t.mutable_buffers(1)->set_expected_offset(~uint64_t{0} - 4095);
           }),
           broken(
               [](auto& t) { t.mutable_buffers(0)->set_has_initial(false); }),
       }) {
    EXPECT_EQ(response.verdict(), "run_error");
    EXPECT_FALSE(response.reason().empty());
  }
}

TEST_F(WorkerTest, SurvivesRandomBytes) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 200; ++i) {
    std::string bytes(random() % 64, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    EXPECT_NE(Ask(bytes).verdict(), "ok");
  }
}

TEST(ChannelTest, SaysHowAStreamEnded) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const auto soon = [] {
    return std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
  };
  EXPECT_THAT(ReceiveFrame(ends[0], soon()),
              StatusIs(absl::StatusCode::kDeadlineExceeded, ::testing::_));
  KILN_ASSERT_OK(SendFrame(ends[1], "hello"));
  EXPECT_EQ(ReceiveFrame(ends[0], soon())->payload, "hello");
  ASSERT_EQ(write(ends[1], "\x05\0\0\0hel", 7), 7);
  EXPECT_THAT(ReceiveFrame(ends[0], soon()),
              StatusIs(absl::StatusCode::kDeadlineExceeded, ::testing::_));
  ASSERT_EQ(write(ends[1], "\xff\xff\xff\xff", 4), 4);
  EXPECT_THAT(ReceiveFrame(ends[0], soon()),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("4294967295")));
  ASSERT_EQ(write(ends[1], "\x05\0\0\0hel", 7), 7);
  close(ends[1]);
  EXPECT_THAT(ReceiveFrame(ends[0]),
              StatusIs(absl::StatusCode::kDataLoss, HasSubstr("inside")));
  EXPECT_THAT(ReceiveFrame(ends[0]),
              StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("ended")));
  close(ends[0]);
}

}  // namespace
}  // namespace kiln
