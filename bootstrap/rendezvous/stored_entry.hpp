#pragma once

#include <cstddef>
#include <string>

// Keys and values that every back end takes: the same are refused everywhere, so that a program
// which runs with one back end runs with all.
namespace hpcboot {

// A key as every back end stores it: escaped, since a file's name has no '/' and PMIx ends a key at
// a NUL byte. @throws Error{exchange_failed} if it has not 1 to 32 bytes
std::string stored_key(const std::string& key);

// The most bytes of an escaped value. Ranks exchange a few hundred; OpenPMIx 4's server crashes at
// some MiB.
constexpr std::size_t kLongestStored = std::size_t{1} << 20U;

// @throws Error{exchange_failed} if it has more, escaped
void require_storable(const std::string& key, const std::string& value);

}  // namespace hpcboot
