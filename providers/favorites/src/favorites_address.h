// When two addresses are the same one.
#pragma once

#include <string>
#include <string_view>

namespace harmonica::providers {

// The form in which addresses that every browser takes for one are equal: blanks around it gone, the scheme in lower case;
// for http, https, ws, wss and ftp also the host in lower case (ASCII only), the port gone if it is the usual one or empty,
// and "/" for an empty path. It enters the ids of items, so it must never change.
std::string natural_address(std::string_view address);

}  // namespace harmonica::providers
