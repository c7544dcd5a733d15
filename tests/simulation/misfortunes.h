// Everything that can go wrong in a run, as probabilities.
#pragma once

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
  int old_batch = 60;               // a batch: one of an earlier session is applied before it
  int clock_jump = 40;              // a step: the clock of a device is set anew
  int restore = 8;                  // a step: a device goes back to a backup (memory metadata only)

  static Misfortunes none() {
    Misfortunes calm;
    for (int* chance : {&calm.request_lost, &calm.response_lost, &calm.request_duplicated, &calm.request_delayed,
                        &calm.partition, &calm.crash, &calm.write_in_two, &calm.failures_begin, &calm.item_failing,
                        &calm.racing_edit, &calm.edit_after_enumeration, &calm.session_cancelled, &calm.session_abandoned,
                        &calm.batch_repeated, &calm.old_batch, &calm.clock_jump, &calm.restore}) {
      *chance = 0;
    }
    return calm;
  }
};

}  // namespace harmonica::simulation
