"""The version, in one place: read by the build, the package and the checkpoints."""

__version__ = "0.1.0"
