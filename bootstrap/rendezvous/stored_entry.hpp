#pragma once

#include <string>

// Keys and values that every back end takes: the same are refused everywhere, so that a program
// which runs with one back end runs with all.
namespace hpcboot {

// A key as every back end stores it: escaped, since a file's name has no '/' and PMIx ends a key at
// a NUL byte. @throws Error{exchange_failed} if it has not 1 to 32 bytes
std::string stored_key(const std::string& key);

// @throws Error{exchange_failed} if it has more than 256 KiB
void require_storable(const std::string& key, const std::string& value);

}  // namespace hpcboot
