#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/data_folder.hpp"

// Small files of CIFAR, in which pixel i of image n has a value of its own, for tests of their
// readers.
namespace hpcboot::test {

constexpr std::size_t kCifarPixels = 3072;

/// Image `number`, as all forms store it.
inline Bytes cifar_pixels(int number) {
  Bytes pixels(kCifarPixels);
  for (std::size_t i = 0; i < kCifarPixels; ++i)
    pixels[i] = static_cast<std::uint8_t>(static_cast<std::size_t>(number) * 7 + i + i / 256);
  return pixels;
}

/// The images from number `first`, with these labels; of CIFAR-100 with the coarse ones, too.
inline Bytes cifar_records(int first, const std::vector<int>& labels, int classes = 10) {
  Bytes bytes;
  for (const int label : labels) {
    if (classes == 100) bytes.push_back(static_cast<std::uint8_t>(std::min(label / 5, 19)));
    bytes.push_back(static_cast<std::uint8_t>(label));
    const Bytes pixels = cifar_pixels(first++);
    bytes.insert(bytes.end(), pixels.begin(), pixels.end());
  }
  return bytes;
}

inline std::string short_text(const std::string& text) {
  return std::string("U") + static_cast<char>(text.size()) + text;
}

inline std::string four_bytes(std::size_t number) {
  std::string bytes;
  for (unsigned shift = 0; shift < 32; shift += 8)
    bytes.push_back(static_cast<char>(number >> shift & 0xff));
  return bytes;
}

/// An array of uint8 as cPickle of Python 2 wrote it in protocol 2.
inline std::string pickled_array(std::size_t rows, const std::string& bytes,
                                 bool by_column = false) {
  using namespace std::string_literals;
  return "cnumpy.core.multiarray\n_reconstruct\nq\x07"s + "cnumpy\nndarray\nq\x08" +
         "K\0\x85U\x01"s + "b\x87Rq\t(K\x01M"s + four_bytes(rows).substr(0, 2) + "M\0\x0c\x86"s +
         "cnumpy\ndtype\nq\nU\x02u1K\0K\x01\x87Rq\x0b(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff"s +
         "K\0tb"s + (by_column ? "\x88" : "\x89") + "T" + four_bytes(bytes.size()) + bytes + "tb";
}

/// The images from number `first` as a batch of CIFAR's Python form, byte by byte as cPickle of
/// Python 2 wrote it.
inline std::string cifar_batch(int first, const std::vector<int>& labels,
                               const std::string& key = "labels") {
  using namespace std::string_literals;
  std::string pixels;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Bytes image = cifar_pixels(first + static_cast<int>(i));
    pixels.append(image.begin(), image.end());
  }
  std::string text = "\x80\x02}q\x01("s + short_text("batch_label") + "q\x02" +
                     short_text("training batch 1 of 5") + "q\x03" + short_text(key) +
                     "q\x04]q\x05(";
  for (const int label : labels) text += std::string("K") + static_cast<char>(label);
  return text + "e" + short_text("data") + "q\x06" + pickled_array(labels.size(), pixels) +
         short_text("filenames") + "q\x0c]q\x0d(" + short_text("a.png") + "q\x0e" +
         short_text("b.png") + "r" + four_bytes(15) + "eu.";
}

inline Bytes bytes_of(const std::string& text) {
  return {text.begin(), text.end()};
}

}  // namespace hpcboot::test
