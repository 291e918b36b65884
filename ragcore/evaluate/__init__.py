"""Evaluation of answers on sets of questions."""
