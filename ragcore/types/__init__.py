"""Data types that stages exchange: frozen dataclasses, and the word map from characters to boxes.

`ragcore.types.document` states their invariant. Types of reports, libraries and questions are in their own modules.
"""

from __future__ import annotations

from ragcore.types.answer import AS_TYPED as AS_TYPED
from ragcore.types.answer import Answer as Answer
from ragcore.types.answer import AnswerEvent as AnswerEvent
from ragcore.types.answer import Checked as Checked
from ragcore.types.answer import Citation as Citation
from ragcore.types.answer import Cited as Cited
from ragcore.types.answer import Claim as Claim
from ragcore.types.answer import ClaimStatus as ClaimStatus
from ragcore.types.answer import Done as Done
from ragcore.types.answer import Dropped as Dropped
from ragcore.types.answer import Found as Found
from ragcore.types.answer import Mark as Mark
from ragcore.types.answer import Partly as Partly
from ragcore.types.answer import Source as Source
from ragcore.types.answer import Text as Text
from ragcore.types.answer import Turn as Turn
from ragcore.types.answer import Unit as Unit
from ragcore.types.document import GENERATED_MARKS as GENERATED_MARKS
from ragcore.types.document import Cell as Cell
from ragcore.types.document import Chunk as Chunk
from ragcore.types.document import ChunkKind as ChunkKind
from ragcore.types.document import Document as Document
from ragcore.types.document import Element as Element
from ragcore.types.document import ElementKind as ElementKind
from ragcore.types.document import FiscalYear as FiscalYear
from ragcore.types.document import ModelReport as ModelReport
from ragcore.types.document import Page as Page
from ragcore.types.document import Table as Table
from ragcore.types.geometry import Box as Box
from ragcore.types.geometry import WordMap as WordMap
from ragcore.types.retrieval import EVERYTHING as EVERYTHING
from ragcore.types.retrieval import Each as Each
from ragcore.types.retrieval import Entry as Entry
from ragcore.types.retrieval import Fit as Fit
from ragcore.types.retrieval import Hit as Hit
from ragcore.types.retrieval import NamePath as NamePath
from ragcore.types.retrieval import OnStep as OnStep
from ragcore.types.retrieval import Overview as Overview
from ragcore.types.retrieval import PathStep as PathStep
from ragcore.types.retrieval import Retrieval as Retrieval
from ragcore.types.retrieval import Route as Route
from ragcore.types.retrieval import Scope as Scope
from ragcore.types.retrieval import Section as Section
from ragcore.types.retrieval import Seeds as Seeds
from ragcore.types.retrieval import Segment as Segment
from ragcore.types.retrieval import Step as Step
from ragcore.types.retrieval import SubQuery as SubQuery
from ragcore.types.retrieval import Theme as Theme
from ragcore.types.retrieval import Trace as Trace
from ragcore.types.retrieval import Usage as Usage
from ragcore.types.spending import OFFLINE as OFFLINE
from ragcore.types.spending import Purpose as Purpose
from ragcore.types.spending import Spending as Spending
from ragcore.types.spending import Spent as Spent
