"""Durable llama-index workflows in notebooks: run, and run again."""
