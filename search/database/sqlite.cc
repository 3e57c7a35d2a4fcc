// Result codes of SQLite become absl::Status here, with SQLite's message, and
// its handles get owners:
//
//   SQLITE_FULL  →  kResourceExhausted "SQLite: database or disk is full"
//
// CodeOf is the table of result codes; a code that callers are to tell apart
// gets a row. Text is bound without a copy, so a statement clears its bindings
// as soon as it is reset.
#include "kiln/search/database/sqlite.h"

#include <sqlite3.h>

#include "absl/strings/str_cat.h"
#include "kiln/base/status_macros.h"

namespace kiln::sqlite {
namespace {

absl::StatusCode CodeOf(int result) {
  switch (result & 0xff) {
    case SQLITE_CONSTRAINT:
      return absl::StatusCode::kFailedPrecondition;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::StatusCode::kUnavailable;
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return absl::StatusCode::kPermissionDenied;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::StatusCode::kDataLoss;
    case SQLITE_FULL:
    case SQLITE_NOMEM:
    case SQLITE_TOOBIG:
      return absl::StatusCode::kResourceExhausted;
    default:
      return absl::StatusCode::kInternal;
  }
}

absl::Status StatusOf(int result, sqlite3* connection) {
  const char* message =
      connection ? sqlite3_errmsg(connection) : sqlite3_errstr(result);
  return absl::Status(CodeOf(result), absl::StrCat("SQLite: ", message));
}

}  // namespace

void Statement::Finalizer::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void Statement::Bind(int parameter, std::string_view text) {
  const char* data = text.data() ? text.data() : "";
  sqlite3_bind_text64(statement_.get(), parameter, data, text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::Bind(int parameter, int64_t value) {
  sqlite3_bind_int64(statement_.get(), parameter, value);
}

void Statement::Bind(int parameter, double value) {
  sqlite3_bind_double(statement_.get(), parameter, value);
}

void Statement::BindNull(int parameter) {
  sqlite3_bind_null(statement_.get(), parameter);
}

absl::StatusOr<bool> Statement::Step() {
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) {
    Reset();
    return false;
  }
  absl::Status status = StatusOf(result, sqlite3_db_handle(statement_.get()));
  Reset();
  return status;
}

absl::Status Statement::Run() {
  absl::Status status = Step().status();
  Reset();
  return status;
}

void Statement::Reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

std::string Statement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(
      sqlite3_column_text(statement_.get(), column));
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return text ? std::string(text, size) : std::string();
}

int64_t Statement::Int(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::Double(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}

void Connection::Closer::operator()(sqlite3* connection) const {
  sqlite3_close_v2(connection);
}

absl::StatusOr<Connection> Connection::Open(const std::string& path) {
  sqlite3* raw = nullptr;
  const int result = sqlite3_open_v2(
      path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Connection connection;
  connection.connection_.reset(raw);
  if (result != SQLITE_OK) return StatusOf(result, raw);
  sqlite3_extended_result_codes(raw, 1);
  return connection;
}

absl::StatusOr<Statement> Connection::Prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int result =
      sqlite3_prepare_v3(connection_.get(), sql.data(), sql.size(),
                         SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  Statement statement;
  statement.statement_.reset(raw);
  if (result != SQLITE_OK) return StatusOf(result, connection_.get());
  return statement;
}

absl::Status Connection::Execute(const std::string& sql) {
  const int result =
      sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (result == SQLITE_OK) return absl::OkStatus();
  return StatusOf(result, connection_.get());
}

absl::StatusOr<int64_t> Connection::QueryInt(std::string_view sql) {
  KILN_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  KILN_ASSIGN_OR_RETURN(const bool row, statement.Step());
  return row ? statement.Int(0) : 0;
}

absl::StatusOr<std::string> Connection::QueryText(std::string_view sql) {
  KILN_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  KILN_ASSIGN_OR_RETURN(const bool row, statement.Step());
  return row ? statement.Text(0) : std::string();
}

int64_t Connection::Changes() const {
  return sqlite3_changes64(connection_.get());
}

int64_t Connection::LastInsertId() const {
  return sqlite3_last_insert_rowid(connection_.get());
}

Transaction::~Transaction() {
  if (open_) connection_->Execute("ROLLBACK").IgnoreError();
}

absl::Status Transaction::Begin() {
  KILN_RETURN_IF_ERROR(connection_->Execute("BEGIN IMMEDIATE"));
  open_ = true;
  return absl::OkStatus();
}

absl::Status Transaction::Commit() {
  KILN_RETURN_IF_ERROR(connection_->Execute("COMMIT"));
  open_ = false;
  return absl::OkStatus();
}

}  // namespace kiln::sqlite
