"""The core suite: needs Python only. SLIPSTREAM_TEST_PYZ=1 runs it against the built pyz instead of the source."""
import os
import sys
import warnings

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PYZ = os.path.join(ROOT, "plugin", "slipstream.pyz")
SOURCE = os.path.join(ROOT, "plugin", "src")
LAUNCHER = os.path.join(ROOT, "slipstream.py")

# What a test starts as a process: the pyz or the launcher of the checkout. First on the path: the package, not the launcher.
PROGRAM = PYZ if os.environ.get("SLIPSTREAM_TEST_PYZ") == "1" else LAUNCHER
LIBRARY = PYZ if PROGRAM == PYZ else SOURCE
sys.path.insert(0, LIBRARY)
sys.modules.pop("slipstream", None)
warnings.simplefilter("error")
