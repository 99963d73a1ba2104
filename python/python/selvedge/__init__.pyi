from os import PathLike
from typing import Any, Dict, List, Optional, Sequence, Union

__version__: str

class SelvedgeError(Exception): ...

class Program:
    def __init__(
        self,
        text: str,
        *,
        language: str = "bp",
        name: Optional[str] = None,
        defines: Optional[Dict[str, str]] = None,
        include: Sequence[str] = (),
        file_options: bool = True,
    ) -> None: ...
    @staticmethod
    def from_path(
        path: Union[str, "PathLike[str]"],
        *,
        defines: Optional[Dict[str, str]] = None,
        include: Sequence[str] = (),
        file_options: bool = True,
    ) -> "Program": ...
    @property
    def text(self) -> str: ...
    @property
    def warnings(self) -> List[str]: ...

class Question:
    def __init__(
        self,
        *,
        threads: Optional[int] = None,
        initial: Union[int, str, None] = None,
        label: Optional[str] = None,
        assertion: Optional[str] = None,
        together: Sequence[str] = (),
        deadlock: bool = False,
        entry: Optional[str] = None,
        properties: Sequence[str] = (),
    ) -> None: ...

class CancelToken:
    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    @property
    def cancelled(self) -> bool: ...

class Limits:
    def __init__(
        self,
        *,
        time: Optional[float] = None,
        memory: Optional[int] = None,
        jobs: Optional[int] = None,
        engine: Optional[str] = None,
        cancel: Optional[CancelToken] = None,
    ) -> None: ...

class Change:
    variable: str
    before: Union[bool, int, None]
    after: Union[bool, int]

class Step:
    thread: str
    procedure: str
    file: str
    line: int
    column: int
    statement: str
    changes: List[Change]
    notes: List[str]

class Failure:
    what: str
    thread: str
    file: str
    line: int
    column: int
    statement: str

class Trace:
    @staticmethod
    def from_json(
        text: str, program: Program, question: Optional[Question] = None, limits: Optional[Limits] = None
    ) -> "Trace": ...
    @property
    def steps(self) -> List[Step]: ...
    @property
    def failure(self) -> Failure: ...
    def to_json(self) -> str: ...
    def to_frame(self) -> Any: ...
    def verify(
        self, program: Program, question: Optional[Question] = None, limits: Optional[Limits] = None
    ) -> None: ...

class Certificate:
    @staticmethod
    def from_json(text: str) -> "Certificate": ...
    @property
    def description(self) -> Optional[str]: ...
    def to_json(self) -> str: ...
    def verify(
        self, program: Program, question: Optional[Question] = None, limits: Optional[Limits] = None
    ) -> str: ...

class Answer:
    @property
    def verdict(self) -> str: ...
    @property
    def headline(self) -> str: ...
    @property
    def reason(self) -> Optional[str]: ...
    @property
    def certified(self) -> bool: ...
    @property
    def engine(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    @property
    def trace(self) -> Optional[Trace]: ...
    @property
    def certificate(self) -> Optional[Certificate]: ...
    def verify(self, limits: Optional[Limits] = None) -> str: ...
    def to_json(self) -> str: ...
    def to_html(self) -> str: ...
    def _repr_html_(self) -> str: ...

def check(program: Program, question: Optional[Question] = None, limits: Optional[Limits] = None) -> Answer: ...
