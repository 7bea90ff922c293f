#include "owned_description.hpp"

namespace hpcboot {
namespace {

// Tables and views of them, as the compiler makes them for a description that ships with hpcboot.
class OwnedDescription {
 public:
  OwnedDescription(DescriptionText text, std::string file)
      : text_(std::move(text)), file_(std::move(file)) {
    for (const auto& variable : text_.variables)
      variables_.push_back({variable.name, variable.kind, variable.use});
    if (text_.is_launcher) make_launcher();
    if (text_.is_job) make_scheduler();
  }
  OwnedDescription(const OwnedDescription&) = delete;
  OwnedDescription& operator=(const OwnedDescription&) = delete;
  ~OwnedDescription() = default;

  const LaunchSource& launcher() const { return launcher_; }
  const Scheduler& scheduler() const { return scheduler_; }

 private:
  struct Names {
    explicit Names(const std::vector<std::string>& texts) : table(texts.begin(), texts.end()) {}
    NameView view() const { return {table.data(), table.size()}; }
    std::vector<std::string_view> table;
  };
  struct Values {
    explicit Values(const DescriptionText::Values& values) {
      for (const auto& [variable, value] : values) table.push_back({variable, value});
    }
    ValueView view() const { return {table.data(), table.size()}; }
    std::vector<VariableValue> table;
  };

  void make_launcher() {
    const auto field = [&](const char* name) {
      return read_.emplace_back(text_.read.at(name)).view();
    };
    read_.reserve(text_.read.size());  // keeps the views valid
    description_.all_of = all_of_.view();
    description_.any_of = any_of_.view();
    description_.none_of = none_of_.view();
    description_.equals = equals_.view();
    description_.differs = differs_.view();
    description_.rank = field("rank");
    description_.world_size = field("world_size");
    description_.local_rank = field("local_rank");
    description_.local_size = field("local_size");
    description_.node_rank = field("node_rank");
    description_.num_nodes = field("num_nodes");
    description_.hosts = {text_.hosts, text_.hosts_form};
    description_.master_address = text_.master_address;
    description_.master_port = text_.master_port;
    description_.master_endpoint = text_.master_endpoint;
    description_.master_only_if = only_if_.view();
    description_.launch_id = field("launch_id");
    launcher_.name = text_.name;
    launcher_.level = text_.level;
    launcher_.why_here = text_.why_here;
    launcher_.set_by = text_.set_by;
    launcher_.documented = text_.documented;
    launcher_.variables = VariableList(variables_);
    launcher_.cannot_know = text_.cannot_know;
    launcher_.traits = text_.traits;
    launcher_.description = &description_;
    launcher_.file = file_;
  }

  void make_scheduler() {
    job_.id = text_.job_id;
    job_.distinct = distinct_.view();
    job_.hosts = {text_.job_hosts, text_.job_hosts_form};
    job_.nodefile = text_.job_nodefile;
    job_.num_tasks = text_.job_num_tasks;
    scheduler_.name = text_.name;
    scheduler_.start_command = text_.job_start_command;
    scheduler_.documented = text_.documented;
    scheduler_.variables = VariableList(variables_);
    scheduler_.description = &job_;
    scheduler_.file = file_;
  }

  DescriptionText text_;
  std::string file_;
  std::vector<LaunchVariable> variables_;
  Names all_of_{text_.all_of}, any_of_{text_.any_of}, none_of_{text_.none_of};
  Names distinct_{text_.job_distinct};
  Values equals_{text_.equals}, differs_{text_.differs}, only_if_{text_.master_only_if};
  std::vector<Names> read_;
  LauncherDescription description_;
  LaunchSource launcher_{};
  JobDescription job_;
  Scheduler scheduler_{};
};

}  // namespace

DescribedLauncher describe(DescriptionText text, const std::string& file) {
  DescribedLauncher described;
  const bool is_launcher = text.is_launcher;
  const bool is_job = text.is_job;
  const auto owned = std::make_shared<const OwnedDescription>(std::move(text), file);
  if (is_launcher)
    described.launcher = std::shared_ptr<const LaunchSource>(owned, &owned->launcher());
  if (is_job) described.scheduler = std::shared_ptr<const Scheduler>(owned, &owned->scheduler());
  return described;
}

}  // namespace hpcboot
