// The acceptance cases of merging favorites, by their numbers. docs/favorites-cases.md says where each case comes from and
// which are not here. In a case the device that is edited last is the newer one. Where the order of siblings is a matter of
// policy (additions by both devices to one folder), siblings are compared as a set.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>

#include "end_to_end/favorites_case.h"
#include "harmonica/providers/favorites.h"

namespace harmonica::testing {
namespace {

// A member of "roots" that Chromium does not know.
std::string extra_root(const std::string& name, const Tree& tree) {
  const std::string file = chromium_file(tree);
  const std::string start = "\"other\": ";
  const std::size_t from = file.find(start) + start.size();
  const std::size_t to = file.find(", \"synced\"", from);
  return "\"" + name + "\": " + file.substr(from, to - from) + ", ";
}

// The items in a root with all their registers, by title.
std::map<std::string, std::string> items_below(Replica& replica, std::string_view root) {
  std::map<std::string, std::string> items;
  for (const Root& one : providers::favorites_schema().roots) {
    if (one.name != root) continue;
    const auto children = replica.children(one.id);
    EXPECT_TRUE(children.ok());
    if (!children.ok()) continue;
    for (const ReplicaItem& child : *children) {
      items[*child.item.value_of(providers::kTitleUnit).if_text()] = child.item.to_text();
    }
  }
  return items;
}

// Moves and edits of both devices.

TEST(FavoritesCases, D01EverythingMovesAroundAndEachEntryIsInOnePlace) {
  with_all_files(
      [](FavoritesCase& c) {
        c.local("menu*(A*(a* B*(c* d*) e*) f*)");
        c.remote("unfiled*(B*(d* a* c*)) toolbar*(A(f* e*)) menu()");
        c.expect("unfiled(B(d a c)) toolbar(A(f e))");
      },
      EntryIds::kOfHarmonica);
}

TEST(FavoritesCases, D02MoveIntoASiblingFolderThatIsNewOnTheOtherDevice) {
  with_all_files([](FavoritesCase& c) {
    c.base("menu(A(b))");
    c.local("menu*(A*(b*))");
    c.remote("menu*(A*() C*(b*))");
    c.expect("menu(A() C(b))");
  });
}

TEST(FavoritesCases, D04AppendedHereAndReorderedThere) {
  with_all_files([](FavoritesCase& c) {
    c.base("toolbar(d e f)");
    c.local("toolbar*@5(d e f g* h*)");
    c.remote("toolbar*(f d e)");
    c.expect("toolbar(f d e g h)");
  });
}

TEST(FavoritesCases, D05TheChangedSideWinsEvenIfItIsOlder) {
  with_all_files([](FavoritesCase& c) {
    c.base("menu(A() b)");
    c.remote("menu*@5(b*@5) ~A");
    c.local("menu@5(A*(e*) b@5)");
    c.expect("menu(b e)", Siblings::kAsSet);
  });
}

TEST(FavoritesCases, D07CrossingMovesTheLocalOnesNewer) {
  with_all_files([](FavoritesCase& c) {
    c.base("menu(a B(c) D()) toolbar(e F(g) H())");
    c.remote("mobile*@5(a*@5) unfiled*@5(B*@5()) menu*@5(D*@5(g*@5)) toolbar*@5(F*@5() e H*@5(c*@5))");
    c.local("menu*(D*(c*)) toolbar*(H*(g*) F*() e) unfiled*(a*) mobile*(B*())");
    c.expect("menu(D(c)) toolbar(H(g) F() e) unfiled(a) mobile(B())", Siblings::kAsSet);
  });
}

TEST(FavoritesCases, D08CrossingMovesTheRemoteOnesNewer) {
  with_all_files([](FavoritesCase& c) {
    c.base("menu(a B(c) D()) toolbar(e F(g) H())");
    c.local("menu*(D*(c*)) toolbar*(H*(g*) F*() e) unfiled*(a*) mobile*(B*())");
    c.remote("mobile*(a*) unfiled*(B*()) menu*(D*(g*)) toolbar*(F*() e H*(c*))");
    c.expect("menu(D(g)) toolbar(F() e H(c)) unfiled(B()) mobile(a)", Siblings::kAsSet);
  });
}

TEST(FavoritesCases, D10FolderMovesThereWithAdditionsOnBothDevices) {
  with_all_files([](FavoritesCase& c) {
    c.base("menu(A(b c))");
    c.local("menu(A*(b c d*))");
    c.remote("menu*(c*) toolbar*(A*(b e*))");
    c.expect("menu(c) toolbar(A(b e d))", Siblings::kAsSet);
  });
}

TEST(FavoritesCases, D44OnlyWhatChangedIsTouched) {
  with_all_files([](FavoritesCase& c) {
    c.base("menu(a b c d) toolbar(e) unfiled(i j) mobile(f)");
    c.local("menu(a b c d) toolbar(e) unfiled*(i) mobile(f*@10\"F local\") ~j");
    const std::map<std::string, std::string> before = items_below(c.replica(DeviceName::kLocal), "menu");
    c.remote("menu(a d c b e*\"E remote\") toolbar*(g*) unfiled*(h* j) mobile(f*@5\"F remote\") ~i");
    c.expect("menu(a d c b e\"E remote\"<e>) toolbar(g) unfiled(h) mobile(f\"F remote\"<f>)");
    const std::map<std::string, std::string> after = items_below(c.replica(DeviceName::kLocal), "menu");
    EXPECT_EQ(after.at("a"), before.at("a"));
    // Two of the three that change places have to move; which ones is a matter of policy.
    int kept = 0;
    for (const std::string title : {"b", "c", "d"}) kept += after.at(title) == before.at(title) ? 1 : 0;
    EXPECT_EQ(kept, 1);
  });
}

TEST(FavoritesCases, F01MovesOfOneDeviceSendNothingBack) {
  with_all_files([](FavoritesCase& c) {
    c.base("menu(Dev(mdn Moz(fx nightly) wm) bz)");
    c.remote("unfiled*(Moz*(nightly mdn fx)) toolbar*(Dev*(bz wm))");
    c.expect("toolbar(Dev(bz wm)) unfiled(Moz(nightly mdn fx))");
    c.expect_untouched(DeviceName::kRemote);
  });
}

TEST(FavoritesCases, F04NewValuesDeepInTheTreeKeepAllPositions) {
  with_all_files([](FavoritesCase& c) {
    c.base("menu(A(b c J(k) d e) F(g H(i)))");
    c.remote("menu(A(b c\"C2\"<c> J(k) d e\"e\"<e2>) F\"F2\"(g H(i\"I2\"<i>)))");
    c.expect("menu(A(b c\"C2\"<c> J(k) d e\"e\"<e2>) F\"F2\"(g H(i\"I2\"<i>)))");
    c.expect_untouched(DeviceName::kRemote);
  });
}

TEST(FavoritesCases, F10TwoFoldersSwapPlaces) {
  with_all_files(
      [](FavoritesCase& c) {
        c.base("menu(A(B(c)))");
        c.remote("menu(B\"B remote\"(A\"A remote\"(c)))");
        c.expect("menu(B\"B remote\"(A\"A remote\"(c)))");
      },
      EntryIds::kOfHarmonica);
}

TEST(FavoritesCases, U04EditedOnBothDevicesTheNewerEditStays) {
  with_all_files([](FavoritesCase& c) {
    c.base("bar(x)");
    c.local("bar(x*\"l\")");
    c.remote("bar(x*\"r\")");
    c.expect("bar(x\"r\"<x>)");
  });
}

TEST(FavoritesCases, X02FoldersOfOneTitleThatBothMakeAreOne) {
  with_all_files([](FavoritesCase& c) {
    c.base("root(Un())");
    c.local("root(Un() Shared*(a*))");
    c.remote("root(Un() Shared*(b*))");
    c.expect("root(Un() Shared(a b))", Siblings::kAsSet);
  });
}

TEST(FavoritesCases, X04RetitledOnBothDevicesTheLaterWins) {
  with_all_files([](FavoritesCase& c) {
    c.base("root(Foo(Bar(u)))");
    c.local("root(Foo(Bar(u\"one\")))");
    c.remote("root(Foo(Bar(u\"two\")))");
    c.expect("root(Foo(Bar(u\"two\"<u>)))");
  });
}

TEST(FavoritesCases, X05TwoFoldersMovedIntoEachOtherMakeNoLoop) {
  with_all_files([](FavoritesCase& c) {
    c.base("root(A() B(u))");
    c.local("root(A(B(u)))");
    c.remote("root(B(u A()))");
    // The newer move closed the circle: its folder goes on to the next of its ancestors.
    c.expect("root(A(B(u)))");
  });
}

// Deletions against edits, moves and additions.

TEST(FavoritesCases, D11ChildOfADeletedFolderClimbs) {
  with_all_files([](FavoritesCase& c) {
    c.base("toolbar(A(B()))");
    c.local("toolbar(A(B*(f*)))");
    c.remote("toolbar(A*()) ~B");
    c.expect("toolbar(A(f))");
  });
}

TEST(FavoritesCases, D13ChildrenOfFoldersDeletedOnEachDeviceClimb) {
  with_all_files([](FavoritesCase& c) {
    c.base("toolbar(A(B())) menu(C(D(E())))");
    c.local("toolbar(A(B*(f*))) menu(C(D*())) ~E");
    c.remote("toolbar(A*()) menu(C(D(E*(g*)))) ~B");
    c.expect("toolbar(A(f)) menu(C(D(g)))");
  });
}

TEST(FavoritesCases, D14EditedBookmarkOfADeletedTreeLivesOnWithoutItsFolders) {
  with_all_files([](FavoritesCase& c) {
    c.base("menu(a B(c D(e)))");
    c.local("~a ~B ~c ~D ~e");
    c.remote("menu(a*\"A2\"<a> B*(c D*(e f*) g*))");
    c.expect("menu(a\"A2\"<a> f g)", Siblings::kAsSet);
  });
}

TEST(FavoritesCases, D16FoldersEmptiedAndDeletedOnBothDevices) {
  with_all_files([](FavoritesCase& c) {
    c.base("menu(A(b c) D(e f))");
    c.local("menu*(A(b c) e*) mobile*(f*) ~D");
    c.remote("menu*(b* D(e f)) unfiled*(c*) ~A");
    c.expect("menu(b e) mobile(f) unfiled(c)", Siblings::kAsSet);
  });
}

TEST(FavoritesCases, D17MovesOutOfADeletedFolderHold) {
  with_all_files([](FavoritesCase& c) {
    c.base("menu(A(b) C(d))");
    c.remote("menu*@5(C*(d@5 f*)) toolbar*@5(b*@5) ~A");
    c.local("menu*(A*(b@5 e*)) toolbar*(d*) ~C");
    c.expect("menu(e f) toolbar(d b)", Siblings::kAsSet);
  });
}

TEST(FavoritesCases, F02DeletedWithItsFoldersHereAndEditedThere) {
  with_all_files([](FavoritesCase& c) {
    c.base("menu(A(B(c d)))");
    c.local("menu() toolbar(E(A(B(c d))))");
    c.local("menu*() toolbar*() ~A ~B ~c ~d");
    c.remote("menu(A(B(c*\"C remote\" d)))");
    c.expect("menu(c\"C remote\"<c>)");
  });
}

TEST(FavoritesCases, F08DeletionAndAdditionBesideAMove) {
  with_all_files([](FavoritesCase& c) {
    c.base("menu(a b C(d E(f)))");
    c.local("menu(a b C*(E*(f i*))) ~d");
    c.remote("menu(a b C*(d h* E(f)))");
    c.expect("menu(a b C(h E(f i)))");
  });
}

TEST(FavoritesCases, U01DeletedOnBothDevices) {
  with_all_files([](FavoritesCase& c) {
    c.base("bar(x y)");
    c.local("bar(y) ~x");
    c.remote("bar(y) ~x");
    c.expect("bar(y)");
  });
}

TEST(FavoritesCases, U02AnEditBeatsADeletion) {
  with_all_files([](FavoritesCase& c) {
    c.base("bar(x)");
    c.local("bar(x*\"X2\")");
    c.remote("bar() ~x");
    c.expect("bar(x\"X2\"<x>)");
  });
}

TEST(FavoritesCases, U05EditedHereAndMovedThereIntoAFolderDeletedHere) {
  with_all_files([](FavoritesCase& c) {
    c.base("bar(x F())");
    c.remote("bar(F(x*\"r\"))");
    c.local("bar(x*\"l\") ~F");
    c.expect("bar(x\"l\"<x>)");
  });
}

TEST(FavoritesCases, U10ADeletedFolderTakesItsBookmarksAlong) {
  with_all_files([](FavoritesCase& c) {
    c.base("bar(F(a b))");
    c.remote("bar() ~F ~a ~b");
    c.expect("");
  });
}

TEST(FavoritesCases, X01BookmarkAddedToAFolderThatIsDeletedThereClimbs) {
  with_all_files([](FavoritesCase& c) {
    c.base("root(Foo(Bar(u)))");
    c.local("root(Foo(Bar(u u2*)))");
    c.remote("root(Foo()) ~Bar ~u");
    c.expect("root(Foo(u2))");
  });
}

// First contact, and twins.

TEST(FavoritesCases, D19SurplusTwinOfAFolderStays) {
  with_all_files([](FavoritesCase& c) {
    c.local("toolbar*(B1*\"B\"())");
    c.remote("toolbar*@5(B1*\"B\"() B2*\"B\"())");
    c.expect("toolbar(B1\"B\"() B2\"B\"())");
  });
}

TEST(FavoritesCases, D20TwinsOfBothDevicesFoldInPairsTheLocalFolderNewer) {
  with_all_files([](FavoritesCase& c) {
    c.base("menu(a5\"A\"<a>)");
    c.remote("menu*@5(a0*\"A\"<a> a4*\"A\"<a> a5)");
    c.local("menu*(a5 a1*\"A\"<a> a2*\"A\"<a> a3*\"A\"<a>)");
    c.expect("menu(a0 a4 a3 a5)");
  });
}

TEST(FavoritesCases, F13TwinsOfBothDevicesFoldInPairsTheRemoteFolderNewer) {
  with_all_files([](FavoritesCase& c) {
    c.base("menu(a5\"A\"<a>)");
    c.local("menu*(a5 a1*\"A\"<a> a2*\"A\"<a> a3*\"A\"<a>)");
    c.remote("menu*@5(a0*\"A\"<a> a4*\"A\"<a> a5)");
    c.expect("menu(a0 a4 a5 a3)");
  });
}

TEST(FavoritesCases, D22SameTitleAndAnotherAddressAreTwo) {
  with_all_files([](FavoritesCase& c) {
    c.local("menu(A*(c*\"C\"<c>))");
    c.remote("menu(A*(c1*\"C\"<c1>))");
    c.expect("menu(A(c1 c))", Siblings::kAsSet);
  });
}

TEST(FavoritesCases, D23FoldersFoldByTitleThenTheirBookmarks) {
  with_all_files([](FavoritesCase& c) {
    c.local("menu*(D*\"D\"(e*\"E\"<e>))");
    c.remote("menu*(D1*\"D\"(e1*\"E\"<e>))");
    c.expect("menu(D1(e1))");
  });
}

TEST(FavoritesCases, D28TwoUntitledFoldersStayTwo) {
  with_all_files([](FavoritesCase& c) {
    c.local("");
    c.remote("mobile*(E1*\"\"() E2*\"\"())");
    c.expect("mobile(E1() E2())");
  });
}

TEST(FavoritesCases, D29OfSeveralCandidatesOneIsFolded) {
  with_all_files([](FavoritesCase& c) {
    c.local("mobile*(E2*\"Empty\"() L0*\"Empty\"())");
    c.remote("mobile*(E1*\"Empty\"() E2*\"Empty\"() E3*\"Empty\"())");
    c.expect("mobile(E1() E2() E3())");
  });
}

TEST(FavoritesCases, C01UnionOfOverlappingTrees) {
  with_all_files([](FavoritesCase& c) {
    c.local("bar(F1\"folder1\"(u1<1> u2\"url2\"<2>) F2\"folder2\"(u3<3> u4<4>))");
    c.remote("bar(G1\"folder1\"(v1\"u1\"<1> v2\"url2\"<another2>) G3\"folder3\"(v3\"u3\"<3> v4\"u4\"<4>))");
    c.expect(
        "bar(G1\"folder1\"(v1\"u1\"<1> v2\"url2\"<another2> u2\"url2\"<2>) G3\"folder3\"(v3\"u3\"<3> v4\"u4\"<4>) "
        "F2\"folder2\"(u3<3> u4<4>))");
  });
}

TEST(FavoritesCases, C02TheNewerOrderWinsOnFirstContact) {
  with_all_files([](FavoritesCase& c) {
    c.local("bar(F1() F2() F3())");
    c.remote("bar(F1() F3() F2())");
    c.expect("bar(F1() F3() F2())");
    c.expect_untouched(DeviceName::kRemote);
  });
}

TEST(FavoritesCases, C05DisjointFirstContact) {
  with_all_files([](FavoritesCase& c) {
    c.local("bar(t1<1>)");
    c.remote("bar(t2<2>)");
    c.expect("bar(t2 t1)");
  });
}

TEST(FavoritesCases, C10AnEntryWithAMalformedIdFoldsAsWell) {
  with_chromium_files([](FavoritesCase& c) {
    c.local("bar(F\"Title\"())");
    Tree tree = parse_tree("bar(G\"Title\"())");
    tree.roots["toolbar"].front().key = "invalid_guid";
    c.save(DeviceName::kRemote, chromium_file(tree));
    c.expect("bar(F\"Title\"())");
  });
}

TEST(FavoritesCases, C11SameIdAndAnotherTitleIsOneEntry) {
  with_all_files(
      [](FavoritesCase& c) {
        c.local("bar(x\"Title 1\"<f>)");
        c.remote("bar(x\"Title 2\"<f>)");
        c.expect("bar(x\"Title 2\"<f>)");
      },
      EntryIds::kOfHarmonica);
}

TEST(FavoritesCases, C13TheIdCountsMoreThanTheContent) {
  with_all_files(
      [](FavoritesCase& c) {
        c.local("bar(F1\"T1\"(F2\"T2\"()))");
        c.remote("bar(F2\"T1\"())");
        c.expect("bar(F2\"T1\"() F1\"T1\"())", Siblings::kAsSet);
      },
      EntryIds::kOfHarmonica);
}

TEST(FavoritesCases, C16AMatchOfIdsCountsMoreThanOneOfContent) {
  with_all_files(
      [](FavoritesCase& c) {
        c.local("bar(F1\"Orig\"(b))");
        c.remote("bar(F1\"New\"() F2\"Orig\"())");
        c.expect("bar(F1\"New\"(b) F2\"Orig\"())");
      },
      EntryIds::kOfHarmonica);
}

TEST(FavoritesCases, C17SameGuidAndAnotherAddressAreTwo) {
  with_chromium_files(
      [](FavoritesCase& c) {
        c.local("bar(x<foo>)");
        c.remote("bar(x<bar>)");
        c.expect("bar(x<bar> x<foo>)");
      },
      EntryIds::kOfChromium);
}

TEST(FavoritesCases, C19BookmarkAndFolderWithChildrenOfOneGuidAreTwo) {
  with_chromium_files(
      [](FavoritesCase& c) {
        c.local("bar(x(y))");
        c.remote("bar(x)");
        c.expect("bar(x x(y))");
      },
      EntryIds::kOfChromium);
}

TEST(FavoritesCases, C19FolderAndBookmarkOfOneHarmonicaIdAreTwo) {
  with_all_files(
      [](FavoritesCase& c) {
        c.local("bar(x(y) a)");
        c.remote("bar(x b)");
        c.expect("bar(x(y) a x b)", Siblings::kAsSet);
      },
      EntryIds::kOfHarmonica);
}

TEST(FavoritesCases, D32KindsThatDoNotGoTogetherStopNothing) {
  with_all_files(
      [](FavoritesCase& c) {
        c.local("bar(x d)");
        c.remote("bar(x() c)");
        c.expect("bar(x<x> x() c d)", Siblings::kAsSet);
      },
      EntryIds::kOfHarmonica);
}

TEST(FavoritesCases, C23ChildWhoseLeftNeighbourMovedAwayThere) {
  with_all_files([](FavoritesCase& c) {
    c.base("bar(F1(u1))");
    c.local("bar(F1(u1 u2))");
    c.remote("bar(F1() F2(u1))");
    c.expect("bar(F1(u2) F2(u1))");
  });
}

// Files that hold more than bookmarks and folders.

TEST(FavoritesCases, D25WhatIsOutsideOfTheUsersRootsIsNotTaken) {
  with_chromium_files([](FavoritesCase& c) {
    c.local("");
    const Tree outside = parse_tree("other(LEFT(q1 LF(q2)))");
    c.save(DeviceName::kRemote, chromium_file({}, extra_root("custom_root", outside)));
    c.expect("");
    c.expect_untouched(DeviceName::kRemote);
  });
}

TEST(FavoritesCases, D37RootsBelowOtherFoldersAreTheRootsAllTheSame) {
  with_files(FileFormat::kHtml, FileFormat::kHtml, [](FavoritesCase& c) {
    c.local("unfiled*(a* menu*(b* C(d toolbar(e)))) mobile(f)");
    c.remote("mobile*(toolbar*(g* e)) menu*(h* unfiled*(i*))");
    c.expect("menu(h b C(d)) toolbar(g e) unfiled(i a) mobile(f)", Siblings::kAsSet);
  });
}

TEST(FavoritesCases, C04AnEntryOfOneIdOutsideOfTheRootsIsLeftAlone) {
  with_chromium_files(
      [](FavoritesCase& c) {
        Tree outside = parse_tree("other(x<foo>)");
        outside.roots["other"].front().key = harmonica_key("x");
        c.save(DeviceName::kLocal, chromium_file({}, extra_root("custom_root", outside)));
        c.remote("bar(x<bar>)");
        c.expect("bar(x<bar>)");
        EXPECT_NE(c.file(DeviceName::kLocal).find("https://foo.example/"), std::string::npos);
      },
      EntryIds::kOfHarmonica);
}

TEST(FavoritesCases, C14ChildrenOfABookmarkAreDropped) {
  with_chromium_files([](FavoritesCase& c) {
    c.local("");
    Tree tree = parse_tree("bar(x<f>)");
    tree.roots["toolbar"].front().children = parse_tree("bar(y<g>)").roots["toolbar"];
    c.save(DeviceName::kRemote, chromium_file(tree));
    c.expect("bar(x<f>)");
  });
}

TEST(FavoritesCases, C28FoldersAreSynced200LevelsDeep) {
  with_files(FileFormat::kHtml, FileFormat::kHtml, [](FavoritesCase& c) {
    c.local("bar(local())");
    std::string deep;
    for (int level = 1; level <= 210; ++level) deep += "F" + std::to_string(level) + "(";
    c.remote("bar(" + deep + std::string(210, ')') + ")");
    c.sync();
    const Tree tree = c.tree(DeviceName::kLocal);
    EXPECT_EQ(titles_of(tree).count("F200"), 1U);
    EXPECT_EQ(titles_of(tree).count("F201"), 0U);
    EXPECT_EQ(titles_of(tree).count("local"), 1U);
    EXPECT_EQ(titles_of(c.tree(DeviceName::kRemote)).count("F210"), 1U);
    EXPECT_FALSE(c.replica(DeviceName::kRemote).detect()->skipped.empty());
  });
}

TEST(FavoritesCases, U08AnIdWhoseKindChangesIsAnotherEntry) {
  with_all_files([](FavoritesCase& c) {
    c.base("bar(x y)");
    c.remote("bar(x*(z) y)");
    c.expect("bar(x(z) y)");
  });
}

TEST(FavoritesCases, U11ARootsTitleIsItsDevicesOwn) {
  with_chromium_files([](FavoritesCase& c) {
    c.base("bar(x)");
    std::string text = c.file(DeviceName::kRemote);
    const std::string title = "\"name\": \"toolbar\"";
    ASSERT_NE(text.find(title), std::string::npos);
    text.replace(text.find(title), title.size(), "\"name\": \"Leiste\"");
    c.save(DeviceName::kRemote, text);
    c.sync();
    c.expect_untouched(DeviceName::kLocal);
    c.expect_untouched(DeviceName::kRemote);
  });
}

TEST(FavoritesCases, X07WhatOneFileCannotHoldStaysInTheOther) {
  with_files(FileFormat::kHtml, FileFormat::kChromium, [](FavoritesCase& c) {
    c.local("bar(a blank<about:blank> noaddress<:> settings<chrome://settings/> b)");
    c.remote("bar(a)");
    c.expect_failures(1);
    c.sync();
    EXPECT_EQ(to_text(c.tree(DeviceName::kLocal)),
              to_text(parse_tree("bar(a blank<about:blank> noaddress<:> settings<chrome://settings/> b)")));
    EXPECT_EQ(to_text(c.tree(DeviceName::kRemote)),
              to_text(parse_tree("bar(a blank<about:blank> settings<chrome://settings/> b)")));
  });
}

TEST(FavoritesCases, X07SeparatorsStayInTheFileThatHasThem) {
  with_files(FileFormat::kHtml, FileFormat::kChromium, [](FavoritesCase& c) {
    std::string text = html_file(parse_tree("bar(a b)"));
    text.insert(text.find("<DT><A HREF=\"https://b"), "<HR>\n");
    c.save(DeviceName::kLocal, text);
    c.remote("bar(c)");
    c.expect("bar(a b c)", Siblings::kAsSet);
    const std::string after = c.file(DeviceName::kLocal);
    EXPECT_LT(after.find(">a</A>"), after.find("<HR>"));
    EXPECT_LT(after.find("<HR>"), after.find(">b</A>"));
  });
}

TEST(FavoritesCases, X10ChangeMadeWhileASyncIsAppliedIsNotLost) {
  for (const FileFormat format : {FileFormat::kChromium, FileFormat::kHtml}) {
    with_files(format, FileFormat::kChromium, [](FavoritesCase& c) {
      c.base("bar(a b)");
      c.remote("bar(a b c)");
      SyncSession session(c.provider(DeviceName::kRemote), c.provider(DeviceName::kLocal), {});
      bool edited = false;
      Result<StepState> state = session.step();
      for (; state.ok() && *state == StepState::kMore; state = session.step()) {
        if (edited || session.report().batches == 0) continue;
        // Not through the case: nothing tells Harmonica of it.
        c.overwrite(DeviceName::kLocal, "bar(d a)");
        edited = true;
      }
      ASSERT_TRUE(state.ok()) << state.status().message();
      ASSERT_TRUE(edited);
      c.expect("bar(d a c)", Siblings::kAsSet);
    });
  }
}

TEST(FavoritesCases, X11AddressesThatDifferInTheirWritingFoldAndSettle) {
  with_all_files([](FavoritesCase& c) {
    c.local("bar(a<http://a.example/> F(b<HTTP://B.example:80/x> c<https://c.example:443?q>))");
    c.remote("bar(a<http://a.example> F(b<http://b.example/x> c<https://c.example/?q>))");
    const std::string newer = "bar(a<http://a.example> F(b<http://b.example/x> c<https://c.example/?q>))";
    c.expect(newer);
    c.sync();
    c.expect_untouched(DeviceName::kLocal);
    c.expect_untouched(DeviceName::kRemote);
    // A browser that saves addresses in its own form does so once.
    for (const DeviceName device : {DeviceName::kLocal, DeviceName::kRemote}) {
      const std::string rewritten = "bar(a<http://a.example/> F(b<http://b.example/x> c<https://c.example/?q>))";
      device == DeviceName::kLocal ? c.local(rewritten) : c.remote(rewritten);
      c.expect(rewritten);
      c.sync();
      c.expect_untouched(DeviceName::kLocal);
      c.expect_untouched(DeviceName::kRemote);
    }
  });
}

TEST(FavoritesCases, X11AddressesThatMayDifferAreTwo) {
  with_all_files([](FavoritesCase& c) {
    c.local("bar(a<http://a.example/x> b<http://b.example> c<javascript:A>)");
    c.remote("bar(a<http://a.example/X> b<https://b.example> c<javascript:a>)");
    c.sync();
    EXPECT_EQ(size_of(c.tree(DeviceName::kLocal)), 6U);
    EXPECT_EQ(to_text(c.tree(DeviceName::kLocal)), to_text(c.tree(DeviceName::kRemote)));
  });
}

}  // namespace
}  // namespace harmonica::testing
