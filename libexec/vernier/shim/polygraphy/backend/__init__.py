"""Loaders and bases of runners. Runners themselves are vernier's Python package's."""
