"""Text for the C library, which ends a text at its first NUL."""
import os

from .exceptions import ArgumentError


def as_bytes(text, what):
    """UTF-8, or an error that names what cannot be told to the library."""
    try:
        content = str(text).encode()
    except UnicodeEncodeError:
        raise ArgumentError(f"{what} {text!r} is not valid Unicode text: it has a surrogate that "
                            "stands alone") from None
    if b"\0" in content:
        raise ArgumentError(f"{what} {text!r} has a NUL character, where it would be cut")
    return content


def path_as_bytes(path):
    """A path in the file system's encoding."""
    content = os.fsencode(path)
    if b"\0" in content:
        raise ArgumentError(f"path {path!r} has a NUL character, where it would be cut")
    return content
