#include "datasets/digit_renderer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "datasets/glyphs.hpp"

namespace hpcboot::data {
namespace {

// How far digits deviate from their glyph. Tuned by eye: a person can still read nearly all of
// them, a linear classifier cannot.
constexpr float kWarp = 0.05F;       // standard deviation, as a part of the glyph's height
constexpr float kHalfTurn = 0.12F;   // tangent of half the angle: up to 14 degrees either way
constexpr float kNarrowest = 0.75F;  // width relative to the glyph's
constexpr float kWidest = 1.3F;
constexpr float kBackSlant = -0.25F;  // shift of the top relative to the bottom, in heights
constexpr float kForwardSlant = 0.5F;
constexpr float kSmallest = 16.5F;  // the longer side including ink, pixels; 20 in MNIST
constexpr float kLargest = 20.5F;
constexpr float kShift = 1.5F;     // of the centre, pixels
constexpr float kThinnest = 1.6F;  // pen, pixels
constexpr float kThickest = 4.0F;
constexpr float kPressure = 0.35F;  // change of the pen's width from end to end of a stroke
constexpr float kPalest = 0.85F;    // ink relative to full white
constexpr float kNoise = 16.0F;     // standard deviation in the noisiest image, of 255
constexpr int kSteps = 5;           // straight pieces between two points of a curve

/// Displaces points smoothly, so that strokes that meet still meet.
class Warp {
 public:
  explicit Warp(Random& random) {
    for (Point& shift : grid_) shift = {kWarp * random.normal(), kWarp * random.normal()};
  }

  Point operator()(Point p) const {
    const float u = std::clamp(p.x / 0.7F, 0.0F, 1.0F) * (kCells - 1);
    const float v = std::clamp(p.y, 0.0F, 1.0F) * (kCells - 1);
    const int column = std::min(static_cast<int>(u), kCells - 2);
    const int row = std::min(static_cast<int>(v), kCells - 2);
    const Point top = blend(at(row, column), at(row, column + 1), u - static_cast<float>(column));
    const Point bottom =
        blend(at(row + 1, column), at(row + 1, column + 1), u - static_cast<float>(column));
    const Point shift = blend(top, bottom, v - static_cast<float>(row));
    return {p.x + shift.x, p.y + shift.y};
  }

 private:
  static constexpr int kCells = 4;
  static Point blend(Point a, Point b, float t) {
    return {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t};
  }
  Point at(int row, int column) const {
    return grid_[static_cast<std::size_t>(row * kCells + column)];
  }
  std::array<Point, kCells * kCells> grid_{};
};

/// Width, slant and rotation about the middle of the glyph.
class Affine {
 public:
  explicit Affine(Random& random)
      : width_(random.uniform(kNarrowest, kWidest)),
        slant_(random.uniform(kBackSlant, kForwardSlant)) {
    const float t = random.uniform(-kHalfTurn, kHalfTurn);
    cos_ = (1 - t * t) / (1 + t * t);
    sin_ = 2 * t / (1 + t * t);
  }

  Point operator()(Point p) const {
    const float y = p.y - 0.5F;
    const float x = (p.x - 0.35F) * width_ - slant_ * y;
    return {cos_ * x - sin_ * y, sin_ * x + cos_ * y};
  }

 private:
  float width_;
  float slant_;
  float cos_;
  float sin_;
};

/// The stroke as straight pieces: a Catmull-Rom curve through its points.
Stroke flatten(const Stroke& stroke) {
  if (stroke.size() == 2) return stroke;
  Stroke line;
  for (std::size_t i = 0; i + 1 < stroke.size(); ++i) {
    const Point a = stroke[i == 0 ? 0 : i - 1];
    const Point b = stroke[i];
    const Point c = stroke[i + 1];
    const Point d = stroke[std::min(i + 2, stroke.size() - 1)];
    for (int step = 0; step < kSteps; ++step) {
      const float t = static_cast<float>(step) / kSteps;
      const auto along = [t](float p, float q, float r, float s) {
        return q + 0.5F * t * (r - p + t * (2 * p - 5 * q + 4 * r - s + t * (3 * (q - r) + s - p)));
      };
      line.push_back({along(a.x, b.x, c.x, d.x), along(a.y, b.y, c.y, d.y)});
    }
  }
  line.push_back(stroke.back());
  return line;
}

/// The share of each pixel that ink covers, 0 to 1.
class Canvas {
 public:
  /// A round pen from a to b. Pixel (i, j) has its centre at x = i, y = j.
  void draw(Point a, Point b, float radius) {
    const float reach = radius + 0.5F;
    const Point d = {b.x - a.x, b.y - a.y};
    const float squared = std::max(d.x * d.x + d.y * d.y, 1e-12F);
    const int left = clip(std::min(a.x, b.x) - reach);
    const int right = clip(std::max(a.x, b.x) + reach + 1);
    const int top = clip(std::min(a.y, b.y) - reach);
    const int bottom = clip(std::max(a.y, b.y) + reach + 1);
    for (int y = top; y < bottom; ++y) {
      for (int x = left; x < right; ++x) {
        const Point p = {static_cast<float>(x) - a.x, static_cast<float>(y) - a.y};
        const float t = std::clamp((p.x * d.x + p.y * d.y) / squared, 0.0F, 1.0F);
        const Point off = {p.x - t * d.x, p.y - t * d.y};
        const float distance = std::sqrt(off.x * off.x + off.y * off.y);
        float& share = ink_[static_cast<std::size_t>(y * kDigitSide + x)];
        share = std::max(share, std::clamp(reach - distance, 0.0F, 1.0F));
      }
    }
  }

  const auto& ink() const { return ink_; }

 private:
  static int clip(float x) {
    return static_cast<int>(std::clamp(x, 0.0F, static_cast<float>(kDigitSide)));
  }
  std::array<float, kDigitSide * kDigitSide> ink_{};
};

}  // namespace

void draw_digit(int digit, Random& random, std::uint8_t* pixels) {
  const auto& styles = glyphs_of(digit);
  const Glyph& glyph = styles[static_cast<std::size_t>(random.below(styles.size()))];
  const Warp warp(random);
  const Affine affine(random);
  std::vector<Stroke> strokes;
  Point low = {1e9F, 1e9F};
  Point high = {-1e9F, -1e9F};
  for (const Stroke& stroke : glyph) {
    Stroke bent;
    for (const Point point : stroke) bent.push_back(affine(warp(point)));
    strokes.push_back(flatten(bent));
    for (const Point p : strokes.back()) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
  }

  const float pen = random.uniform(kThinnest, kThickest);
  const float side = random.uniform(kSmallest, kLargest) - pen;
  const float scale = side / std::max(high.x - low.x, high.y - low.y);
  const float middle = 0.5F * (kDigitSide - 1);
  const Point shift = {middle + random.uniform(-kShift, kShift) - scale * 0.5F * (low.x + high.x),
                       middle + random.uniform(-kShift, kShift) - scale * 0.5F * (low.y + high.y)};
  const auto place = [&](Point p) { return Point{scale * p.x + shift.x, scale * p.y + shift.y}; };
  Canvas canvas;
  for (const Stroke& stroke : strokes) {
    const float pressure = random.uniform(-kPressure, kPressure);
    const auto pieces = static_cast<float>(stroke.size());
    for (std::size_t i = 0; i + 1 < stroke.size(); ++i) {
      const float along = (static_cast<float>(i) + 1) / pieces - 0.5F;
      canvas.draw(place(stroke[i]), place(stroke[i + 1]), 0.5F * pen * (1 + pressure * along));
    }
  }

  const float ink = 255.0F * random.uniform(kPalest, 1.0F);
  const float noise = random.uniform(0.0F, kNoise);
  for (std::size_t i = 0; i < canvas.ink().size(); ++i) {
    const float value = ink * canvas.ink()[i] + noise * random.normal();
    pixels[i] = static_cast<std::uint8_t>(std::clamp(value + 0.5F, 0.0F, 255.0F));
  }
}

}  // namespace hpcboot::data
