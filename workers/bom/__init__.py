"""Reading, sealing and verifying a bill of materials. A BOM that does not verify never judges."""

from workers.bom.files import read_files
from workers.bom.load import load_bom
from workers.bom.manifest import CERTIFIED, MANIFEST, manifest_of, seal

__all__ = ["CERTIFIED", "MANIFEST", "load_bom", "manifest_of", "read_files", "seal"]
