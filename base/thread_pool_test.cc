#include "kiln/base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace kiln {
namespace {

ThreadPool::Options Threads(int count, int spin_us = 20) {
  ThreadPool::Options options;
  options.num_threads = count;
  options.spin_us = spin_us;
  return options;
}

TEST(ThreadPoolTest, RunsEveryIterationOnce) {
  ThreadPool pool(Threads(4));
  ASSERT_EQ(pool.num_threads(), 4);
  for (int64_t n : {0, 1, 2, 3, 4, 5, 7, 64, 1001}) {
    std::vector<std::atomic<int>> count(n);
    EXPECT_EQ(pool.ParallelFor(n,
                               [&](int64_t begin, int64_t end) {
                                 EXPECT_LT(begin, end);
                                 for (int64_t i = begin; i < end; ++i) {
                                   ++count[i];
                                 }
                                 return 0;
                               }),
              0);
    for (const auto& times : count) EXPECT_EQ(times, 1);
  }
}

TEST(ThreadPoolTest, RunsLoopsLongerThanAWordCanCount) {
  ThreadPool pool(Threads(2));
  const int64_t n = (int64_t{1} << 40) + 3;
  std::atomic<int64_t> sum{0};
  pool.ParallelFor(n, [&](int64_t begin, int64_t end) {
    sum += end - begin;
    return 0;
  });
  EXPECT_EQ(sum, n);
}

// The second thread's first range waits until everything else is done.
TEST(ThreadPoolTest, AThreadThatIsLateIsHelped) {
  ThreadPool pool(Threads(2));
  std::atomic<int64_t> done{0};
  int64_t others = -1;
  pool.ParallelFor(100, [&](int64_t begin, int64_t end) {
    if (begin == 50) {
      others = 100 - (end - begin);
      for (int ms = 0; ms < 10000 && done < others; ++ms) usleep(1000);
      others -= done;
    }
    done += end - begin;
    return 0;
  });
  EXPECT_EQ(others, 0);
  EXPECT_EQ(done, 100);
}

TEST(ThreadPoolTest, UsesDifferentThreadsAndTheCaller) {
  ThreadPool pool(Threads(3));
  std::vector<std::thread::id> ids(3);
  pool.ParallelFor(3, [&](int64_t begin, int64_t) {
    ids[begin] = std::this_thread::get_id();
    return 0;
  });
  EXPECT_EQ(std::set<std::thread::id>(ids.begin(), ids.end()).size(), 3u);
  EXPECT_EQ(ids[0], std::this_thread::get_id());
}

TEST(ThreadPoolTest, ReturnsTheFirstFailureByPosition) {
  ThreadPool pool(Threads(4));
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(pool.ParallelFor(4,
                               [](int64_t begin, int64_t) {
                                 return begin >= 2 ? int(begin) + 10 : 0;
                               }),
              12);
  }
  EXPECT_EQ(pool.ParallelFor(4, [](int64_t, int64_t) { return 0; }), 0);
}

TEST(ThreadPoolTest, RefusesNestedLoopsOfAnyPoolWhateverTheThreadCount) {
  ThreadPool other(Threads(2));
  for (int threads : {1, 2}) {
    ThreadPool pool(Threads(threads));
    std::atomic<int> inner_runs{0};
    for (int64_t n : {1, 2}) {
      EXPECT_EQ(pool.ParallelFor(n,
                                 [&](int64_t, int64_t) {
                                   return other.ParallelFor(
                                       2, [&](int64_t, int64_t) {
                                         ++inner_runs;
                                         return 0;
                                       });
                                 }),
                ThreadPool::kNestedParallel);
    }
    EXPECT_EQ(inner_runs, 0);
    EXPECT_EQ(pool.ParallelFor(2, [](int64_t, int64_t) { return 0; }), 0);
  }
}

TEST(ThreadPoolTest, LimitsThreadsPerLoop) {
  ThreadPool pool(Threads(4));
  std::mutex mutex;
  std::set<std::thread::id> ids;
  auto body = [&](int64_t, int64_t) {
    std::lock_guard<std::mutex> lock(mutex);
    ids.insert(std::this_thread::get_id());
    return 0;
  };
  const auto call = [](void* env, int64_t begin, int64_t end) -> int32_t {
    return (*static_cast<decltype(body)*>(env))(begin, end);
  };
  pool.ParallelFor(100, call, &body, 2);
  EXPECT_EQ(ids.size(), 2u);
}

TEST(ThreadPoolTest, SurvivesManyLoopsWithSleepsBetween) {
  const uint32_t seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  ThreadPool pool(Threads(3, 1));
  int64_t total = 0;
  std::atomic<int64_t> sum{0};
  for (int i = 0; i < 3000; ++i) {
    const int64_t n = 1 + random() % 5;
    total += n;
    pool.ParallelFor(n, [&](int64_t begin, int64_t end) {
      sum += end - begin;
      return 0;
    });
    if (random() % 50 == 0) usleep(random() % 300);
  }
  EXPECT_EQ(sum, total);
}

TEST(ThreadPoolTest, ServesSeveralCallersOneAfterTheOther) {
  ThreadPool pool(Threads(2));
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) {
    callers.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        pool.ParallelFor(10, [&](int64_t begin, int64_t end) {
          sum += end - begin;
          return 0;
        });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 500 * 10);
}

// Runs `pool`'s loop in a child and reports what it saw there.
int InChild(ThreadPool* inherited) {
  const auto body = [](int64_t, int64_t) { return 0; };
  if (inherited->num_threads() != 1) return 1;
  if (inherited->ParallelFor(8, body) != 0) return 2;
  delete inherited;
  ThreadPool fresh(Threads(2));
  if (fresh.num_threads() != 2) return 3;
  return fresh.ParallelFor(8, body) == 0 ? 0 : 4;
}

TEST(ThreadPoolTest, ChildAfterForkRunsSeriallyAndCanBuildItsOwn) {
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "ThreadSanitizer forbids threads in a forked child";
#endif
  auto* pool = new ThreadPool(Threads(2));
  pool->ParallelFor(2, [](int64_t, int64_t) { return 0; });
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    _exit(InChild(pool));
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(pool->num_threads(), 2);
  delete pool;
}

int CpusOfThisThread() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof(set), &set);
  return CPU_COUNT(&set);
}

TEST(ThreadPoolTest, PinsThreadsWhileItLives) {
  const int before = CpusOfThisThread();
  {
    ThreadPool::Options options = Threads(2);
    options.pin_threads = true;
    ThreadPool pool(options);
    std::vector<int> cpus(2);
    pool.ParallelFor(2, [&](int64_t begin, int64_t) {
      cpus[begin] = CpusOfThisThread();
      return 0;
    });
    EXPECT_EQ(cpus, std::vector<int>(2, 1));
  }
  EXPECT_EQ(CpusOfThisThread(), before);
}

}  // namespace
}  // namespace kiln
