"""The project map: languages, scan, index, render, slice, search, graph, mind map."""
