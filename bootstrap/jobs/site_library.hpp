#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "hpcboot/env.hpp"
#include "site_profile.hpp"

namespace hpcboot::jobscripts {

/// Where templates and sites lie: those of hpcboot beside the program, in its build or
/// installation, and sites of the user's own, which win over ones of the same name.
class SiteLibrary {
 public:
  /// @param program the program that runs
  /// @param env     XDG_CONFIG_HOME or HOME say where the user's own sites are
  SiteLibrary(const std::filesystem::path& program, const Env& env);

  std::filesystem::path templates() const { return folder_ / "templates"; }

  /// The user's folder, which need not exist; empty where there is no home.
  const std::filesystem::path& own_sites() const noexcept { return own_; }

  /// Every site, by name.
  std::vector<std::string> names() const;

  /// @throws Error{malformed_value} naming the nearest where there is no site `name`, and what
  /// check_shipped() and SiteProfile::read() throw
  SiteProfile read(const std::string& name) const;

  /// @throws Error{unreadable_file} where hpcboot's own sites are not beside the program, which may
  /// have been moved
  void check_shipped() const;

  /// Whether read() takes `name` from hpcboot's own sites.
  bool has_as_shipped(const std::string& name) const;

 private:
  /// Empty where there is no such site.
  std::filesystem::path file_of(const std::string& name) const;
  std::vector<std::filesystem::path> folders() const;

  std::filesystem::path folder_;
  std::filesystem::path own_;
};

}  // namespace hpcboot::jobscripts
