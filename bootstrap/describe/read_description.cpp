#include "read_description.hpp"

#include <algorithm>

#include "core/contains.hpp"
#include "toml_section.hpp"

namespace hpcboot {
namespace {

using Names = std::vector<std::string>;

// The fields of [read], and the kind of their variables.
struct Field {
  const char* name;
  VariableKind kind;
};
constexpr Field kFields[] = {
    {"rank", VariableKind::identity},       {"world_size", VariableKind::size},
    {"local_rank", VariableKind::identity}, {"local_size", VariableKind::size},
    {"node_rank", VariableKind::identity},  {"num_nodes", VariableKind::size},
    {"launch_id", VariableKind::companion},
};

constexpr VariableKind kKinds[] = {
    VariableKind::identity, VariableKind::size,   VariableKind::companion, VariableKind::setting,
    VariableKind::secret,   VariableKind::handle, VariableKind::submitter};

// explicit_settings is reserved for HPCBOOT_*, and a source that needs a library is written in C++.
constexpr Level kLevels[] = {Level::elastic_agent, Level::mpi_launcher, Level::scheduler_step,
                             Level::pod,           Level::generic,      Level::remote_shell};

const Names& host_forms() {
  static const Names words = {"commas", "spaces", "lines", "slurm", "endpoints"};  // as HostForm
  return words;
}

// Words with another meaning where a launcher's name may appear.
constexpr std::string_view kReserved[] = {"single",      "exchange",  "rule",
                                          "environment", "hostname",  "hostfile",
                                          "allocation",  "interface", "mpi"};

template <typename Table>
Names words_for(const Table& table) {
  Names words;
  for (const auto& entry : table) words.emplace_back(name_of(entry));
  return words;
}

bool is_name(const std::string& name) {
  constexpr std::size_t kLongest = 24;
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  return !name.empty() && name.size() <= kLongest && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

class Reader {
 public:
  Reader(const toml::table& root, const std::string& file)
      : root_(root),
        file_(file),
        top_(root, "", file,
             {"name", "level", "why_here", "set_by", "documented", "cannot_know", "traits",
              "present", "read", "hosts", "master", "variables", "job"}) {}

  DescriptionText read() {
    read_top();
    if (d_.is_launcher) {
      read_numbers();
      read_presence();
      read_hosts();
      read_master();
    }
    read_job();
    read_variables();
    return std::move(d_);
  }

 private:
  // The table of this name; empty if it is missing.
  TomlSection section(const std::string& name, const Names& keys) const {
    static const toml::table kEmpty;
    const toml::node* node = root_.get(name);
    if (node == nullptr) return {kEmpty, name, file_, keys};
    if (!node->is_table()) {
      throw top_.wrong(name, "the value is not a table", "a table that starts with [" + name + "]",
                       "correct it");
    }
    return {*node->as_table(), name, file_, keys};
  }

  void read_top() {
    d_.name = top_.require_text("name", "as used in HPCBOOT_METHODS and printed by `show`");
    if (!is_name(d_.name)) {
      throw top_.wrong("name", "'" + d_.name.substr(0, 80) + "' is not a valid launcher name",
                       "1 to 24 characters of a-z, 0-9 and _, starting with a letter",
                       "choose a valid name");
    }
    if (contains(kReserved, d_.name)) {
      throw top_.wrong("name",
                       "'" + d_.name + "' is reserved: it has another meaning in hpcboot's output",
                       "a name that is not reserved", "choose another name");
    }
    d_.set_by = top_.require_text("set_by", "the command that sets the variables");
    d_.documented = top_.require_text("documented", "where they are documented");
    d_.is_job = root_.contains("job");
    d_.is_launcher = top_.has("level");
    if (!d_.is_launcher) return check_job_alone();
    d_.level = kLevels[*top_.choice("level", words_for(kLevels))];
    d_.why_here = top_.require_text("why_here", "the reason for its level");
    d_.cannot_know = top_.require_text("cannot_know", "what its variables do not reveal");
    read_traits();
  }

  // A scheduler without a launcher has no level and none of a launcher's keys.
  void check_job_alone() const {
    if (!d_.is_job)
      throw top_.missing("level",
                         "its nesting level; a scheduler without a launcher has [job] instead");
    for (const char* key :
         {"why_here", "cannot_know", "traits", "present", "read", "hosts", "master"}) {
      if (!top_.has(key)) continue;
      throw top_.wrong(key, "this key belongs to a launcher, but level is missing",
                       "a level, or only [job] and [variables]", "add level, or remove this key");
    }
  }

  void read_traits() {
    static const Names kTraits = {"one process a host", "ranks in any order",
                                  "hosts counted by entry", "no job variables"};
    for (const std::size_t trait : top_.choices("traits", kTraits)) {
      if (trait == 0) d_.traits.one_process_a_host = true;
      if (trait == 1) d_.traits.orders_ranks_by_host = false;
      if (trait == 2) d_.traits.counts_hosts_by_entry = true;
      if (trait == 3) d_.traits.hands_on_job_variables = false;
    }
  }

  void read_numbers() {
    Names fields;
    for (const Field& field : kFields) fields.emplace_back(field.name);
    const TomlSection section = this->section("read", fields);
    const bool is_counted = section.has("world_size");
    for (const Field& field : kFields) {
      const Names names = section.variables(field.name);
      const std::string name = d_.read.emplace(field.name, names).first->first;
      const bool is_identity = name == "rank" || name == "world_size" || name == "local_rank";
      const bool is_needed = is_counted && is_identity && names.size() == 1;
      for (const std::string& variable : names)
        add(variable, field.kind, is_needed ? VariableUse::required : VariableUse::used);
    }
    if (is_counted && d_.read["rank"].empty())
      throw section.missing("rank", "the variable that holds the rank of this process");
  }

  void read_presence() {
    const TomlSection section =
        this->section("present", {"all_of", "any_of", "none_of", "equals", "differs"});
    d_.all_of = section.variables("all_of");
    d_.any_of = section.variables("any_of");
    d_.none_of = section.variables("none_of");
    d_.equals = section.values("equals");
    d_.differs = section.values("differs");
    if (d_.all_of.empty() && d_.any_of.empty() && d_.equals.empty()) {
      for (const char* field : {"rank", "world_size", "local_rank"}) {
        const Names& names = d_.read[field];
        d_.any_of.insert(d_.any_of.end(), names.begin(), names.end());
      }
    }
    if (d_.all_of.empty() && d_.any_of.empty() && d_.equals.empty()) {
      throw section.missing("any_of", "the variables that show its presence, if [read] has none");
    }
    for (const Names* names : {&d_.all_of, &d_.any_of}) add_all(*names);
    for (const DescriptionText::Values* values : {&d_.equals, &d_.differs}) add_all(*values);
  }

  void read_hosts() {
    const TomlSection section = this->section("hosts", {"variable", "form"});
    d_.hosts = section.variable("variable");
    const auto form = section.choice("form", host_forms());
    if (d_.hosts.empty() != !form)
      throw section.missing(form ? "variable" : "form",
                            form ? "the variable that holds the list" : "the format of the list");
    if (!form) return;
    d_.hosts_form = static_cast<HostForm>(*form);
    add(d_.hosts, VariableKind::companion, VariableUse::used);
  }

  void read_master() {
    const TomlSection section = this->section("master", {"address", "port", "endpoint", "only_if"});
    d_.master_address = section.variable("address");
    d_.master_port = section.variable("port");
    d_.master_endpoint = section.variable("endpoint");
    d_.master_only_if = section.values("only_if");
    if (!d_.master_endpoint.empty() && !(d_.master_address + d_.master_port).empty()) {
      throw section.wrong("endpoint", "address or port is set as well",
                          "endpoint (HOST:PORT), or address and port", "remove one of them");
    }
    for (const std::string* name : {&d_.master_address, &d_.master_port, &d_.master_endpoint}) {
      if (!name->empty()) add(*name, VariableKind::companion, VariableUse::used);
    }
    add_all(d_.master_only_if);
  }

  void read_job() {
    if (!d_.is_job) return;
    const TomlSection section = this->section(
        "job", {"id", "start_command", "distinct", "nodefile", "num_tasks", "hosts", "hosts_form"});
    d_.job_id = section.variable("id");
    if (d_.job_id.empty()) throw section.missing("id", "the variable that holds the job id");
    d_.job_start_command = section.require_text(
        "start_command",
        "the command that starts a program on the whole allocation, such as mpiexec");
    d_.job_distinct = section.variables("distinct");
    d_.job_nodefile = section.variable("nodefile");
    d_.job_num_tasks = section.variable("num_tasks");
    d_.job_hosts = section.variable("hosts");
    const auto form = section.choice("hosts_form", host_forms());
    if (d_.job_hosts.empty() != !form)
      throw section.missing(form ? "hosts" : "hosts_form",
                            form ? "the variable that holds the list" : "the format of the list");
    if (form) d_.job_hosts_form = static_cast<HostForm>(*form);
    add_all(d_.job_distinct);
    for (const std::string* name :
         {&d_.job_id, &d_.job_nodefile, &d_.job_num_tasks, &d_.job_hosts}) {
      if (!name->empty()) add(*name, VariableKind::companion, VariableUse::used);
    }
  }

  // A variable that is read has the kind that its use implies, unless [variables] sets another.
  void read_variables() {
    const TomlSection section = this->section("variables", words_for(kKinds));
    Names said;
    std::vector<DescriptionText::Variable> families;
    for (const VariableKind kind : kKinds) {
      const std::string key(name_of(kind));
      for (const std::string& name : section.variables(key, true)) {
        if (contains(said, name)) {
          throw section.wrong(key, name + " is listed in [variables] twice", "each name once",
                              "remove one of them");
        }
        said.push_back(name);
        if (name.back() == '*') {
          families.push_back({name, kind, VariableUse::none});
        } else {
          add(name, kind, VariableUse::none).kind = kind;
        }
      }
    }
    // Of two families, the one with the longer name is the exception.
    std::stable_sort(families.begin(), families.end(),
                     [](const auto& a, const auto& b) { return a.name.size() > b.name.size(); });
    d_.variables.insert(d_.variables.end(), families.begin(), families.end());
  }

  DescriptionText::Variable& add(const std::string& name, VariableKind kind, VariableUse use) {
    auto& variables = d_.variables;
    const auto found = std::find_if(variables.begin(), variables.end(),
                                    [&](const auto& variable) { return variable.name == name; });
    if (found != variables.end()) return *found;
    return variables.emplace_back(DescriptionText::Variable{name, kind, use});
  }

  void add_all(const Names& names) {
    for (const std::string& name : names) add(name, VariableKind::companion, VariableUse::used);
  }

  void add_all(const DescriptionText::Values& values) {
    for (const auto& [name, value] : values) add(name, VariableKind::companion, VariableUse::used);
  }

  const toml::table& root_;
  std::string file_;
  TomlSection top_;
  DescriptionText d_;
};

}  // namespace

DescriptionText read_description(std::string_view toml, const std::string& file) {
  const toml::table root = parse_toml(toml, file);
  return Reader(root, file).read();
}

}  // namespace hpcboot
