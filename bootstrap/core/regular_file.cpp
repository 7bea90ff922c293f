#include "regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace hpcboot {

RegularFileStream::RegularFileStream(const std::filesystem::path& path)
    : std::istream(nullptr), buffer_(path) {
  rdbuf(&buffer_);
  if (error() != 0) setstate(failbit);
}

std::string RegularFileStream::reason() const {
  return error() == EINVAL ? "it is not a regular file" : std::generic_category().message(error());
}

RegularFileStream::Buffer::Buffer(const std::filesystem::path& path)
    // Without O_NONBLOCK, open() would wait for the other end of a FIFO.
    : descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
  struct stat status {};
  if (descriptor < 0 || ::fstat(descriptor, &status) != 0) {
    error = errno == ENXIO ? EINVAL : errno;  // ENXIO: a socket
  } else if (!S_ISREG(status.st_mode)) {
    error = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
  } else {
    size = static_cast<std::uintmax_t>(status.st_size);
  }
}

RegularFileStream::Buffer::~Buffer() {
  if (descriptor >= 0) ::close(descriptor);
}

std::streambuf::int_type RegularFileStream::Buffer::underflow() {
  if (error != 0) return traits_type::eof();
  ssize_t got = 0;
  do {
    got = ::read(descriptor, bytes.data(), bytes.size());
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return traits_type::eof();
  setg(bytes.data(), bytes.data(), bytes.data() + got);
  return traits_type::to_int_type(bytes.front());
}

std::streambuf::pos_type RegularFileStream::Buffer::seekpos(pos_type position,
                                                            std::ios::openmode /*which*/) {
  setg(nullptr, nullptr, nullptr);
  return ::lseek(descriptor, position, SEEK_SET);
}

}  // namespace hpcboot
