// Favorites files as a browser would save them, and what stands in them: written and read without the codecs of the
// provider, so that the two can be compared.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace harmonica::testing {

// A bookmark or folder of a file.
struct Entry {
  std::string name;  // of the notation; entries that were read from a file have none
  std::string title;
  std::string url;  // bookmarks only
  bool is_folder = false;
  std::int64_t id = 0;       // Chromium only; 0: none yet
  std::int64_t added_s = 0;  // since 1970-01-01 UTC; 0: some day in 2022
  std::string key;           // Chromium's guid, HTML's HARMONICA_ID
  std::vector<Entry> children;
};

struct Tree {
  std::map<std::string, std::vector<Entry>> roots;  // toolbar, menu, other, mobile; those with entries
  std::string damage;                               // what is wrong with the file that was read; empty: nothing
};

// What an entry's name stands for where the notation does not say it.
using KnownEntries = std::map<std::string, Entry>;

// Reads the notation of the acceptance cases: "toolbar(A(b c) d\"title\"<url>) other(e)". A name with "(...)" is a folder;
// a bookmark without a title has its name as title and https://NAME.example/ as address, <url> stands for
// https://url.example/ (or for itself, with a ':' in it). The marks "*", "@5" and "~x" of the cases are read over; the
// roots may be called bar, root and unfiled. `known` says what a name without title and url stands for.
Tree parse_tree(std::string_view text, const KnownEntries& known = {});

enum class Siblings { kInOrder, kAsSet };

// In the same notation: titles for names, addresses where they do not follow from the title.
std::string to_text(const Tree& tree, Siblings siblings = Siblings::kInOrder);

// Every title, as often as it occurs.
std::multiset<std::string> titles_of(const Tree& tree);

std::size_t size_of(const Tree& tree);

// The text of a Chromium `Bookmarks` file. Entries without an id get the next one, those without a guid one from their id.
// `other_roots`: members beside the three roots, as JSON text, each with a comma behind it.
std::string chromium_file(const Tree& tree, const std::string& other_roots = {});

// The text of a bookmark HTML file. An entry that is named like a root stands for that root, wherever it is.
std::string html_file(const Tree& tree);

// What stands in a file of either format. Ids and keys that are there twice, or not at all, are damage.
Tree read_chromium_file(const std::string& text);
Tree read_html_file(const std::string& text);

// The key of an entry that was given its id by Harmonica, and the guid of one that has it from Chromium.
std::string harmonica_key(std::string_view name);
std::string chromium_key(std::string_view name);

// What Chromium would compute for the file: MD5 over ids, titles and addresses.
std::string chromium_checksum(const std::string& text);
// The bytes that it is computed over.
std::string chromium_checksum_input(const std::string& text);

}  // namespace harmonica::testing
