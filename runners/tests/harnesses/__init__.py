"""What tests of harnesses share: a stand-in tool, and outputs that the real tools printed in `captured`."""
