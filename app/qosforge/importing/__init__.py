"""Import: running configurations as an intent and the inventory that it compiles on to the same plans."""

from qosforge.importing.importer import Imported, import_configurations
from qosforge.importing.reading import Configuration, read_configuration

__all__ = ["Configuration", "Imported", "import_configurations", "read_configuration"]
