"""G_LOGGER: levels, letters, modes and where indentation is."""
from PREFIX.exception import PolygraphyException, PolygraphyInternalException
from PREFIX.logger import G_LOGGER, LogMode

G_LOGGER.colors = False
names = ("ultra_verbose", "super_verbose", "extra_verbose", "verbose", "info", "start", "finish",
         "warning", "error")
print([getattr(G_LOGGER, name.upper()) for name in (*names, "critical")])
for level in ("VERBOSE", "INFO", "START", "WARNING", "ERROR", "CRITICAL"):
    G_LOGGER.module_severity = getattr(G_LOGGER, level)
    print(level, G_LOGGER.module_severity.get())
    for name in ("verbose", "info", "start", "finish", "warning", "error"):
        getattr(G_LOGGER, name)(name)
G_LOGGER.module_severity = G_LOGGER.INFO
for _ in range(2):
    G_LOGGER.info("once", mode=LogMode.ONCE)
    G_LOGGER.info(lambda: "by a function", mode=LogMode.EACH)
with G_LOGGER.indent():
    G_LOGGER.info("below\nand below that")
    with G_LOGGER.indent(2):
        G_LOGGER.warning("far below")
with G_LOGGER.verbosity(G_LOGGER.ERROR):
    G_LOGGER.warning("not shown")
with G_LOGGER.verbosity():
    G_LOGGER.error("nor this")
G_LOGGER.warning("shown")
G_LOGGER.log("by number", G_LOGGER.WARNING)
G_LOGGER.letter = False
G_LOGGER.info("without a letter")
G_LOGGER.letter = True
for kind in (PolygraphyException, ValueError):
    try:
        G_LOGGER.critical("it ends", ExceptionType=kind) if kind is ValueError else (
            G_LOGGER.critical("it ends"))
    except kind as error:
        print(type(error) is kind or kind is PolygraphyException, str(error))
print(issubclass(PolygraphyInternalException, Exception), LogMode.ONCE == 1, LogMode.EACH == 0)
G_LOGGER.log_file = "log.txt"
G_LOGGER.info("to the file, too")
G_LOGGER.verbose("to neither")
print("to the file, too" in open("log.txt").read(), G_LOGGER.log_file)
