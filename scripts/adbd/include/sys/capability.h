// adbd includes libcap's header everywhere and calls libcap on Android only.
