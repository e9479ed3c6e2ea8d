#include <paretopipe/render/table.hpp>

#include <stdexcept>

#include <support/catch.hpp>

using namespace paretopipe::render;

TEST_CASE("columns are as wide as their widest cell and aligned as asked") {
  Table table({{"split"}, {"value", Align::right}, {"note"}});
  table.add_row({"1", "12.3 ms", ""});
  table.add_row({"longer one", "5 s", "x"});
  CHECK(table.to_text({.unicode = false}) ==
        "split         value  note\n"
        "-------------------------\n"
        "1           12.3 ms\n"
        "longer one      5 s  x\n");
}

TEST_CASE("characters of several bytes take one column") {
  Table table({{"mark"}, {"next"}});
  table.add_row({"●", "a"});
  table.add_row({"–", "b"});
  CHECK(table.to_text({.unicode = true}) ==
        "mark  next\n"
        "──────────\n"
        "●     a\n"
        "–     b\n");
  CHECK(display_width("●–é") == 3);
}

TEST_CASE("highlighted rows are coloured where there is colour, and only there") {
  Table table({{"a"}});
  table.add_row({"plain"});
  table.add_row({"chosen"}, true);
  CHECK(table.to_text({.colour = true, .unicode = false}) == "a\n------\nplain\n\x1b[1;32mchosen\x1b[0m\n");
  CHECK(table.to_text({.colour = false, .unicode = false}) == "a\n------\nplain\nchosen\n");
}

TEST_CASE("a row with another number of cells is refused") {
  Table table({{"a"}, {"b"}});
  CHECK_THROWS_AS(table.add_row({"1"}), std::logic_error);
}
