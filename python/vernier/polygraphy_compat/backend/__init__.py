"""Frameworks, at Polygraphy's places."""
