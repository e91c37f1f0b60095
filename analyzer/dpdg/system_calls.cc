// SPDX-License-Identifier: Apache-2.0
#include "dpdg/system_calls.h"

#include <array>
#include <string_view>

namespace svd {
namespace {

constexpr std::array kArguments{Reg::kRdi, Reg::kRsi,          Reg::kRdx, static_cast<Reg>(10),
                                Reg::kR8,  static_cast<Reg>(9)};

// How many arguments each call has, by number, twenty in a line. Linux 4.18, after which the
// numbers jump to those that all architectures share.
constexpr std::string_view kCounts =
    "33312223363214403443"
    "32150533333312022130"
    "43336633232334555003"
    "14213341245332112232"
    "11221221232233312221"
    "14030110020002222333"
    "31111222432223112223"
    "23223111222100321521"
    "21012522142213232154"
    "35566603555444333222"
    "21633121533131445310"
    "44342112224144326635"
    "41552345545320324434"
    "53434534336512364446"
    "46321442442132155455"
    "25453214236653345332"
    "535133666421564";

}  // namespace

std::span<const Reg> argument_registers(std::uint32_t system_call) {
  std::span<const Reg> all = kArguments;
  if (system_call >= kCounts.size()) return all;
  return all.first(static_cast<std::size_t>(kCounts[system_call] - '0'));
}

}  // namespace svd
