// Read before every file of adbd: what a host lacks of Android.
#pragma once
#ifdef __cplusplus
#include <atomic>
#include <fstream>
#include <optional>
#include <string>

// Owners and modes of system files; adbd asks for them on Android only, and names the function everywhere.
#define fs_config(...) static_cast<void>(0)

namespace paceline {
// Property KEY of the file that stands for Android's property service, or "". Read anew with each call: a
// property may change while the daemon runs.
inline std::string property(const std::string& key) {
  std::ifstream file("/system/build.prop");
  for (std::string line; std::getline(file, line);) {
    const auto equals = line.find('=');
    if (equals == key.size() && line.compare(0, equals, key) == 0) return line.substr(equals + 1);
  }
  return "";
}
}  // namespace paceline
#endif
