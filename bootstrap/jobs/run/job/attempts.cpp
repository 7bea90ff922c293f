#include "attempts.hpp"

#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "core/user_folders.hpp"

namespace hpcboot::run {
namespace fs = std::filesystem;

Attempts::Attempts(const Env& env)
    : folder_(state_folder(env)), cluster_(env.text("SLURM_CLUSTER_NAME").value_or("")) {
  if (!folder_.empty()) folder_ += "/hpcboot/jobs";
}

std::string Attempts::path_of(const std::string& job_id) const {
  std::string name = cluster_.empty() ? job_id : cluster_ + "." + job_id;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-') c = '_';
  }
  return folder_ + "/" + name;
}

int Attempts::in_vain(const std::string& job_id) const {
  if (folder_.empty()) return 0;
  std::ifstream file(path_of(job_id));
  int count = 0;
  return file >> count && count > 0 ? count : 0;
}

bool Attempts::remember(const std::string& job_id, int in_vain) const {
  if (folder_.empty()) return false;
  std::error_code reason;
  fs::create_directories(folder_, reason);
  fs::permissions(folder_, fs::perms::owner_all, reason);
  const std::string path = path_of(job_id);
  const std::string fresh = path + ".new";
  {
    std::ofstream file(fresh, std::ios::trunc);
    file << in_vain << "\n";
    if (!file.flush()) return false;
  }
  return std::rename(fresh.c_str(), path.c_str()) == 0;
}

void Attempts::forget(const std::string& job_id) const {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::remove(path_of(job_id), ignored);
}

}  // namespace hpcboot::run
