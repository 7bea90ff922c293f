#pragma once

#include <H5Cpp.h>

#include <mutex>
#include <string>

namespace hpcboot::data {

/// Held around every use of HDF5, including opening and closing: many clusters build the library
/// without thread safety, and its C++ API never has it.
class Hdf5Section {
 public:
  Hdf5Section() : lock_(mutex(), std::defer_lock) {
    if (!is_alone) lock_.lock();
    // HDF5 would print its errors; the setting is per thread.
    H5::Exception::dontPrint();
  }

  /// True in a child of fork(): it has one thread, and the locks copied from its parent have no
  /// owner.
  inline static bool is_alone = false;

 private:
  // Recursive, so that a file can be written from another one.
  static std::recursive_mutex& mutex() {
    static std::recursive_mutex the_mutex;
    return the_mutex;
  }
  std::unique_lock<std::recursive_mutex> lock_;
};

/// HDF5's last error in this thread, such as "deflate: inflate() failed". Call it before closing
/// another HDF5 object, which clears the error.
inline std::string hdf5_reason(const H5::Exception& failure) {
  std::string reason;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned number, const H5E_error2_t* error, void* text) -> herr_t {
        if (number == 0 && error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
        return 0;
      },
      &reason);
  return reason.empty() ? failure.getDetailMsg() : reason;
}

}  // namespace hpcboot::data
