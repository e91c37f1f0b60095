// SPDX-License-Identifier: Apache-2.0
//
// What can be said of memory by the text of the lines that access it.

#include "findings/member_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(MemberNames, AreOfAllElements) {
  EXPECT_EQ(without_indexes("entries[58].value[...]"), "entries.value");
  EXPECT_EQ(without_indexes("a[b[1]].c"), "a.c");
  EXPECT_EQ(last_member("queue->slots[...].owner"), "owner");
  EXPECT_EQ(last_member("mail->parcel[...]"), "parcel");
  EXPECT_EQ(last_member("count"), "count");
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
