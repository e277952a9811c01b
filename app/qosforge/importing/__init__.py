"""Import: running configurations as an intent and the inventory that it compiles on to the same plans."""

from qosforge.importing.importer import ImportResult, import_configurations
from qosforge.importing.running_configuration import RunningConfiguration, read_configuration

__all__ = ["ImportResult", "RunningConfiguration", "import_configurations", "read_configuration"]
