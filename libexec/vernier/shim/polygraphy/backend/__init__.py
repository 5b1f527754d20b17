"""What templates of scripts use of Polygraphy's backends."""
