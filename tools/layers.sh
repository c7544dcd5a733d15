#!/usr/bin/env bash
# Draws docs/layers.svg, who may include whom, from tests/tidy/include_table.txt; with --check only says whether it is current.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

draw() {
  awk '
    # A box: its label, the middle of its top edge and its width.
    function place(name, label, x, y, width) { names[++count] = name; labels[name] = label; xs[name] = x; ys[name] = y; widths[name] = width }
    # The folders of the table that are one box in the picture.
    function box_of(folder) {
      if (folder ~ /^(cli|bench|examples|bindings)/) return "apps"
      if (folder ~ /^providers/) return "providers"
      if (folder ~ /^transports/) return "transports"
      if (folder ~ /^platform/) return "platform"
      if (folder ~ /^core\/include/) return "core"
      if (folder ~ /^core\/src\//) return substr(folder, 10)
      return ""
    }
    # From the border of one box to the border of the other.
    function arrow(from, to,    x1, y1, x2, y2) {
      x1 = xs[from]; x2 = xs[to]
      if (ys[from] < ys[to]) { y1 = ys[from] + 34; y2 = ys[to] - 3 }
      if (ys[from] > ys[to]) { y1 = ys[from]; y2 = ys[to] + 37 }
      if (ys[from] == ys[to]) {
        y1 = y2 = ys[from] + 17
        x1 += (x1 < x2 ? 1 : -1) * widths[from] / 2
        x2 -= (x1 < x2 ? 1 : -1) * (widths[to] / 2 + 3)
      } else if (widths[to] > 400) { x2 = x1 } else if (widths[from] > 400) { x1 = x2 }
      printf "  <path d=\"M%d %d L%d %d\" marker-end=\"url(#tip)\"/>\n", x1, y1, x2, y2
    }
    BEGIN {
      place("apps", "cli, examples, bindings, bench", 320, 20, 560)
      place("providers", "providers/*", 150, 110, 150)
      place("transports", "transports/*", 490, 110, 150)
      place("platform", "platform", 320, 200, 120)
      place("core", "core/include: public headers", 320, 290, 560)
      place("model", "core/src/model", 110, 380, 120)
      place("kernel", "core/src/kernel", 250, 440, 120)
      place("wire", "core/src/wire", 390, 380, 120)
      place("remote", "core/src/remote", 530, 440, 120)
    }
    /^#/ || !/:/ { next }
    {
      from = box_of(substr($1, 1, length($1) - 1))
      if (from == "") next
      for (i = 2; i <= NF; ++i) {
        to = box_of($i)
        if (to != "" && to != from) edges[from, to] = 1
      }
    }
    END {
      print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 500\" font-family=\"sans-serif\" font-size=\"14\">"
      print "  <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 z\" fill=\"#667\"/></marker></defs>"
      print "  <rect width=\"640\" height=\"500\" fill=\"#fff\"/>"
      print "  <g stroke=\"#667\" fill=\"none\">"
      for (i = 1; i <= count; ++i) for (j = 1; j <= count; ++j) if ((names[i], names[j]) in edges) arrow(names[i], names[j])
      print "  </g>"
      for (i = 1; i <= count; ++i) {
        name = names[i]
        printf "  <rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"34\" rx=\"4\" fill=\"%s\" stroke=\"#445\"/>\n", xs[name] - widths[name] / 2, ys[name], widths[name], (name == "core" ? "#dbe9ff" : "#f4f6f8")
        printf "  <text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"#223\">%s</text>\n", xs[name], ys[name] + 22, labels[name]
      }
      print "</svg>"
    }' tests/tidy/include_table.txt
}

case "${1:-}" in
  "") draw >docs/layers.svg ;;
  --check) draw | cmp - docs/layers.svg || { echo "docs/layers.svg is not what tools/layers.sh draws" >&2; exit 1; } ;;
  *) echo "usage: tools/layers.sh [--check]" >&2; exit 2 ;;
esac
