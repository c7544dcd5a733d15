// Chromium `Bookmarks` files made by hand.
#pragma once

#include <string>
#include <string_view>

namespace harmonica::providers {

// In the very form in which Chromium writes, with unknown members at every level. Its checksum was computed apart from the
// product, with Python's hashlib.
inline constexpr std::string_view kChromiumFixture = R"json({
   "checksum": "89d6f890cff3cb3e7a409a0d98971a49",
   "future_key": {
      "list": [ 1, [  ], {
         "deep": null
      }, "x" ],
      "nothing": {

      }
   },
   "roots": {
      "bookmark_bar": {
         "children": [ {
            "children": [ {
               "date_added": "13300000000000001",
               "date_last_used": "0",
               "guid": "11111111-1111-4111-8111-111111111111",
               "id": "5",
               "meta_info": {
                  "power_bookmark_meta": ""
               },
               "name": "Inner \u003Cb> \"quoted\"",
               "type": "url",
               "url": "https://inner.example/?a=1&b=2"
            }, {
               "date_added": "13300000000000002",
               "date_last_used": "13300000000000009",
               "future_key": "kept",
               "guid": "22222222-2222-4222-8222-222222222222",
               "id": "9",
               "name": "Größe 日本 😀",
               "type": "url",
               "url": "https://wide.example/"
            } ],
            "date_added": "13300000000000000",
            "date_last_used": "0",
            "date_modified": "13300000000000002",
            "guid": "33333333-3333-4333-8333-333333333333",
            "id": "4",
            "name": "Folder",
            "type": "folder"
         }, {
            "children": [  ],
            "date_added": "13300000000000003",
            "date_last_used": "0",
            "date_modified": "0",
            "guid": "44444444-4444-4444-8444-444444444444",
            "id": "6",
            "name": "Empty",
            "type": "folder"
         } ],
         "date_added": "13299999999999999",
         "date_last_used": "0",
         "date_modified": "13300000000000003",
         "guid": "0bc5d13f-2cba-5d74-951f-3f233fe6c908",
         "id": "1",
         "name": "Bookmarks bar",
         "type": "folder"
      },
      "other": {
         "children": [ {
            "date_added": "13300000000000004",
            "date_last_used": "0",
            "guid": "55555555-5555-4555-8555-555555555555",
            "id": "7",
            "name": "Other one",
            "type": "url",
            "url": "https://other.example/"
         } ],
         "date_added": "13299999999999999",
         "date_last_used": "0",
         "date_modified": "13300000000000004",
         "guid": "82b081ec-3dd3-529c-8475-ab6c344590dd",
         "id": "2",
         "name": "Other bookmarks",
         "type": "folder"
      },
      "synced": {
         "children": [  ],
         "date_added": "13299999999999999",
         "date_last_used": "0",
         "date_modified": "0",
         "guid": "4cf2e351-0e85-532b-bb37-df045d8f8d0f",
         "id": "3",
         "name": "Mobile bookmarks",
         "type": "folder"
      },
      "vendor": {
         "children": [  ],
         "name": "Trash"
      }
   },
   "version": 1
}
)json";
inline constexpr std::string_view kFixtureMd5 = "89d6f890cff3cb3e7a409a0d98971a49";
inline constexpr std::string_view kFixtureSha256 = "8c97f3a220dc2f322e2ecb079a212f720d05f048f8aee665fe4097a4ffbc05a2";
// The same after the title "Inner <b> "quoted"" became "Changed".
inline constexpr std::string_view kChangedMd5 = "1ccaac1cc3f85e3cb671ed824910dc09";
inline constexpr std::string_view kChangedSha256 = "054a668e7629e05e797b726cf8396e4e39e9ff1cb2659c8a87b9f5d3e94d1063";

// A small file with this JSON between the brackets of the toolbar's children.
inline std::string chromium_file(std::string_view toolbar_children) {
  return R"({"roots":{"bookmark_bar":{"children":[)" + std::string(toolbar_children) +
         R"(],"id":"1","name":"bar","type":"folder"},)"
         R"("other":{"children":[],"id":"2","name":"other","type":"folder"},)"
         R"("synced":{"children":[],"id":"3","name":"mobile","type":"folder"}},"version":1})";
}

// JSON of a bookmark whose guid ends in `guid_end`, a digit.
inline std::string chromium_bookmark(std::string_view id, char guid_end, std::string_view title,
                                     std::string_view url = "https://a.example/") {
  return R"({"date_added":"13300000000000000","guid":"aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaa)" + std::string(1, guid_end) +
         R"(","id":")" + std::string(id) + R"(","name":")" + std::string(title) + R"(","type":"url","url":")" +
         std::string(url) + R"("})";
}

inline std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  const std::size_t at = result.find(from);
  if (at != std::string::npos) result.replace(at, from.size(), to);
  return result;
}

}  // namespace harmonica::providers
