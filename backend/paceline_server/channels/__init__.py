"""Notifies people of a project by webhook, chat or e-mail. It knows no alert; other features publish notices here."""
