// SPDX-License-Identifier: Apache-2.0
//
// What can be said of memory by the text of the lines that access it, and by its name.

#include "findings/member_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "findings/summary.h"

namespace svd::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(MemberNames, StandInALine) {
  EXPECT_THAT(member_expressions("buf->outcnt += x.y.z;  // a->b"),
              ElementsAre("buf->outcnt", "x.y.z"));
  EXPECT_THAT(member_expressions("puts(\"a.b\"); f(1.5);"), IsEmpty());
}

TEST(MemberNames, OfACallItIsWhatItIsCalledFor) {
  EXPECT_THAT(member_expressions("s->cart.push_back(what); n += list.size();"),
              ElementsAre("s->cart"));
  EXPECT_THAT(member_expressions("return it->second.get();"), ElementsAre("it->second"));
}

TEST(MemberNames, AreGuessedWhereOnlyOneIsPossible) {
  EXPECT_EQ(common_member({"q->head = n;", "if (queue->head != q->tail)"}), "q->head");
  EXPECT_EQ(common_member({"q->head = n;", "return count;"}), "q->head");
  EXPECT_EQ(common_member({"q->head = q->tail;"}), "");
  EXPECT_EQ(common_member({"s->cart.push_back(what); s->total += 1;"}), "");
}

TEST(MemberNames, CanHaveAnotherSpellingInALine) {
  EXPECT_EQ(other_spelling("this->cart", {"n = total;", "s->cart.clear(), s->total = 0;"}),
            "s->cart");
  EXPECT_EQ(other_spelling("this->cart", {"s->cart = other->cart;"}), "");
  EXPECT_EQ(other_spelling("this->cart", {"cart.clear(), s->total = 0;"}), "");
  EXPECT_EQ(other_spelling("this->cart[...]", {"s->cart = nullptr;"}), "");
}

TEST(MemberNames, AreOfAllElements) {
  EXPECT_EQ(without_indexes("entries[58].value[...]"), "entries.value");
  EXPECT_EQ(without_indexes("a[b[1]].c"), "a.c");
  EXPECT_EQ(last_member("queue->slots[...].owner"), "owner");
  EXPECT_EQ(last_member("mail->parcel[...]"), "parcel");
  EXPECT_EQ(last_member("count"), "count");
}

TEST(MemberNames, SayHowFarBehindThemItIs) {
  EXPECT_EQ(depth_behind("q->slots"), 0U);
  EXPECT_EQ(depth_behind("q->slots[2].owner"), 0U);
  EXPECT_EQ(depth_behind("q->slots[...]"), 1U);
  EXPECT_EQ(depth_behind("q->a[b[1].c]"), 1U);
  EXPECT_EQ(depth_behind("*q->slots"), 1U);
  EXPECT_EQ(depth_behind("*q->slots[...]"), 2U);
  EXPECT_EQ(depth_behind("(*q->slots)[...]"), 2U);
  EXPECT_EQ(depth_behind("(*q->slots)->owner"), 0U);
  EXPECT_EQ(depth_behind(""), 0U);
}

TEST(MemberNames, AreTheLibrarysWhereTheyAreReserved) {
  for (const char* name : {"list->__begin_", "this->_M_impl", "_Head->count", "__first->count"})
    EXPECT_TRUE(has_reserved(name)) << name;
  for (const char* name : {"list->_count", "list->count_", "list->a__b", "list->a_B", "list->_"})
    EXPECT_FALSE(has_reserved(name)) << name;
}

Finding race_on(const std::string& name) {
  Finding finding;
  finding.detectors = {"race-hb"};
  finding.memory = "64 bytes of make (queue.c:9), at 0";
  finding.variable = name;
  finding.accesses.resize(2);
  for (FindingAccess& access : finding.accesses) access.place.text = "q->slots[q->used++] = item;";
  return finding;
}

// A queue's array can be raced for in one line with the pointer to it.
TEST(Fingerprint, TellsAPointerFromWhatItPointsTo) {
  EXPECT_NE(fingerprint(race_on("q->slots")), fingerprint(race_on("q->slots[...]")));
  EXPECT_NE(fingerprint(race_on("q->slots")), fingerprint(race_on("q->used")));
  EXPECT_EQ(fingerprint(race_on("q->slots[...]")), fingerprint(race_on("queue->slots[3]")));
  EXPECT_EQ(fingerprint(race_on("q->slots[...]")), fingerprint(race_on("*q->slots")));
}

TEST(MemberNames, OfAnObjectWithANameSayMore) {
  EXPECT_EQ(better_name("this->cart", "s->cart"), "s->cart");
  EXPECT_EQ(better_name("s->cart", "this->cart"), "s->cart");
  EXPECT_EQ(better_name("", "this->cart"), "this->cart");
  EXPECT_EQ(better_name("this->cart", ""), "this->cart");
  EXPECT_EQ(better_name("this->cart", "this->total"), "this->cart");
}

}  // namespace
}  // namespace svd::test
