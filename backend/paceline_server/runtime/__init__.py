"""What starts and keeps running: serving, broker, sweeper, the embedded shape."""
