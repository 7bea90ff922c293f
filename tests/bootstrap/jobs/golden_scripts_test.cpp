#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "jobs/job_script.hpp"
#include "jobs/site_library.hpp"
#include "support/paths.hpp"
#include "support/temporary_folder.hpp"

// The scripts of tests/golden/jobscripts, rendered with the options of its script `render`.
namespace hpcboot::jobscripts {
namespace {

namespace fs = std::filesystem;

constexpr const char* kArguments = "written by";

struct Asked {
  SiteProfile site;
  ScriptRequest request;
};

Asked asked_for(const SiteLibrary& library, const std::string& name, const std::string& kind) {
  Asked asked{library.read(name), {}};
  SiteProfile& site = asked.site;
  ScriptRequest& request = asked.request;
  const bool is_kubernetes = site.text("scheduler") == "kubernetes";
  request.job = is_kubernetes ? "pytorchjob" : kind == "minimal" ? "single" : "ddp";
  request.programs = "/opt/hpcboot/bin";
  request.script = kind + (is_kubernetes ? ".yaml" : ".sh");
  request.arguments = kArguments;
  if (kind == "no-gpu") request.gpus_per_node = 0;
  if (kind != "full") return asked;
  if (!is_kubernetes) request.job = "multinode_mpirun";
  request.nodes = 3;
  request.gpus_per_node = 2;
  if (site.text("scheduler") != "none") request.time = "02:00:00";
  if (site.text("scheduler") != "none" && !is_kubernetes) {
    request.account = "acme-1";
    request.mail = "me@hpc.invalid";
  }
  site.set("queue.name", "short");
  site.set("queue.requeue", "true");
  site.set("network.interface", "ib0");
  site.set("container.image", "${HOME}/hpcboot.sif");
  site.set("kubernetes.rdma_devices", "1");
  return asked;
}

// Without the command line of the program.
std::string without_arguments(std::string text) {
  const std::size_t at = text.find("`hpcboot ");
  if (at == std::string::npos) return text;
  const std::size_t end = text.find("`.\n", at);
  return text.replace(at, end - at, std::string("`hpcboot ") + kArguments);
}

TEST(GoldenScripts, AreRenderedByteByByte) {
  const SiteLibrary library(Env(std::map<std::string, std::string>{
      {"XDG_CONFIG_HOME", test::source_file("tests/golden/jobscripts/config")}}));
  std::set<std::string> sites;
  for (const auto& entry :
       fs::recursive_directory_iterator(test::source_file("tests/golden/jobscripts"))) {
    const std::string suffix = entry.path().extension();
    if (suffix != ".sh" && suffix != ".yaml") continue;
    const std::string name = entry.path().parent_path().filename();
    sites.insert(name);
    const Asked asked = asked_for(library, name, entry.path().stem());
    EXPECT_EQ(render_job_script(TemplateRenderer(shipped_templates()), asked.site, asked.request),
              without_arguments(test::read_text(entry.path())))
        << entry.path();
  }
  for (const std::string& name : library.names()) EXPECT_EQ(sites.count(name), 1U) << name;
}

}  // namespace
}  // namespace hpcboot::jobscripts
