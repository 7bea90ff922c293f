#include "pbs_submission.hpp"

#include <algorithm>
#include <set>

#include "hpcboot/encode.hpp"
#include "hpcboot/error.hpp"
#include "jobs/run/plan/exported_variables.hpp"
#include "pbs_options.hpp"

namespace hpcboot::run {
namespace {

using Values = std::map<std::string, std::string>;

[[noreturn]] void refuse(const std::string& found, const std::string& expected) {
  throw Error(ErrorCode::backend_unavailable, found, expected, "submit the job by hand");
}

// A shell sets these itself; some of them are read-only.
const std::set<std::string> kOfShells = {"BASHOPTS", "BASH_VERSINFO", "EUID",  "PPID", "SHELLOPTS",
                                         "UID",      "OLDPWD",        "SHLVL", "PWD",  "_"};

// Tell qsub where its server is. Other PBS_* variables belong to this job, or PBS sets them.
const std::set<std::string> kOfCommands = {"PBS_CONF_FILE", "PBS_DEFAULT", "PBS_EXEC", "PBS_HOME",
                                           "PBS_SERVER"};
// An array task is submitted alone, and `-J 2-2` is refused: these variables pass on its number.
constexpr const char* kOfArrays[] = {"PBS_ARRAY_INDEX", "PBS_ARRAY_ID", "PBS_ARRAYID"};

bool begins_with(const std::string& text, const char* beginning) {
  return text.rfind(beginning, 0) == 0;
}

// The variables that the user passed with -v and -V.
Values user_variables(const Env& env, const PbsStatus& status) {
  Values values;
  for (const auto& [name, value] : status.variables()) {
    if (!begins_with(name, "PBS_") && !begins_with(name, "HPCBOOT_RUN_") &&
        kOfShells.count(name) == 0)
      values[name] = value;
  }
  for (const char* name : kOfArrays) {
    if (const auto value = env.text(name)) values[name] = *value;
  }
  return values;
}

// Removes names that no shell can set, such as functions exported by bash. @return their list
std::string take_strange_names(Values& values) {
  std::string names;
  for (auto it = values.begin(); it != values.end();) {
    if (is_variable_name(it->first)) {
      ++it;
      continue;
    }
    names += (names.empty() ? "" : ", ") + it->first;
    it = values.erase(it);
  }
  return names;
}

// `qsub -v NAME` of OpenPBS 23.06 refuses values with quotes and doubles backslashes.
bool can_be_named(const Values& values) {
  return std::all_of(values.begin(), values.end(), [](const auto& variable) {
    return variable.second.find_first_of("\"'\\") == std::string::npos;
  });
}

// Restores the values at submission, from which qsub derives PBS_O_HOME and the like.
void set_origin(std::string& script, const Values& of_job) {
  for (const char* name : {"HOME", "LOGNAME", "PATH", "SHELL", "MAIL", "LANG", "TZ"}) {
    const auto value = of_job.find(std::string("PBS_O_") + name);
    if (value != of_job.end())
      script += "export " + (name + ("=" + shell_quote(value->second))) + "\n";
  }
}

void unset_others(std::string& script, const Env& env) {
  for (const auto& [name, value] : env.variables()) {
    if (is_variable_name(name) && kOfCommands.count(name) == 0 && kOfShells.count(name) == 0)
      script += "unset " + name + "\n";
  }
}

// "<jsdl-hpcpa:Argument>a&lt;b</jsdl-hpcpa:Argument>…"
std::vector<std::string> xml_texts(const std::string& xml) {
  static const std::pair<const char*, char> entities[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&amp;", '&'}};
  std::vector<std::string> texts;
  for (std::size_t begin = 0; (begin = xml.find('>', begin)) != std::string::npos;) {
    const std::size_t end = xml.find('<', ++begin);
    if (end == std::string::npos) break;
    std::string text;
    for (std::size_t i = begin; i < end;) {
      std::size_t length = 1;
      char letter = xml[i];
      for (const auto& [entity, meant] : entities) {
        if (xml.compare(i, std::char_traits<char>::length(entity), entity) != 0) continue;
        length = std::char_traits<char>::length(entity);
        letter = meant;
      }
      text += letter;
      i += length;
    }
    texts.push_back(text);
    begin = xml.find('>', end);
    if (begin != std::string::npos) ++begin;
  }
  return texts;
}

// The copy of the script that pbs_mom executes, next to its list of hosts: unchanged since the
// submission, even if it came from standard input. It is on the first host of the job.
std::string script_file(const Surroundings& s, const std::string& id) {
  const std::string hosts(s.env.text("PBS_NODEFILE").value_or(""));
  const std::size_t folder = hosts.rfind("/aux/");
  if (folder == std::string::npos)
    refuse("PBS_NODEFILE=" + hosts, "pbs_mom's list of hosts, …/aux/" + id);
  std::string file = hosts.substr(0, folder) + "/mom_priv/jobs/" + id + ".SC";
  try {
    s.read_file(file);
  } catch (const Error& error) {
    refuse("the job's script: " + error.found(), "pbs_mom's copy of it, on the job's first host");
  }
  return file;
}

// An option and its value alternate: the value may look like an option.
bool has_option(const std::vector<std::string>& options, const char* name) {
  for (std::size_t i = 0; i < options.size(); i += 2) {
    if (options[i] == name) return true;
  }
  return false;
}

void add_note(PbsSubmission& submission, const std::string& note) {
  submission.note += (submission.note.empty() ? "" : "; ") + note;
}

}  // namespace

PbsSubmission pbs_submission(const Surroundings& s, const std::string& id,
                             const PbsStatus& status) {
  if (const std::string name = status.repeated(); !name.empty()) {
    refuse("`qstat -f " + id + "` shows " + name + " twice",
           "each attribute once; a variable or argument of the job has a line that looks like this "
           "one");
  }
  if (status.is("interactive", "True")) refuse("an interactive job", "a job with a script");
  const Values of_job = status.variables();
  Values values = user_variables(s.env, status);

  PbsSubmission submission;
  const std::string strange = take_strange_names(values);
  if (!strange.empty()) add_note(submission, "without the variables " + strange);

  const std::string qsub = s.find_program(s.env, "qsub");
  // An empty directive prefix: the #PBS lines of the script are already in the options.
  submission.words = {qsub.empty() ? "qsub" : qsub, "-C", ""};
  const std::vector<std::string> options = pbs_options(id, status);
  submission.words.insert(submission.words.end(), options.begin(), options.end());
  if (has_option(options, "-o") && status.text("Output_Path").back() != '/') {
    add_note(submission,
             "its output overwrites that of this job, in " + status.text("Output_Path"));
  }

  std::string& script = submission.shell_script;
  const auto folder = of_job.find("PBS_O_WORKDIR");
  if (folder != of_job.end()) script += "cd -- " + shell_quote(folder->second) + " || exit 1\n";
  if (can_be_named(values)) {
    set_origin(script, of_job);
    std::string names;
    for (const auto& [name, value] : values) names += (names.empty() ? "" : ",") + name;
    if (!names.empty()) submission.words.insert(submission.words.end(), {"-v", names});
  } else {
    unset_others(script, s.env);
    submission.words.emplace_back("-V");
  }
  for (const auto& [name, value] : values)
    script += "export " + (name + ("=" + shell_quote(value))) + "\n";

  const std::vector<std::string> program = xml_texts(status.text("executable"));
  if (program.empty()) {
    submission.words.push_back(script_file(s, id));
  } else {
    const std::vector<std::string> arguments = xml_texts(status.text("argument_list"));
    submission.words.insert(submission.words.end(), {"--", program.front()});
    submission.words.insert(submission.words.end(), arguments.begin(), arguments.end());
  }
  script += "exec";
  for (const std::string& word : submission.words) script += " " + shell_quote(word);
  script += "\n";
  return submission;
}

}  // namespace hpcboot::run
