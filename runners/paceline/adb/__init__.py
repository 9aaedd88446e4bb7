"""Android devices over ADB: transport, one port with two backends, and what a shell may be given."""
