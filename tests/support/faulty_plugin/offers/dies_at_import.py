import os
import sys

sys.stderr.write("no way on\n")
os._exit(7)
