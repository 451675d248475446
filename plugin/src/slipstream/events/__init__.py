"""The append-only event log: model, redaction, writer, reader, fold."""
