#include <algorithm>
#include <fstream>

#include "core/schedulers/read_file.hpp"
#include "describe/read_description.hpp"
#include "hpcboot/error.hpp"
#include "text/terminal.hpp"

// Usage: write_launcher_table OUTPUT.cpp NAME.toml… Runs during the build, and writes the tables
// declared in core/launchers/shipped.hpp, so that the core reads no TOML.
namespace hpcboot {
namespace {

// A string literal. Octal escapes have three digits, so that no following digit belongs to them.
std::string literal(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < ' ' || byte > '~') {
      for (const unsigned shift : {6U, 3U, 0U})
        out +=
            shift == 6U ? "\\" + std::to_string(byte >> 6U) : std::to_string((byte >> shift) & 7U);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

const char* yes_or_no(bool value) {
  return value ? "true" : "false";
}

// Writes one file: a namespace with its tables, and an entry in the common tables.
class Writer {
 public:
  Writer(std::ostream& out, const DescriptionText& text) : out_(out), d_(text) {}

  void write_tables() {
    out_ << "namespace " << d_.name << " {\n";
    write_variables();
    if (d_.is_launcher) write_description();
    if (d_.is_job) write_job();
    out_ << "}  // namespace " << d_.name << "\n\n";
  }

  void write_launcher() {
    const LauncherTraits& t = d_.traits;
    out_ << "    {" << literal(d_.name) << ", Level{" << static_cast<int>(d_.level) << "}, "
         << literal(d_.why_here) << ", " << literal(d_.set_by) << ", " << literal(d_.documented)
         << ", " << d_.name << "::kVariables, " << literal(d_.cannot_know) << ", {"
         << yes_or_no(t.hands_on_job_variables) << ", " << yes_or_no(t.orders_ranks_by_host) << ", "
         << yes_or_no(t.serves_a_store) << ", " << yes_or_no(t.one_process_a_host) << ", "
         << yes_or_no(t.counts_hosts_by_entry) << "}, nullptr, nullptr, nullptr, &" << d_.name
         << "::kDescription, {}},\n";
  }

  void write_scheduler() {
    out_ << "    {" << literal(d_.name) << ", " << literal(d_.job_start_command) << ", "
         << literal(d_.documented) << ", " << d_.name << "::kVariables, nullptr, &" << d_.name
         << "::kJob, {}},\n";
  }

 private:
  static std::string hosts(const std::string& variable, HostForm form) {
    return "{" + literal(variable) + ", HostForm{" + std::to_string(static_cast<int>(form)) + "}}";
  }

  // An empty array is not allowed.
  template <typename Table, typename Write>
  void view(const char* type, const char* name, const Table& table, Write write) {
    if (table.empty()) {
      out_ << "constexpr View<" << type << "> " << name << ";\n";
      return;
    }
    out_ << "constexpr " << type << " " << name << "[] = {";
    for (const auto& entry : table) out_ << write(entry) << ", ";
    out_ << "};\n";
  }

  void names(const char* name, const std::vector<std::string>& table) {
    view("std::string_view", name, table, literal);
  }

  void values(const char* name, const DescriptionText::Values& table) {
    view("VariableValue", name, table, [](const auto& entry) {
      return "{" + literal(entry.first) + ", " + literal(entry.second) + "}";
    });
  }

  void write_variables() {
    out_ << "constexpr LaunchVariable kVariables[] = {\n";
    for (const auto& variable : d_.variables) {
      out_ << "    {" << literal(variable.name) << ", VariableKind{"
           << static_cast<int>(variable.kind) << "}, VariableUse{" << static_cast<int>(variable.use)
           << "}},\n";
    }
    out_ << "};\n";
  }

  void write_description() {
    names("kAllOf", d_.all_of);
    names("kAnyOf", d_.any_of);
    names("kNoneOf", d_.none_of);
    values("kEquals", d_.equals);
    values("kDiffers", d_.differs);
    names("kRank", d_.read.at("rank"));
    names("kWorldSize", d_.read.at("world_size"));
    names("kLocalRank", d_.read.at("local_rank"));
    names("kLocalSize", d_.read.at("local_size"));
    names("kNodeRank", d_.read.at("node_rank"));
    names("kNumNodes", d_.read.at("num_nodes"));
    values("kOnlyIf", d_.master_only_if);
    names("kLaunchId", d_.read.at("launch_id"));
    out_ << "constexpr LauncherDescription kDescription = {\n"
            "    kAllOf, kAnyOf, kNoneOf, kEquals, kDiffers,\n"
            "    kRank, kWorldSize, kLocalRank, kLocalSize, kNodeRank, kNumNodes,\n    "
         << hosts(d_.hosts, d_.hosts_form) << ", " << literal(d_.master_address) << ", "
         << literal(d_.master_port) << ", " << literal(d_.master_endpoint)
         << ", kOnlyIf, kLaunchId};\n";
  }

  void write_job() {
    names("kDistinct", d_.job_distinct);
    out_ << "constexpr JobDescription kJob = {" << literal(d_.job_id) << ", kDistinct, "
         << hosts(d_.job_hosts, d_.job_hosts_form) << ", " << literal(d_.job_nodefile) << ", "
         << literal(d_.job_num_tasks) << "};\n";
  }

  std::ostream& out_;
  const DescriptionText& d_;
};

template <typename Write>
void write_view(std::ostream& out, const char* type, const char* table, const char* view,
                bool is_empty, Write write_entries) {
  if (is_empty) {
    out << "const View<" << type << "> " << view << ";\n";
    return;
  }
  out << "namespace {\nconstexpr " << type << " " << table << "[] = {\n";
  write_entries();
  out << "};\n}  // namespace\nconst View<" << type << "> " << view << "(" << table << ");\n\n";
}

void write_all(std::ostream& out, std::vector<DescriptionText> texts) {
  std::sort(texts.begin(), texts.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  out << "// Written by write_launcher_table from the .toml files of bootstrap/core/launchers.\n"
         "#include \"core/launchers/shipped.hpp\"\n\nnamespace hpcboot {\nnamespace {\n\n";
  for (const DescriptionText& text : texts) Writer(out, text).write_tables();
  out << "}  // namespace\n\n";
  const auto has_launcher = [](const auto& text) { return text.is_launcher; };
  const auto has_job = [](const auto& text) { return text.is_job; };
  write_view(out, "LaunchSource", "kLaunchers", "kShippedLaunchers",
             std::none_of(texts.begin(), texts.end(), has_launcher), [&] {
               for (const auto& text : texts)
                 if (has_launcher(text)) Writer(out, text).write_launcher();
             });
  write_view(out, "Scheduler", "kSchedulers", "kShippedSchedulers",
             std::none_of(texts.begin(), texts.end(), has_job), [&] {
               for (const auto& text : texts)
                 if (has_job(text)) Writer(out, text).write_scheduler();
             });
  out << "}  // namespace hpcboot\n";
}

int run(int argc, char** argv) {
  if (argc < 2) {
    err() << "Usage: write_launcher_table OUTPUT.cpp NAME.toml…\n";
    return 2;
  }
  std::vector<DescriptionText> texts;
  for (int i = 2; i < argc; ++i) {
    const std::string path = argv[i];
    const FileText file = read_whole(path, FileKind::regular);
    if (!file.text) {
      throw Error(ErrorCode::unreadable_file, path + " cannot be read: " + file.reason,
                  "the description of a launcher", "correct the path");
    }
    texts.push_back(read_description(*file.text, path));
  }
  std::ofstream out(argv[1]);
  write_all(out, std::move(texts));
  if (out.flush()) return 0;
  err() << "write_launcher_table: " << argv[1] << " cannot be written\n";
  return 1;
}

}  // namespace
}  // namespace hpcboot

int main(int argc, char** argv) {
  try {
    return hpcboot::run(argc, argv);
  } catch (const hpcboot::Error& error) {
    hpcboot::print_error("write_launcher_table", error);
    return error.exit_code();
  }
}
