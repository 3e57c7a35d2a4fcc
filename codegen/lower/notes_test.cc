// Annotations are followed, taken without effect, or refused. Strides that are
// asked for are looked for in the lowered text, and numbers compared with those
// of the program as written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kiln/base/status_matchers.h"
#include "kiln/codegen/lower/blocks/check_notes.h"
#include "kiln/codegen/lower/pipeline.h"
#include "kiln/codegen/lower/storage/pad_strides.h"
#include "kiln/ir/interp/interp.h"
#include "kiln/ir/interp/tensor.h"
#include "kiln/ir/testing/random_program.h"
#include "kiln/ir/text/printer/printer.h"
#include "kiln/ir/text/reader/reader.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// B transposed, so that all of B is there at a time. LOOP and BLOCK take notes.
constexpr char kProgram[] = R"(
@T.prim_func
def main(A: T.Buffer((8, 6, 5), "float32"), C: T.Buffer((5, 6, 8), "float32")):
    B = T.alloc_buffer((8, 6, 5))
    for i in T.serial(8, annotations={LOOP}):
        for j, k in T.grid(6, 5):
            with T.block("B"):
                vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                T.reads(A[vi, vj, vk])
                T.writes(B[vi, vj, vk])
                T.block_attr({BLOCK})
                B[vi, vj, vk] = A[vi, vj, vk] * T.float32(2)
    for k, j, i in T.grid(5, 6, 8):
        with T.block("C"):
            vk, vj, vi = T.axis.remap("SSS", [k, j, i])
            T.reads(B[vi, vj, vk])
            T.writes(C[vk, vj, vi])
            T.block_attr({OTHER})
            C[vk, vj, vi] = B[vi, vj, vk] + T.float32(1)
)";

Function Program(const std::string& block, const std::string& loop = "",
                 const std::string& other = "") {
  absl::StatusOr<Module> module = ParseModule(
      "m.py",
      absl::StrReplaceAll(
          kProgram, {{"BLOCK", block}, {"LOOP", loop}, {"OTHER", other}}));
  KILN_EXPECT_OK(module.status());
  return module->functions[0];
}

std::string Align(const std::string& list) {
  return absl::StrCat("\"buffer_dim_align\": ", list);
}

// The program after the pass, as text.
std::string After(const Function& f, const std::string& pass) {
  absl::StatusOr<Function> g = Lower(f, {.stop_after = pass});
  KILN_EXPECT_OK(g.status());
  return g.ok() ? PrintFunction(*g) : "";
}

void ExpectSameNumbers(const Function& f) {
  for (const bool only_required : {false, true}) {
    KILN_ASSERT_OK_AND_ASSIGN(const Function lowered,
                              Lower(f, {.only_required = only_required}));
    std::vector<Tensor> expected = RandomInputs(f, 3), actual = expected;
    KILN_ASSERT_OK(Interpret(f, expected));
    for (Tensor& tensor : actual) tensor.shape = {tensor.size()};
    KILN_ASSERT_OK(Interpret(lowered, actual));
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(actual[i].bytes, expected[i].bytes);
    }
  }
}

TEST(StrideNoteTest, StridesAreOffsetModuloFactor) {
  struct Case {
    const char* notes;
    const char* size;  // 1 + 7 * s0 + 5 * s1 + 4 * s2
    const char* index;
  };
  const Case cases[] = {
      {"[[0, 1, 8, 0]]", "T.decl_buffer((381,))", "i * 48 + j * 8 + k"},
      {"[[0, 0, 16, 4]]", "T.decl_buffer((282,))", "i * 36"},
      {"[[0, 0, 32, 31], [0, 1, 4, 3]]", "T.decl_buffer((481,))", "i * 63"},
      {"[[0, 2, 2, 0]]", "T.decl_buffer((479,))", "k * 2"},
      {"[[0, 1, 5, 0]]", "T.decl_buffer((240,))", "i * 30 + j * 5 + k"}};
  for (const Case& c : cases) {
    const Function f = Program(Align(c.notes));
    const std::string text = After(f, "flatten_buffers");
    EXPECT_THAT(text, AllOf(HasSubstr(c.size), HasSubstr(c.index)))
        << c.notes << "\n"
        << text;
    ExpectSameNumbers(f);
  }
}

TEST(StrideNoteTest, WhatIsTouchedIsPadded) {
  const Function f = Program(Align("[[0, 0, 16, 1]]"));
  EXPECT_THAT(After(f, "pad_strides"),
              Not(HasSubstr("buffer_dim_align\": [[0, 16")));
  EXPECT_THAT(After(f, "pad_strides"), HasSubstr("strides=(33, 5, 1)"));
}

TEST(StrideNoteTest, WhatCannotBeFollowedIsRefusedByName) {
  const auto refused = [](const Function& f, const char* what) {
    EXPECT_THAT(Lower(f), StatusIs(absl::StatusCode::kInvalidArgument,
                                   AllOf(HasSubstr("block "), HasSubstr(what))))
        << what;
  };
  refused(Program("", "", Align("[[0, 0, 16, 4]]")),
          "C is not allocated by a block");
  refused(Program(Align("[[1, 0, 16, 4]]")), "writes 1 tensors");
  refused(Program(Align("[[0, 3, 16, 4]]")), "no axis 3");
  refused(Program(Align("[[0, 0, 0, 0]]")), "no stride is 0 modulo 0");
  refused(Program(Align("[[0, 0, 4, 4]]")), "no stride is 4 modulo 4");
  refused(Program(Align("[[0, 0, 4, -1]]")), "no stride is -1 modulo 4");
  refused(Program(Align("[[0, 0, 4]]")), "[tensor, axis, factor, offset]");
  refused(Program(Align("[0, 0, 4, 2]")), "[tensor, axis, factor, offset]");
  refused(Program(Align("3")), "no list");
  refused(Program(Align("[[0, 0, 4, 1], [0, 0, 4, 2]]")), "another stride");
}

TEST(StrideNoteTest, TooManyElementsAreRefused) {
  for (const char* factor :
       {"9223372036854775807", "4611686018427387904", "1152921504606846976"}) {
    EXPECT_THAT(
        Lower(Program(Align(absl::StrCat("[[0, 1, ", factor, ", 0]]")))),
        StatusIs(absl::StatusCode::kResourceExhausted,
                 HasSubstr("B has more")));
  }
}

TEST(NotesTest, KnownOnesAreTaken) {
  const Function plain = Program("");
  for (const NoteInfo& note : KnownNotes()) {
    if (note.key == kStrideNote) continue;
    std::string key(note.key);
    if (key.back() == '.') key += "parallel";
    if (key == "meta_schedule.layout_rewrite_preproc") continue;
    const std::string text = absl::StrCat("\"", key, "\": 1");
    ExpectSameNumbers(Program(text, text));
    if (!note.is_honoured) {
      EXPECT_EQ(After(Program(text), "verify_lowered"),
                After(plain, "verify_lowered"))
          << key;
    }
  }
}

TEST(NotesTest, UnknownOnesThatAskForSomethingAreRefusedByName) {
  for (const char* key :
       {"pragma_auto_unrol_max_step", "pragma_vectorize", "pragma_import_c",
        "software_pipeline_stages", "double_buffer", "buffer_dim_aling"}) {
    const std::string text = absl::StrCat("\"", key, "\": 1");
    EXPECT_THAT(Lower(Program(text)),
                StatusIs(absl::StatusCode::kUnimplemented,
                         AllOf(HasSubstr("block B"), HasSubstr(key),
                               HasSubstr("unannotate"))));
    EXPECT_THAT(Lower(Program("", text)),
                StatusIs(absl::StatusCode::kUnimplemented,
                         AllOf(HasSubstr("loop i"), HasSubstr(key))));
  }
}

TEST(NotesTest, AuthorsHaveNotesOfTheirOwn) {
  ExpectSameNumbers(Program("\"my_tool.color\": \"red\"", "\"todo\": 1"));
}

}  // namespace
}  // namespace kiln
