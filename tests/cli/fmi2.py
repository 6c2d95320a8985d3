"""A small importer of FMI 2.0: reads an FMU, checks its description against the standard's rules, calls its library.

Written after the standard's public headers and schema (FMI 2.0.3), without anything of quorum; the schema itself is not run.
"""
import ctypes
import re
import xml.etree.ElementTree as ElementTree
import zipfile
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_double, c_int, c_size_t, c_uint, c_void_p

OK, WARNING, DISCARD, ERROR, FATAL, PENDING = range(6)
MODEL_EXCHANGE, CO_SIMULATION = range(2)
LAST_SUCCESSFUL_TIME, TERMINATED = 2, 3

# ---- The description ----

BOOLEAN = re.compile(r"true|false|0|1")
UNSIGNED = re.compile(r"[0-9]+")
REAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
LINE = re.compile(r"[^\t\r\n]*")  # a normalizedString
TEXT = re.compile(r"[\s\S]*")
NUMBERS = re.compile(r"[0-9]+( [0-9]+)*|")

CAPABILITIES = {"modelIdentifier!": re.compile("[A-Za-z_][A-Za-z0-9_]*"), "needsExecutionTool": BOOLEAN,
                "canBeInstantiatedOnlyOncePerProcess": BOOLEAN, "canNotUseMemoryManagementFunctions": BOOLEAN,
                "canGetAndSetFMUstate": BOOLEAN, "canSerializeFMUstate": BOOLEAN,
                "providesDirectionalDerivative": BOOLEAN}
UNKNOWN = {"index!": UNSIGNED, "dependencies": NUMBERS,
           "dependenciesKind": re.compile("((dependent|constant|fixed|tunable|discrete) ?)*")}

# Of each element: its attributes (! is required), its children in order, each with how often it may come.
RULES = {
    "fmiModelDescription": (
        {"fmiVersion!": re.compile("2\\.0"), "modelName!": TEXT, "guid!": LINE, "description": TEXT, "author": TEXT,
         "version": LINE, "copyright": TEXT, "license": TEXT, "generationTool": LINE, "generationDateAndTime": LINE,
         "variableNamingConvention": re.compile("flat|structured"), "numberOfEventIndicators": UNSIGNED},
        [("ModelExchange", 0, 1), ("CoSimulation", 0, 1), ("LogCategories", 0, 1), ("DefaultExperiment", 0, 1),
         ("ModelVariables", 1, 1), ("ModelStructure", 1, 1)]),
    "ModelExchange": ({**CAPABILITIES, "completedIntegratorStepNotNeeded": BOOLEAN}, [("SourceFiles", 0, 1)]),
    "CoSimulation": ({**CAPABILITIES, "canHandleVariableCommunicationStepSize": BOOLEAN, "canInterpolateInputs": BOOLEAN,
                      "maxOutputDerivativeOrder": UNSIGNED, "canRunAsynchronuously": BOOLEAN}, [("SourceFiles", 0, 1)]),
    "SourceFiles": ({}, [("File", 1, None)]),
    "File": ({"name!": LINE}, []),
    "LogCategories": ({}, [("Category", 1, None)]),
    "Category": ({"name!": LINE, "description": TEXT}, []),
    "ModelVariables": ({}, [("ScalarVariable", 1, None)]),
    "ScalarVariable": (
        {"name!": LINE, "valueReference!": UNSIGNED, "description": TEXT,
         "causality": re.compile("parameter|calculatedParameter|input|output|local|independent"),
         "variability": re.compile("constant|fixed|tunable|discrete|continuous"),
         "initial": re.compile("exact|approx|calculated"), "canHandleMultipleSetPerTimeInstant": BOOLEAN},
        [("Real", 1, 1)]),
    "Real": ({"start": REAL, "unit": LINE, "min": REAL, "max": REAL, "nominal": REAL, "derivative": UNSIGNED}, []),
    "ModelStructure": ({}, [("Outputs", 0, 1), ("Derivatives", 0, 1), ("InitialUnknowns", 0, 1)]),
    "Outputs": ({}, [("Unknown", 1, None)]),
    "InitialUnknowns": ({}, [("Unknown", 1, None)]),
    "Unknown": (UNKNOWN, []),
}


def check_element(element):
    attributes, children = RULES[element.tag]
    allowed = {name.rstrip("!"): pattern for name, pattern in attributes.items()}
    for name, value in element.attrib.items():
        assert name in allowed, f"{element.tag} has no attribute {name}"
        assert allowed[name].fullmatch(value), f"{element.tag}: {name}={value!r}"
    for name in attributes:
        assert not name.endswith("!") or name[:-1] in element.attrib, f"{element.tag} lacks {name}"
    assert not (element.text or "").strip() and not (element.tail or "").strip()
    tags = [child.tag for child in element]
    order = [name for name, _, _ in children]
    assert set(tags) <= set(order) and tags == sorted(tags, key=order.index), f"{element.tag}: {tags}"
    for name, least, most in children:
        assert least <= tags.count(name) and (most is None or tags.count(name) <= most), f"{element.tag}: {name}"
    for child in element:
        check_element(child)


def check_description(root):
    """What a schema says, then what only the text of the standard does."""
    assert root.tag == "fmiModelDescription"
    check_element(root)
    assert root.find("ModelExchange") is not None or root.find("CoSimulation") is not None
    variables = root.findall("ModelVariables/ScalarVariable")
    names = [v.get("name") for v in variables]
    assert len(set(names)) == len(names), "names are to be different"
    outputs = []
    for index, variable in enumerate(variables, 1):
        start = variable.find("Real").get("start")
        if variable.get("causality") == "input":
            assert start is not None and variable.get("initial") is None
        if variable.get("causality") == "output":
            assert start is None and variable.get("initial") in (None, "calculated")
            outputs.append(index)
    inputs = {i for i, v in enumerate(variables, 1) if v.get("causality") == "input"}
    for part in ("Outputs", "InitialUnknowns"):
        unknowns = root.findall(f"ModelStructure/{part}/Unknown")
        assert [int(u.get("index")) for u in unknowns] == outputs, part
        for unknown in unknowns:
            known = [int(i) for i in unknown.get("dependencies").split()]
            assert known == sorted(set(known)) and set(known) <= inputs
    return variables


# ---- The library ----

LOGGER = CFUNCTYPE(None, c_void_p, c_char_p, c_int, c_char_p, c_char_p, c_char_p)  # the standard's has "..." at its end
REFERENCES, REALS, INTEGERS = POINTER(c_uint), POINTER(c_double), POINTER(c_int)


class Callbacks(ctypes.Structure):
    _fields_ = [("logger", LOGGER), ("allocate", c_void_p), ("free", c_void_p), ("finished", c_void_p),
                ("environment", c_void_p)]


class EventInfo(ctypes.Structure):
    _fields_ = [(name, c_int) for name in ("new", "terminate", "nominals", "values", "defined")] + [("next", c_double)]


COMMON = {
    "SetDebugLogging": [c_int, c_size_t, POINTER(c_char_p)],
    "SetupExperiment": [c_int, c_double, c_double, c_int, c_double],
    "EnterInitializationMode": [], "ExitInitializationMode": [], "Terminate": [], "Reset": [],
    "GetReal": [REFERENCES, c_size_t, REALS], "SetReal": [REFERENCES, c_size_t, REALS],
    "GetInteger": [REFERENCES, c_size_t, INTEGERS], "SetInteger": [REFERENCES, c_size_t, INTEGERS],
    "GetBoolean": [REFERENCES, c_size_t, INTEGERS], "SetBoolean": [REFERENCES, c_size_t, INTEGERS],
    "GetString": [REFERENCES, c_size_t, POINTER(c_char_p)], "SetString": [REFERENCES, c_size_t, POINTER(c_char_p)],
    "GetFMUstate": [POINTER(c_void_p)], "SetFMUstate": [c_void_p], "FreeFMUstate": [POINTER(c_void_p)],
    "SerializedFMUstateSize": [c_void_p, POINTER(c_size_t)], "SerializeFMUstate": [c_void_p, c_char_p, c_size_t],
    "DeSerializeFMUstate": [c_char_p, c_size_t, POINTER(c_void_p)],
    "GetDirectionalDerivative": [REFERENCES, c_size_t, REFERENCES, c_size_t, REALS, REALS],
}
EXCHANGE = {
    "EnterEventMode": [], "NewDiscreteStates": [POINTER(EventInfo)], "EnterContinuousTimeMode": [],
    "CompletedIntegratorStep": [c_int, INTEGERS, INTEGERS], "SetTime": [c_double], "SetContinuousStates": [REALS, c_size_t],
    "GetDerivatives": [REALS, c_size_t], "GetEventIndicators": [REALS, c_size_t], "GetContinuousStates": [REALS, c_size_t],
    "GetNominalsOfContinuousStates": [REALS, c_size_t],
}
SIMULATION = {
    "SetRealInputDerivatives": [REFERENCES, c_size_t, INTEGERS, REALS],
    "GetRealOutputDerivatives": [REFERENCES, c_size_t, INTEGERS, REALS], "DoStep": [c_double, c_double, c_int],
    "CancelStep": [], "GetStatus": [c_int, INTEGERS], "GetRealStatus": [c_int, REALS], "GetIntegerStatus": [c_int, INTEGERS],
    "GetBooleanStatus": [c_int, INTEGERS], "GetStringStatus": [c_int, POINTER(c_char_p)],
}


def array(kind, values):
    return (kind * len(values))(*values)


class Unit:
    """An FMU, unpacked into a folder."""

    def __init__(self, path, folder):
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
            self.members = archive.namelist()
            archive.extractall(folder)
        root = ElementTree.parse(folder / "modelDescription.xml").getroot()
        self.description, self.variables = root, check_description(root)
        self.references = {v.get("name"): int(v.get("valueReference")) for v in self.variables}
        self.identifier = root.find("CoSimulation").get("modelIdentifier")
        assert root.find("ModelExchange").get("modelIdentifier") == self.identifier
        for file in root.iter("File"):
            assert "sources/" + file.get("name") in self.members
        self.guid = root.get("guid")
        self.path = folder / "binaries" / "linux64" / f"{self.identifier}.so"

    def load(self):
        self.library = ctypes.CDLL(str(self.path))
        for name, arguments in {**COMMON, **EXCHANGE, **SIMULATION}.items():
            function = getattr(self.library, "fmi2" + name)
            function.argtypes, function.restype = [c_void_p, *arguments], c_int
        for name in ("GetTypesPlatform", "GetVersion"):
            getattr(self.library, "fmi2" + name).restype = c_char_p
        self.library.fmi2Instantiate.argtypes = [c_char_p, c_int, c_char_p, c_char_p, POINTER(Callbacks), c_int, c_int]
        self.library.fmi2Instantiate.restype = c_void_p
        self.library.fmi2FreeInstance.argtypes, self.library.fmi2FreeInstance.restype = [c_void_p], None
        return self


class Instance:
    def __init__(self, unit, kind=CO_SIMULATION, name=b"one", guid=None):
        self.unit, self.said = unit, []
        self.logger = LOGGER(lambda environment, who, status, category, form, message:
                             self.said.append((who, status, category, form.replace(b"%s", message or b"").decode())))
        self.callbacks = Callbacks(self.logger, None, None, None, None)
        self.handle = unit.library.fmi2Instantiate(name, kind, (unit.guid if guid is None else guid).encode(), b"file:///x",
                                                   ctypes.byref(self.callbacks), 0, 0)

    def call(self, name, *arguments, status=OK):
        got = getattr(self.unit.library, "fmi2" + name)(self.handle, *arguments)
        assert got == status, (name, got, self.said)

    def start(self):
        self.call("SetupExperiment", 0, 0.0, 0.0, 0, 0.0)
        self.call("EnterInitializationMode")
        self.call("ExitInitializationMode")
        return self

    def references(self, names):
        return array(c_uint, [self.unit.references[name] for name in names])

    def set(self, values, status=OK):
        self.call("SetReal", self.references(values), len(values), array(c_double, values.values()), status=status)

    def get(self, names, status=OK):
        out = array(c_double, [0.0] * len(names))
        self.call("GetReal", self.references(names), len(names), out, status=status)
        return list(out)

    def slope(self, unknowns, change):
        out = array(c_double, [0.0] * len(unknowns))
        self.call("GetDirectionalDerivative", self.references(unknowns), len(unknowns), self.references(change), len(change),
                  array(c_double, change.values()), out)
        return list(out)

    def free(self):
        self.unit.library.fmi2FreeInstance(self.handle)
