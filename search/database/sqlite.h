// A thin, owning layer over SQLite's C API: connections and statements whose
// failures are absl::Status.
#ifndef KILN_SEARCH_DATABASE_SQLITE_H_
#define KILN_SEARCH_DATABASE_SQLITE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

struct sqlite3;
struct sqlite3_stmt;

namespace kiln::sqlite {

// A prepared statement. Parameters and columns count from 1 and 0, as in
// SQLite. Text that was bound must live until Reset.
class Statement {
 public:
  Statement() = default;

  void Bind(int parameter, std::string_view text);
  void Bind(int parameter, int64_t value);
  void Bind(int parameter, double value);
  void BindNull(int parameter);

  // True where there is a row to read, false at the end. Resets on failure
  // and at the end.
  absl::StatusOr<bool> Step();

  // Runs a statement that returns no rows, and resets it.
  absl::Status Run();

  void Reset();

  std::string Text(int column) const;
  int64_t Int(int column) const;
  double Double(int column) const;

 private:
  friend class Connection;
  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalizer> statement_;
};

// An open database file.
class Connection {
 public:
  // Opens `path`, which is created as an empty database where it is absent.
  static absl::StatusOr<Connection> Open(const std::string& path);

  absl::StatusOr<Statement> Prepare(std::string_view sql);

  // Runs statements that take no parameters and whose rows do not matter.
  absl::Status Execute(const std::string& sql);

  // The integer in the first column of the first row.
  absl::StatusOr<int64_t> QueryInt(std::string_view sql);
  // The same for text.
  absl::StatusOr<std::string> QueryText(std::string_view sql);

  // Rows changed by the last INSERT, UPDATE or DELETE.
  int64_t Changes() const;
  int64_t LastInsertId() const;

 private:
  struct Closer {
    void operator()(sqlite3* connection) const;
  };
  std::unique_ptr<sqlite3, Closer> connection_;
};

// BEGIN IMMEDIATE, and ROLLBACK at the end of scope unless Commit succeeded.
class Transaction {
 public:
  explicit Transaction(Connection* connection) : connection_(connection) {}
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  absl::Status Begin();
  absl::Status Commit();

 private:
  Connection* connection_;
  bool open_ = false;
};

}  // namespace kiln::sqlite

#endif  // KILN_SEARCH_DATABASE_SQLITE_H_
