// Files of byte vectors. Each vector is a name in brackets, a line with the kind of message and the status that reading it
// gives, and its bytes in hexadecimal, ended by an empty line; lines that begin with '#' are for people.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "harmonica/bytes.h"

namespace harmonica {

struct ByteVector {
  std::string name;
  std::string kind;
  std::string status;
  Bytes bytes;
};

inline int hex_digit(char c) {
  const std::string_view digits = "0123456789abcdef";
  const std::size_t place = digits.find(c);
  EXPECT_NE(place, std::string_view::npos) << "not a hexadecimal digit: " << c;
  return place == std::string_view::npos ? 0 : static_cast<int>(place);
}

inline std::vector<ByteVector> read_vector_file(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  std::vector<ByteVector> vectors;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    if (line.front() == '[') {
      vectors.push_back({line.substr(1, line.size() - 2), {}, {}, {}});
    } else if (vectors.back().kind.empty()) {
      std::istringstream(line) >> vectors.back().kind >> vectors.back().status;
    } else {
      for (std::size_t i = 0; i + 1 < line.size(); i += 2) {
        vectors.back().bytes.push_back(static_cast<std::uint8_t>(hex_digit(line[i]) * 16 + hex_digit(line[i + 1])));
      }
    }
  }
  return vectors;
}

}  // namespace harmonica
