"""How right the map is: definitions by tree-sitter's grammars (`pip install "tree-sitter-language-pack<1"`) against the scanners'.

Required of a scanner: functions, classes, interfaces, types and enums at top level; methods, constructors and nested types
(members); exported constants. Fields, locals, macros, modules and prototypes are optional: never demanded, never
punished. What a grammar cannot read counts neither way.
"""
