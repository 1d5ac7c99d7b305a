"""The models room: one gateway to every model, whatever speaks for it."""
