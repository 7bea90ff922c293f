#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hpcboot/env.hpp"
#include "shipped_files.hpp"
#include "site_profile.hpp"

namespace hpcboot::jobscripts {

/// The sites: those compiled into hpcboot, and the user's own, which take precedence over shipped
/// sites of the same name.
class SiteLibrary {
 public:
  /// @param env XDG_CONFIG_HOME or HOME locate the user's own sites
  explicit SiteLibrary(const Env& env, ShippedFiles shipped = shipped_sites());

  /// The folder of the user's sites, which need not exist; empty if there is no home.
  const std::filesystem::path& own_sites() const noexcept { return own_; }

  /// Every site, by name.
  std::vector<std::string> names() const;

  /// @throws Error{malformed_value} naming the closest match if there is no site `name`, and
  /// everything that SiteProfile::read() throws
  SiteProfile read(const std::string& name) const;

  /// The unparsed file, including comments. @throws as read(), except for errors in the contents
  std::string text_of(const std::string& name) const;

  /// Whether read() uses the shipped site `name`.
  bool has_as_shipped(const std::string& name) const;

 private:
  /// The user's file; empty if there is none.
  std::filesystem::path file_of(const std::string& name) const;
  void require(const std::string& name) const;

  ShippedFiles shipped_;
  std::filesystem::path own_;
};

}  // namespace hpcboot::jobscripts
