// Worked examples about what several items show together: names, cycles, and the same thing made twice.
#include <gtest/gtest.h>

#include "simulation/oracle_mesh.h"

namespace harmonica::simulation {
namespace {

// W37, W37c and W38 merged the two, or deleted one; here both live (rule R43).
TEST(Oracles, W37bOfTwoFilesWithOneNameTheGreaterIdShowsASuffixEverywhere) {
  for (const std::vector<std::string>& order :
       {std::vector<std::string>{"A->B", "B->C", "C->A"}, {"B->C", "C->A", "A->B"}, {"C->B", "A->C", "B->A"}}) {
    OracleMesh mesh("ABC");
    mesh.create_file('A', 1, "a1", "n");
    mesh.create_file('B', 2, "b1", "n");
    for (const std::string& arrow : order) mesh.sync(arrow);
    mesh.settle();
    const std::vector<std::string> names = mesh.file_names('A');
    ASSERT_EQ(names.size(), 2u);
    EXPECT_EQ(names.front(), "n");
    EXPECT_NE(names.back(), "n");
    for (const char replica : {'B', 'C'}) EXPECT_EQ(mesh.file_names(replica), names) << replica;
    EXPECT_TRUE(mesh.equal("ABC"));
    // Nobody has renamed anything.
    for (const char replica : {'A', 'B', 'C'}) {
      EXPECT_EQ(mesh.version(replica, "a1", 'n'), mesh.made('A', 1));
      EXPECT_EQ(mesh.version(replica, "b1", 'n'), mesh.made('B', 2));
    }
  }
}

// The move that closed the cycle gives way (rule R42); the example let the later move win, which needs a memory of the
// place before.
TEST(Oracles, W39TwoMovesIntoEachOtherEndInOneTree) {
  OracleMesh mesh("ABC");
  mesh.create_file('A', 1, "p", "p");
  mesh.create_file('A', 1, "q", "q");
  mesh.settle();
  mesh.move_file('A', 5, "p", "q");
  mesh.move_file('B', 6, "q", "p");
  mesh.sync("A->C");
  mesh.sync("B->C");
  mesh.sync("A->B");
  mesh.settle();
  EXPECT_TRUE(mesh.equal("ABC"));
  for (const char replica : {'A', 'B', 'C'}) {
    EXPECT_EQ(mesh.parent_of(replica, "p"), "q") << replica;
    EXPECT_EQ(mesh.parent_of(replica, "q"), "") << replica;
  }
}

TEST(Oracles, W47TheSameThingMadeTwiceIsOne) {
  OracleMesh mesh("ABC");
  mesh.create('A', 1, "x", "same", "content");
  mesh.create('B', 2, "x", "same", "content");
  mesh.sync("A->C");
  mesh.sync("B->C");
  mesh.settle();
  EXPECT_TRUE(mesh.equal("ABC"));
  for (const char replica : {'A', 'B', 'C'}) {
    EXPECT_EQ(mesh.conflicts(replica), 0u) << replica;
    EXPECT_EQ(mesh.version(replica, "x"), mesh.made('B', 2)) << replica;
  }
}

}  // namespace
}  // namespace harmonica::simulation
