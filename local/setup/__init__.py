"""What installs the project, and checks its packages."""
