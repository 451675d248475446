"""The live dashboard: a server on the loopback interface and the page it serves."""
