"""Automatic preparation: profile each raw column, decide what it becomes, and apply the decisions as a recipe."""
