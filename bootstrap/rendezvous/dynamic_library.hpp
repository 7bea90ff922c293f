#pragma once

#include <dlfcn.h>

#include <string>
#include <vector>

namespace hpcboot {

// A library of the launcher's, loaded at run time and kept until the process ends. Never linked, so
// that one binary runs where there is none; RTLD_LOCAL, so that an MPI library in this process
// keeps its own.
class DynamicLibrary {
 public:
  // Throws what the back end says where its library cannot be used.
  using Refuse = void (*)(const std::string& reason);

  // The first of the names that can be opened; the last is the one that errors speak of.
  DynamicLibrary(const std::vector<std::string>& names, Refuse refuse) : refuse_(refuse) {
    for (const std::string& name : names) {
      handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr) return;
    }
    refuse_(dlerror());
  }

  template <typename Function>
  void load(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function == nullptr) refuse_(dlerror());
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(function), &info) != 0) path_ = info.dli_fname;
  }

  // The file that the last loaded function came from.
  const std::string& path() const { return path_; }

 private:
  Refuse refuse_;
  void* handle_ = nullptr;
  std::string path_;
};

}  // namespace hpcboot
