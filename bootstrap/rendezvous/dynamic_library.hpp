#pragma once

#include <dlfcn.h>

#include <string>
#include <vector>

namespace hpcboot {

// A library of the launcher or of a driver, loaded at run time and kept until the process ends.
// Never linked, so that the same binary also runs without it; RTLD_LOCAL, so that an MPI library in
// this process keeps its own copy.
class DynamicLibrary {
 public:
  // Throws the back end's error if its library cannot be used.
  using Refuse = void (*)(const std::string& reason);

  // Opens the first of these names that can be opened; errors refer to the last one.
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

  // The file that contains the last loaded function.
  const std::string& path() const { return path_; }

 private:
  Refuse refuse_;
  void* handle_ = nullptr;
  std::string path_;
};

}  // namespace hpcboot
