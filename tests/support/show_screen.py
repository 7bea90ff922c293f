"""show_screen.py COLUMNS ROWS <BYTES: what a terminal of this size shows at the end, below what has left it at the top.

It knows what hpcboot's programs send: text of narrow characters, and the sequences for styles, F, H and J (ECMA-48).
"""
import re
import sys

columns, rows = int(sys.argv[1]), int(sys.argv[2])
lines, top, row, column = [""], 0, 0, 0
for style, number, action, character in re.findall(
        r"\x1b\[([0-9;]*m)|\x1b\[([0-9]*)([FHJ])|([^\x1b])", sys.stdin.buffer.read().decode()):
    if action == "F":
        row, column = max(top, row - int(number or 1)), 0
    elif action == "H":
        row, column = top, 0
    elif action == "J":
        lines[row:] = [lines[row][:column]]
    elif character == "\r":
        column = 0
    elif character:
        if character == "\n" or column == columns:
            row, column = row + 1, column if character == "\n" else 0
            if row == len(lines):
                lines.append("")
            top = max(top, row + 1 - rows)
        if character != "\n":
            lines[row] = lines[row][:column].ljust(column) + character + lines[row][column + 1:]
            column += 1
print("\n".join(lines))
