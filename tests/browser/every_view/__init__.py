"""What holds for every view of the page."""
