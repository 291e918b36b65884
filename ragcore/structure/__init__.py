"""Structures over a library: trees and graphs of the published methods, each of which ends in passages."""
