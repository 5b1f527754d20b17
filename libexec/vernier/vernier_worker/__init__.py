"""The Python worker of vernier."""
