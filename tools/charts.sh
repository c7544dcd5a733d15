#!/usr/bin/env bash
# Draws docs/charts/NAME.svg from docs/charts/NAME.tsv; with --check only says whether they are current.
#
# A table begins with lines "# title: ...", "# x: ...", "# y: ..." and "# kind: lines" (both axes logarithmic; the first column
# is x, each other one a line; x = 0 stands at the left edge) or "# kind: bars" (a label and a number a row).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

draw() {
  awk -F '\t' '
    function log10(value) { return log(value) / log(10) }
    function number(value) { return value >= 1e6 ? value / 1e6 "M" : value >= 1e3 ? value / 1e3 "k" : value "" }
    function across(value) { return left + (value > 0 ? log10(value) - low_x : 0) / (high_x - low_x) * (right - left) }
    function up(value) { return bottom - (log10(value) - low_y) / (high_y - low_y) * (bottom - top) }
    function floor(value,    whole) { whole = int(value); return whole > value ? whole - 1 : whole }
    function ceiling(value) { return -floor(-value) }
    function text(x, y, anchor, what, more) {
      printf "  <text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>%s</text>\n", x, y, anchor, more, what
    }
    /^# / { split(substr($0, 3), parts, ": "); about[parts[1]] = substr($0, length(parts[1]) + 5); next }
    about["kind"] == "lines" && columns == 0 { columns = NF; for (i = 1; i <= NF; ++i) names[i] = $i; next }
    { ++rows; for (i = 1; i <= NF; ++i) cells[rows, i] = $i }
    function lines(    row, column, value, x, y, points, power, colours, dashes) {
      left = 70; right = 460; top = 50; bottom = 330
      low_x = low_y = 99; high_x = high_y = -99
      for (row = 1; row <= rows; ++row) {
        if (cells[row, 1] > 0) {
          value = log10(cells[row, 1])
          if (floor(value) < low_x) low_x = floor(value)
          if (ceiling(value) > high_x) high_x = ceiling(value)
        } else has_zero = 1
        for (column = 2; column <= columns; ++column) {
          value = log10(cells[row, column])
          if (floor(value) < low_y) low_y = floor(value)
          if (ceiling(value) > high_y) high_y = ceiling(value)
        }
      }
      if (has_zero) --low_x
      for (power = low_x; power <= high_x; ++power) {
        x = left + (power - low_x) / (high_x - low_x) * (right - left)
        printf "  <path d=\"M%.1f %d V%d\" stroke=\"#dde\"/>\n", x, top, bottom
        text(x, bottom + 18, "middle", has_zero && power == low_x ? "0" : number(10 ^ power), "")
      }
      for (power = low_y; power <= high_y; ++power) {
        printf "  <path d=\"M%d %.1f H%d\" stroke=\"#dde\"/>\n", left, up(10 ^ power), right
        text(left - 8, up(10 ^ power) + 4, "end", number(10 ^ power), "")
      }
      split("#2457c5 #c2571a #2457c5 #c2571a #667", colours, " ")
      for (column = 2; column <= columns; ++column) {
        points = ""
        dashes = column > 3 ? " stroke-dasharray=\"6 4\"" : ""
        for (row = 1; row <= rows; ++row) points = points sprintf("%.1f,%.1f ", across(cells[row, 1]), up(cells[row, column]))
        printf "  <polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s/>\n", points, colours[column - 1], dashes
        y = top + 14 + 20 * (column - 2)
        printf "  <path d=\"M%d %.1f h24\" stroke=\"%s\" stroke-width=\"2\"%s/>\n", right + 16, y, colours[column - 1], dashes
        text(right + 46, y + 4, "start", names[column], "")
      }
      text((left + right) / 2, bottom + 40, "middle", about["x"], "")
      text(left, top - 10, "start", about["y"], "")
    }
    function bars(    row, most, y, width) {
      for (row = 1; row <= rows; ++row) if (cells[row, 2] + 0 > most) most = cells[row, 2] + 0
      for (row = 1; row <= rows; ++row) {
        y = 60 + 34 * (row - 1)
        width = cells[row, 2] / most * 360
        printf "  <rect x=\"220\" y=\"%d\" width=\"%.1f\" height=\"22\" fill=\"%s\"/>\n", y, width, cells[row, 1] ~ /Harmonica/ ? "#2457c5" : "#9ab"
        text(212, y + 16, "end", cells[row, 1], "")
        text(226 + width, y + 16, "start", number(cells[row, 2]), "")
      }
      text(220, 44, "start", about["y"], "")
    }
    END {
      height = about["kind"] == "bars" ? 70 + 34 * rows : 390
      printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 680 %d\" font-family=\"sans-serif\" font-size=\"13\" fill=\"#223\">\n", height
      printf "  <rect width=\"680\" height=\"%d\" fill=\"#fff\"/>\n", height
      text(20, 22, "start", about["title"], " font-size=\"15\" font-weight=\"bold\"")
      if (about["kind"] == "bars") bars(); else lines()
      print "</svg>"
    }' "$1"
}

case "${1:-}" in
  "") for table in docs/charts/*.tsv; do draw "$table" >"${table%.tsv}.svg"; done ;;
  --check)
    for table in docs/charts/*.tsv; do
      draw "$table" | cmp - "${table%.tsv}.svg" || { echo "${table%.tsv}.svg is not what tools/charts.sh draws" >&2; exit 1; }
    done
    ;;
  *) echo "usage: tools/charts.sh [--check]" >&2; exit 2 ;;
esac
