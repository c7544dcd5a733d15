#include "favorites_address.h"

#include <gtest/gtest.h>

namespace harmonica::providers {
namespace {

TEST(FavoritesAddress, WritingsOfOneAddressHaveOneNaturalForm) {
  for (const std::string_view written :
       {"http://a.b/", "http://a.b", "HTTP://A.b:80/", " http://A.B:/ \n", "http://a.b:80"}) {
    EXPECT_EQ(natural_address(written), "http://a.b/") << written;
  }
  EXPECT_EQ(natural_address("HTTPS://User:Pass@Host:443?Q=1#F"), "https://User:Pass@host/?Q=1#F");
  EXPECT_EQ(natural_address("ftp://FTP.example:21"), "ftp://ftp.example/");
  EXPECT_EQ(natural_address("http://[2001:DB8::1]:80/x"), "http://[2001:db8::1]/x");
  EXPECT_EQ(natural_address("http://[::80]"), "http://[::80]/");
}

TEST(FavoritesAddress, WhatMayBeAnotherAddressStaysAnother) {
  for (const std::string_view address :
       {"", "a", ":", "http://a.b/X", "http://a.b:8080/", "https://a.b:80/", "http://www.a.b/", "http://a.b/%7Ex",
        "http://a.b/x/", "http://a.b/x?", "javascript:alert('A')", "file:///C:/X", "chrome://Settings", "about:Blank",
        "http:a.b", "no scheme: A"}) {
    EXPECT_EQ(natural_address(address), address);
  }
  EXPECT_EQ(natural_address("JavaScript:A()"), "javascript:A()");
}

TEST(FavoritesAddress, TheNaturalFormIsItsOwnNaturalForm) {
  for (const std::string_view written :
       {"HTTP://A:80:80", "http://", "http://@", "http://:80", "ws://A?:80", "http:///x"}) {
    const std::string once = natural_address(written);
    EXPECT_EQ(natural_address(once), once) << written;
  }
}

}  // namespace
}  // namespace harmonica::providers
