"""Builds the wheel, also an editable one, and the source archive (PEP 517, 660) with the standard library alone.

A wheel of pure Python is a zip file with three text files beside the package. Setuptools is not part of Python, and without a
network it cannot be fetched; this is shorter than explaining how to get it. The same sources give the same bytes.
"""

import base64
import gzip
import hashlib
import io
import re
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Zip files know no time before it.
TIME = (1980, 1, 1, 0, 0, 0)
NOT_PACKED = re.compile(r"(^|/)(__pycache__|\.mypy_cache|dist)(/|$)|\.pyc$")


def _project():
    """The few fields that are needed; tomllib came with Python 3.11, and this must build on 3.10."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")

    def field(name):
        return re.search(rf'^{name} = "(.*)"$', text, re.MULTILINE).group(1)

    return {
        "name": field("name"),
        "version": field("version"),
        "description": field("description"),
        "requires-python": field("requires-python"),
        "keywords": re.findall(r'"([^"]+)"', re.search(r"^keywords = \[(.*)\]$", text, re.MULTILINE).group(1)),
        "classifiers": re.findall(r'^  "(.*)",$', text, re.MULTILINE),
    }


def _stem():
    project = _project()
    return f"{project['name'].replace('-', '_')}-{project['version']}"


def _metadata():
    project = _project()
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        "License: Apache-2.0",
        f"Keywords: {','.join(project['keywords'])}",
        *(f"Classifier: {one}" for one in project["classifiers"]),
        f"Requires-Python: {project['requires-python']}",
        "Description-Content-Type: text/markdown",
        "",
        (ROOT / "README.md").read_text("utf-8"),
    ]
    return "\n".join(lines)


def _package_files():
    source = ROOT / "src"
    for path in sorted(source.rglob("*")):
        name = path.relative_to(source).as_posix()
        if path.is_file() and not NOT_PACKED.search(name):
            yield name, path.read_bytes()


def _info_files():
    info = f"{_stem()}.dist-info"
    yield f"{info}/METADATA", _metadata().encode("utf-8")
    yield f"{info}/WHEEL", b"Wheel-Version: 1.0\nGenerator: payments-api\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    yield f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes()


def _build(wheel_directory, package_files):
    name = f"{_stem()}-py3-none-any.whl"
    record_name = f"{_stem()}.dist-info/RECORD"
    record = []
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content in [*package_files, *_info_files()]:
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode("ascii")
            record.append(f"{path},sha256={digest},{len(content)}")
            _add(wheel, path, content)
        _add(wheel, record_name, "\n".join([*record, f"{record_name},,", ""]).encode("utf-8"))
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _build(wheel_directory, _package_files())


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """For `pip install -e`: Python is led to the sources instead of to a copy of them."""
    return _build(wheel_directory, [("payments_api.pth", f"{ROOT / 'src'}\n".encode("utf-8"))])


def _add(wheel, path, content):
    entry = zipfile.ZipInfo(path, TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    wheel.writestr(entry, content)


def build_sdist(sdist_directory, config_settings=None):
    stem = _stem()
    name = f"{stem}.tar.gz"
    packed = ["pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE"]
    for folder in ("src", "build_backend"):
        packed += sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*") if path.is_file())
    with open(Path(sdist_directory) / name, "wb") as file:
        with gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as zipped:
            with tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as archive:
                for path in packed:
                    if not NOT_PACKED.search(path):
                        _pack(archive, f"{stem}/{path}", (ROOT / path).read_bytes())
                _pack(archive, f"{stem}/PKG-INFO", _metadata().encode("utf-8"))
    return name


def _pack(archive, path, content):
    entry = tarfile.TarInfo(path)
    entry.size = len(content)
    entry.mode = 0o644
    archive.addfile(entry, io.BytesIO(content))


def get_requires_for_build_wheel(config_settings=None):
    return []


def get_requires_for_build_sdist(config_settings=None):
    return []


def get_requires_for_build_editable(config_settings=None):
    return []
