// SPDX-License-Identifier: Apache-2.0
// Writes a flame graph: each frame is a box above its caller, as wide as its fraction of events.
#include <algorithm>
#include <cstdio>

#include "text/xml.h"
#include "tools/profile/flame_script.h"
#include "tools/profile/report.h"

namespace pmuconf::profile {
namespace {

constexpr int kRow = 16;      // height of a box and its gap
constexpr int kTop = 60;      // title and buttons
constexpr int kBottom = 30;   // details
constexpr double kLeft = 10;  // as in flame_script.h
constexpr double kWidth = 1180;
constexpr double kLeast = 0.0002;  // fraction of all events: less than a quarter of a pixel

// User frames have warm colours and kernel frames cool ones. A name always has the same shade.
std::string Colour(const Frame& frame, const std::string& label) {
  unsigned hash = 2166136261U;
  for (const char c : label) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  const unsigned shade = hash % 60;
  int red = 205, green = 120 + static_cast<int>(shade), blue = 60;
  if (frame.kind == FrameKind::kKernel) {
    red = 90 + static_cast<int>(shade), green = 150, blue = 210;
  } else if (frame.kind == FrameKind::kInlined) {
    red = 120, green = 170 + static_cast<int>(shade) / 2, blue = 110;
  } else if (frame.kind == FrameKind::kCommand) {
    red = green = blue = 170 + static_cast<int>(shade) / 2;
  }
  char text[32];
  std::snprintf(text, sizeof(text), "rgb(%d,%d,%d)", red, green, blue);
  return text;
}

// A node with the total of its subtree.
struct Box {
  Count total;
  std::vector<StackStore::NodeId> children;  // by label
  double begin = 0;                          // x position, as a fraction of all events
  unsigned depth = 0;
};

std::vector<Box> BoxesOf(const StackStore& stacks) {
  const auto& nodes = stacks.nodes();
  std::vector<Box> boxes(nodes.size());
  for (auto node = static_cast<StackStore::NodeId>(nodes.size()); node-- > 0;) {
    boxes[node].total += nodes[node].self;
    if (node == StackStore::kRoot) continue;
    boxes[nodes[node].parent].total += boxes[node].total;
    boxes[nodes[node].parent].children.push_back(node);
  }
  const double all = std::max<double>(1.0, static_cast<double>(stacks.Total().events));
  // Parents come before their children.
  for (StackStore::NodeId node = 0; node < nodes.size(); ++node) {
    auto& children = boxes[node].children;
    std::sort(children.begin(), children.end(), [&](auto a, auto b) {
      return stacks.label(nodes[a].frame) < stacks.label(nodes[b].frame);
    });
    double at = boxes[node].begin;
    for (const auto child : children) {
      boxes[child].begin = at;
      boxes[child].depth = boxes[node].depth + 1;
      at += static_cast<double>(boxes[child].total.events) / all;
    }
  }
  return boxes;
}

class Writer {
 public:
  Writer(const Report& report, std::ostream& out)
      : report_(report), out_(out), boxes_(BoxesOf(report.stacks)) {
    all_ = std::max<double>(1.0, static_cast<double>(report.stacks.Total().events));
    for (const Box& box : boxes_) {
      if (Share(box) >= kLeast) depth_ = std::max(depth_, box.depth);
    }
  }

  void Write() {
    const int height = kTop + static_cast<int>(depth_ + 1) * kRow + kBottom;
    out_ << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         << "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"1200\" height=\""
         << height << "\" viewBox=\"0 0 1200 " << height << "\">\n"
         << "<style>text{font:12px monospace;pointer-events:none}g.f{cursor:pointer}"
            "g.f:hover rect{stroke:#000}g.hit rect{fill:#e040e0}"
            ".button{pointer-events:all;cursor:pointer;text-decoration:underline}</style>\n"
         << "<rect width=\"1200\" height=\"" << height << "\" fill=\"#fafafa\"/>\n"
         << "<text x=\"10\" y=\"20\">" << XmlEscape(Summary(report_.facts, report_.stacks.Total()))
         << "</text>\n"
         << "<text id=\"reset\" class=\"button\" x=\"10\" y=\"42\">reset</text>\n"
         << "<text id=\"search\" class=\"button\" x=\"70\" y=\"42\">search</text>\n"
         << "<text id=\"matched\" x=\"140\" y=\"42\"></text>\n"
         << "<text id=\"details\" x=\"10\" y=\"" << height - 10 << "\"></text>\n";
    for (StackStore::NodeId node = 0; node < boxes_.size(); ++node) {
      if (Share(boxes_[node]) >= kLeast) WriteBox(node, height);
    }
    out_ << "<script><![CDATA[" << kFlameScript << "]]></script>\n</svg>\n";
  }

 private:
  double Share(const Box& box) const { return static_cast<double>(box.total.events) / all_; }

  void WriteBox(StackStore::NodeId node, int height) {
    const Box& box = boxes_[node];
    const bool root = node == StackStore::kRoot;
    const FrameId id = report_.stacks.nodes()[node].frame;
    const std::string label = XmlEscape(root ? "all" : report_.stacks.label(id));
    const std::string module = root ? "" : XmlEscape(report_.stacks.frame(id).module);
    const double share = Share(box);
    const int y = height - kBottom - static_cast<int>(box.depth + 1) * kRow;
    char text[256];
    std::snprintf(text, sizeof(text), " data-x=\"%.7f\" data-w=\"%.7f\" data-d=\"%u\">", box.begin,
                  share, box.depth);
    out_ << "<g class=\"f\" data-name=\"" << label << '"' << text << "<title>" << label;
    if (!module.empty()) out_ << " (" << module << ')';
    std::snprintf(text, sizeof(text), ": %llu samples, %.2f%%</title>",
                  static_cast<unsigned long long>(box.total.samples), 100 * share);
    out_ << text;
    std::snprintf(text, sizeof(text),
                  "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\" rx=\"1\" fill=\"%s\"/>",
                  kLeft + box.begin * kWidth, y, share * kWidth, kRow - 1,
                  root ? "rgb(190,190,190)" : Colour(report_.stacks.frame(id), label).c_str());
    out_ << text;
    std::snprintf(text, sizeof(text), "<text x=\"%.2f\" y=\"%d\"></text></g>\n",
                  kLeft + box.begin * kWidth + 3, y + 12);
    out_ << text;
  }

  const Report& report_;
  std::ostream& out_;
  std::vector<Box> boxes_;
  double all_ = 1;
  unsigned depth_ = 0;
};

}  // namespace

void WriteSvg(const Report& report, std::ostream& out) { Writer(report, out).Write(); }

}  // namespace pmuconf::profile
