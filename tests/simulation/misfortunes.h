// Everything that can go wrong in a run, as probabilities.
#pragma once

#include <array>
#include <string_view>

namespace harmonica::simulation {

// Chances in thousandths, each for the occasion that its comment names.
struct Misfortunes {
  int request_lost = 12;            // an exchange: the peer never sees the request
  int response_lost = 12;           // an exchange: the peer handled it, the answer is lost
  int request_duplicated = 60;      // an exchange: the request arrives twice
  int request_delayed = 60;         // an exchange: a copy of the request arrives again some time later
  int partition = 40;               // a step: a link goes down, or comes back
  int crash = 180;                  // a session or detection: the power of one of its devices fails within it
  int write_in_two = 200;           // a write into a store: the power can fail after half of the items
  int failures_begin = 60;          // a step: some items of a device cannot be written for a while
  int item_failing = 250;           // an item, while failures last
  int racing_edit = 60;             // a write into a store: the user changes something just before it
  int edit_after_enumeration = 30;  // an enumeration: the user changes something just after it
  int session_cancelled = 150;      // a session: cancelled after some batches
  int session_abandoned = 60;       // a session: the program that ran it forgets it
  int batch_repeated = 80;          // a batch: applied twice
  int clock_jump = 40;              // a step: the clock of a device is set anew
  int restore = 8;                  // a step: a device goes back to a backup
  int disk_full = 0;                // a step: a device has no space left, from one of its next writes on
  int wipe = 0;                     // a step: a device loses all it has, or its metadata alone
  int retirement = 0;               // a step: a device is said to have left for good

  static Misfortunes none();
};

struct NamedMisfortune {
  std::string_view name;
  int Misfortunes::*chance;
};

inline constexpr std::array<NamedMisfortune, 19> kMisfortunes = {{
    {"request-lost", &Misfortunes::request_lost},
    {"response-lost", &Misfortunes::response_lost},
    {"request-duplicated", &Misfortunes::request_duplicated},
    {"request-delayed", &Misfortunes::request_delayed},
    {"partition", &Misfortunes::partition},
    {"crash", &Misfortunes::crash},
    {"write-in-two", &Misfortunes::write_in_two},
    {"failures", &Misfortunes::failures_begin},
    {"item-failing", &Misfortunes::item_failing},
    {"racing-edit", &Misfortunes::racing_edit},
    {"edit-after-enumeration", &Misfortunes::edit_after_enumeration},
    {"session-cancelled", &Misfortunes::session_cancelled},
    {"session-abandoned", &Misfortunes::session_abandoned},
    {"batch-repeated", &Misfortunes::batch_repeated},
    {"clock-jump", &Misfortunes::clock_jump},
    {"restore", &Misfortunes::restore},
    {"disk-full", &Misfortunes::disk_full},
    {"wipe", &Misfortunes::wipe},
    {"retirement", &Misfortunes::retirement},
}};

inline Misfortunes Misfortunes::none() {
  Misfortunes calm;
  for (const NamedMisfortune& misfortune : kMisfortunes) calm.*misfortune.chance = 0;
  return calm;
}

}  // namespace harmonica::simulation
