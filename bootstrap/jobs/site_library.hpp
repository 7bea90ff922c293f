#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hpcboot/env.hpp"
#include "shipped_files.hpp"
#include "site_profile.hpp"

namespace hpcboot::jobscripts {

/// The sites: hpcboot's own, which the program has in itself, and the user's, which win over those
/// of the same name.
class SiteLibrary {
 public:
  /// @param env XDG_CONFIG_HOME or HOME say where the user's own sites are
  explicit SiteLibrary(const Env& env, ShippedFiles shipped = shipped_sites());

  /// The user's folder, which need not exist; empty if there is no home.
  const std::filesystem::path& own_sites() const noexcept { return own_; }

  /// Every site, by name.
  std::vector<std::string> names() const;

  /// @throws Error{malformed_value} naming the nearest if there is no site `name`, and what
  /// SiteProfile::read() throws
  SiteProfile read(const std::string& name) const;

  /// The file as it was written, comments too. @throws as read(), but of what is in it
  std::string text_of(const std::string& name) const;

  /// Whether read() takes `name` from hpcboot's own sites.
  bool has_as_shipped(const std::string& name) const;

 private:
  /// Of the user's; empty if there is none.
  std::filesystem::path file_of(const std::string& name) const;
  void require(const std::string& name) const;

  ShippedFiles shipped_;
  std::filesystem::path own_;
};

}  // namespace hpcboot::jobscripts
