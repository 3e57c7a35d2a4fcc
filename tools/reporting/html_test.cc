#include "kiln/tools/reporting/html.h"

#include <gtest/gtest.h>

#include <string>

namespace kiln::report {
namespace {

TEST(HtmlTest, MarkupInTextsBecomesText) {
  EXPECT_EQ(Escape("<script>alert(\"a\" & 'b')</script>"),
            "&lt;script&gt;alert(&quot;a&quot; &amp; &#39;b&#39;)"
            "&lt;/script&gt;");
}

TEST(HtmlTest, CharactersThatHtmlForbidsAreReplaced) {
  EXPECT_EQ(Escape(std::string("a\0b\x1b[0m\x7f", 8)),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD[0m\xEF\xBF\xBD");
  EXPECT_EQ(Escape("a\tb\nc µs"), "a\tb\nc µs");
}

TEST(HtmlTest, TemplatesAreFilledOnce) {
  EXPECT_EQ(Fill("<b>{{a}}</b>{{b}}{{a}}", {{"a", "1"}, {"b", "{{a}}"}}),
            "<b>1</b>{{a}}1");
}

TEST(HtmlDeathTest, TemplatesThatAskForNothingKnownAreBugs) {
  EXPECT_DEATH(Fill("{{c}}", {{"a", "1"}}), "asks for c");
  EXPECT_DEATH(Fill("{{a", {{"a", "1"}}), "without");
}

TEST(HtmlTest, NumbersHaveThreeDigits) {
  EXPECT_EQ(Short(0), "0");
  EXPECT_EQ(Short(1), "1.00");
  EXPECT_EQ(Short(12.345), "12.3");
  EXPECT_EQ(Short(0.0123456), "0.0123");
  EXPECT_EQ(Short(1234.5), "1234");
  EXPECT_EQ(Short(-2.5), "-2.50");
  EXPECT_EQ(Short(1e7), "1e+07");
  EXPECT_EQ(Short(0.0 / 0.0), "?");
}

TEST(HtmlTest, DurationsHaveTheUnitThatSuits) {
  EXPECT_EQ(Duration(2.5), "2.50 s");
  EXPECT_EQ(Duration(0.00123), "1.23 ms");
  EXPECT_EQ(Duration(45e-6), "45.0 µs");
  EXPECT_EQ(Duration(3e-8), "30.0 ns");
}

TEST(HtmlTest, CellsOfNamesAreTextAndThoseOfNumbersHtml) {
  EXPECT_EQ(NameCell("a<b>"), "<td class=\"name mono\">a&lt;b&gt;</td>");
  EXPECT_EQ(NumberCell("<b>1</b>"), "<td class=\"number\"><b>1</b></td>");
  EXPECT_EQ(NumberHead("n"), "<th class=\"number\">n</th>");
}

}  // namespace
}  // namespace kiln::report
