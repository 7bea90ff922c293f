#include "datasets/picture_renderer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "datasets/picture_shapes.hpp"

namespace hpcboot::data {
namespace {

constexpr int kSide = 32;
constexpr std::array<std::string_view, 5> kTextures = {"plain", "striped", "chequered", "dotted",
                                                       "ringed"};

// How far pictures vary. Tuned by eye: a person can tell the classes apart, a linear classifier
// cannot.
constexpr float kSmallest = 7.5F;  // radius of a shape, pixels
constexpr float kLargest = 13.0F;
constexpr float kShift = 4.5F;   // of the centre, pixels
constexpr float kFinest = 4.0F;  // period of a texture, pixels
constexpr float kCoarsest = 6.5F;
constexpr float kWarm = -0.08F;  // the first warm hue; 0 and 1 are red
constexpr float kCold = 0.42F;
constexpr float kHues = 0.25F;      // how many hues are warm, and cold
constexpr float kContrast = 0.22F;  // brightness between a shape and the background, at least
constexpr int kMostBlobs = 3;       // small discs behind the shape
constexpr float kNoise = 12.0F;     // standard deviation in the noisiest picture, of 255

/// What a class determines.
struct Look {
  int shape;
  int texture;
  int scheme;  ///< 0: warm colours, 1: cold ones, -1: any
};

Look look_of(int label, int classes) {
  if (classes == 10) return {label / 2, label % 2, -1};
  return {label / 10, label % 5, label / 5 % 2};
}

struct Color {
  float red = 0;
  float green = 0;
  float blue = 0;
};

Color blend(const Color& a, const Color& b, float t) {
  return {a.red + (b.red - a.red) * t, a.green + (b.green - a.green) * t,
          a.blue + (b.blue - a.blue) * t};
}

float brightness(const Color& color) {
  return 0.3F * color.red + 0.59F * color.green + 0.11F * color.blue;
}

/// @param hue 0 is red, 1/3 green, 2/3 blue, 1 red again; any number
Color color_of(float hue, float saturation, float value) {
  const float turn = hue - std::floor(hue);
  const auto ramp = [&](float shift) {
    const float at = turn + shift;
    const float wrapped = 6.0F * (at - std::floor(at));
    const float share = std::clamp(std::fabs(wrapped - 3.0F) - 1.0F, 0.0F, 1.0F);
    return value * (1.0F - saturation + saturation * share);
  };
  return {ramp(0.0F), ramp(2.0F / 3.0F), ramp(1.0F / 3.0F)};
}

/// A wave of period 1 between 0 and 1, with slopes about a pixel wide.
float wave(float at, float period) {
  const float part = at - std::floor(at);
  return std::clamp(0.5F + (std::fabs(part - 0.5F) - 0.25F) * period, 0.0F, 1.0F);
}

/// How much of the second colour a point has. @param x, y in pixels from the centre of the shape
float texture_at(int texture, float x, float y, float period) {
  const float u = x / period;
  const float v = y / period;
  switch (texture) {
    case 1:
      return wave(u, period);
    case 2: {
      const float a = wave(0.5F * u, 2.0F * period);
      const float b = wave(0.5F * v, 2.0F * period);
      return a + b - 2.0F * a * b;
    }
    case 3: {
      const float dx = u - std::floor(u) - 0.5F;
      const float dy = v - std::floor(v) - 0.5F;
      return std::clamp(0.5F + (0.32F - std::sqrt(dx * dx + dy * dy)) * period, 0.0F, 1.0F);
    }
    case 4:
      return wave(std::sqrt(u * u + v * v), period);
    default:
      return 0.0F;
  }
}

using Canvas = std::array<Color, std::size_t{kSide} * kSide>;

// The order in which arguments of a function are evaluated is up to the compiler, so every random
// number below is drawn in a statement of its own.

Color muted_color(Random& random, float base) {
  const float hue = random.uniform(0.0F, 1.0F);
  const float saturation = random.uniform(0.0F, 0.45F);
  const float shift = random.uniform(-0.12F, 0.12F);
  return color_of(hue, saturation, std::clamp(base + shift, 0.0F, 1.0F));
}

struct Blob {
  float x = 0;
  float y = 0;
  float radius = 0;
  Color color;
};

Blob make_blob(Random& random) {
  Blob blob;
  blob.x = random.uniform(0.0F, kSide);
  blob.y = random.uniform(0.0F, kSide);
  blob.radius = random.uniform(1.0F, 3.5F);
  const float hue = random.uniform(0.0F, 1.0F);
  const float value = random.uniform(0.2F, 1.0F);
  blob.color = color_of(hue, 0.7F, value);
  return blob;
}

/// A gradient in any direction, with a few small discs.
void draw_background(Random& random, float base, Canvas& canvas) {
  const Color from = muted_color(random, base);
  const Color to = muted_color(random, base);
  const float across = random.uniform(-1.0F, 1.0F);
  const float down = random.uniform(-1.0F, 1.0F);
  std::array<Blob, kMostBlobs> blobs;
  const auto number = static_cast<std::size_t>(random.below(kMostBlobs + 1));
  for (std::size_t i = 0; i < number; ++i) blobs[i] = make_blob(random);
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      const auto x = static_cast<float>(column);
      const auto y = static_cast<float>(row);
      const float middle = 0.5F * (kSide - 1);
      const float t = 0.5F + (across * (x - middle) + down * (y - middle)) / (2.0F * kSide);
      Color color = blend(from, to, std::clamp(t, 0.0F, 1.0F));
      for (std::size_t i = 0; i < number; ++i) {
        const float dx = x - blobs[i].x;
        const float dy = y - blobs[i].y;
        const float share = blobs[i].radius + 0.5F - std::sqrt(dx * dx + dy * dy);
        color = blend(color, blobs[i].color, std::clamp(share, 0.0F, 1.0F));
      }
      canvas[static_cast<std::size_t>(row * kSide + column)] = color;
    }
  }
}

void draw_shape(const Look& look, const Color& first, const Color& second, Random& random,
                Canvas& canvas) {
  const float middle = 0.5F * (kSide - 1);
  const float x0 = middle + random.uniform(-kShift, kShift);
  const float y0 = middle + random.uniform(-kShift, kShift);
  const float radius = random.uniform(kSmallest, kLargest);
  // The tangent of half an angle gives up to 90 degrees either way; the sign adds half a turn.
  const float t = random.uniform(-1.0F, 1.0F);
  const float sign = random.below(2) == 0 ? 1.0F : -1.0F;
  const float cosine = sign * (1 - t * t) / (1 + t * t);
  const float sine = sign * 2 * t / (1 + t * t);
  const float period = random.uniform(kFinest, kCoarsest);
  const float phase = random.uniform(0.0F, period);
  for (int row = 0; row < kSide; ++row) {
    for (int column = 0; column < kSide; ++column) {
      const float dx = static_cast<float>(column) - x0;
      const float dy = static_cast<float>(row) - y0;
      const float x = cosine * dx + sine * dy;
      const float y = cosine * dy - sine * dx;
      const float distance = radius * distance_to_shape(look.shape, x / radius, y / radius);
      const float share = std::clamp(0.5F - distance, 0.0F, 1.0F);
      if (share <= 0.0F) continue;
      const float shift = look.texture == 4 ? 0.0F : phase;
      const float mixed = texture_at(look.texture, x + shift, y + shift, period);
      Color& pixel = canvas[static_cast<std::size_t>(row * kSide + column)];
      pixel = blend(pixel, blend(first, second, mixed), share);
    }
  }
}

}  // namespace

void draw_picture(int label, int classes, Random& random, std::uint8_t* pixels) {
  const Look look = look_of(label, classes);
  const float hue = look.scheme < 0
                        ? random.uniform(0.0F, 1.0F)
                        : (look.scheme == 0 ? kWarm : kCold) + random.uniform(0.0F, kHues);
  const float saturation = random.uniform(0.65F, 1.0F);
  const float value = random.uniform(0.7F, 1.0F);
  const Color bright = color_of(hue, saturation, value);
  const float shift = random.uniform(-0.04F, 0.04F);
  const Color dark = color_of(hue + shift, saturation, 0.35F * value);
  const bool swapped = random.below(2) == 0;
  const Color& first = swapped ? dark : bright;
  const Color& second = swapped ? bright : dark;

  Canvas canvas;
  float base = random.uniform(0.1F, 0.95F);
  const float own = brightness(first);
  if (std::fabs(base - own) < kContrast) base = own > 0.5F ? own - kContrast : own + kContrast;
  draw_background(random, base, canvas);
  draw_shape(look, first, second, random, canvas);

  const float gain = 255.0F * random.uniform(0.75F, 1.0F);
  const float noise = random.uniform(2.0F, kNoise);
  for (std::size_t i = 0; i < canvas.size(); ++i) {
    const std::array<float, 3> channels = {canvas[i].red, canvas[i].green, canvas[i].blue};
    for (std::size_t channel = 0; channel < channels.size(); ++channel) {
      const float shade = gain * channels[channel] + noise * random.normal();
      pixels[channel * canvas.size() + i] =
          static_cast<std::uint8_t>(std::clamp(shade + 0.5F, 0.0F, 255.0F));
    }
  }
}

std::string picture_name(int label, int classes) {
  const Look look = look_of(label, classes);
  const std::string scheme = look.scheme < 0 ? "" : look.scheme == 0 ? "warm_" : "cold_";
  return scheme + std::string(kTextures[static_cast<std::size_t>(look.texture)]) + "_" +
         std::string(kPictureShapes[static_cast<std::size_t>(look.shape)]);
}

std::string coarse_picture_name(int label) {
  return (label % 2 == 0 ? "warm_" : "cold_") +
         std::string(kPictureShapes[static_cast<std::size_t>(label / 2)]);
}

}  // namespace hpcboot::data
