"""Android devices over ADB: one port with two backends, and quoting for the device's shell."""
