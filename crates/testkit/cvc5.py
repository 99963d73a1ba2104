#!/usr/bin/env python3
"""cvc5 of the Python package as a program that reads SMT-LIB from its input and answers command by command."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import cvc5

if "--version" in sys.argv:
    print("This is cvc5 version " + cvc5.Solver(cvc5.TermManager()).getVersion().decode() + " (Python package)")
    sys.exit(0)
manager = cvc5.TermManager()
solver = cvc5.Solver(manager)
for option in ("incremental", "produce-models", "produce-unsat-assumptions"):
    solver.setOption(option, "true")
symbols = cvc5.SymbolManager(manager)
parser = cvc5.InputParser(solver, symbols)


def depth(line):
    bars = line.split("|")
    return sum(part.count("(") - part.count(")") for part in bars[::2])


text, open_lists = "", 0
for line in sys.stdin:
    text, open_lists = text + line, open_lists + depth(line)
    if open_lists > 0:
        continue
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "input")
    text = ""
    try:
        while True:
            command = parser.nextCommand()
            if command.isNull():
                break
            answer = command.invoke(solver, symbols)
            if command.getCommandName() == "exit":
                sys.exit(0)
            sys.stdout.write(str(answer))
    except Exception as error:
        sys.stdout.write('(error "%s")\n' % str(error).replace('"', '""'))
    sys.stdout.flush()
