#include "jobs/job.hpp"
#include "jobs/job_script.hpp"
#include "jobs/shipped_files.hpp"

#include "fuzz.hpp"
#include "hpcboot/encode.hpp"
#include "input.hpp"

namespace {

using namespace hpcboot;
using namespace hpcboot::jobscripts;

// Every value matches the type of its key.
void require_sound(const SiteProfile& site) {
  for (const ProfileKey& key : profile_keys()) {
    std::vector<std::string> texts;
    if (key.type == KeyType::number) {
      const int number = site.number(key.name);
      fuzz::require(number >= 0 && number <= 1'000'000, "a number within bounds");
    } else if (key.type == KeyType::truth) {
      (void)site.truth(key.name);
    } else if (is_list(key.type)) {
      texts = site.list(key.name);
    } else if (key.required || !site.text(key.name).empty()) {
      texts = {site.text(key.name)};
    }
    for (const std::string& text : texts)
      fuzz::require(!problem_of(key, text), "a valid text for its key");
  }
}

void require_printable(std::string_view script) {
  while (!script.empty()) {
    const std::string_view line = script.substr(0, script.find('\n'));
    fuzz::require(is_printable(line), "a script has no control characters");
    script.remove_prefix(std::min(script.size(), line.size() + 1));
  }
}

}  // namespace

// A site's TOML and, after a form feed, NAME=VALUE as for --set: a profile whose values match their
// keys and produce scripts, or an Error.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TemplateRenderer kTemplates(shipped_templates());
  fuzz::Input input(fuzz::text_of(data, size));
  fuzz::allow_error([&] {
    SiteProfile site = SiteProfile::parse("fuzz.toml", std::string(input.text()));
    require_sound(site);
    const std::string setting(input.text());
    const std::size_t equals = std::min(setting.find('='), setting.size());
    fuzz::allow_error([&] {
      site.set(setting.substr(0, equals), setting.substr(std::min(equals + 1, setting.size())));
    });
    require_sound(site);
    // Templates take a thousand times as long as the rest.
    const std::vector<Job> jobs = jobs_of(site);
    if (size % 16 != 0 || jobs.empty()) return;
    ScriptRequest request;
    request.job = jobs[size / 16 % jobs.size()].name;
    request.script = "job.sh";
    require_printable(render_job_script(kTemplates, site, request));
  });
  return 0;
}
