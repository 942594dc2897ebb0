"""Parses a plot, and holds every two of its rectangles against each other."""
import sys
import xml.etree.ElementTree as xml

SVG = "{http://www.w3.org/2000/svg}"
ROUNDING = 0.011  # the least side of a rectangle, where its own would round to 0

boxes = []
for box in xml.parse(sys.argv[1]).iter(SVG + "rect"):
    if box.find(SVG + "title") is not None:  # neither page, band nor legend
        x, y, width, height = (float(box.get(key)) for key in ("x", "y", "width", "height"))
        boxes.append((x, y, x + width, y + height, box.find(SVG + "title").text))
for i, (x0, y0, x1, y1, name) in enumerate(boxes):
    assert 80 <= x0 < x1 <= 1030.01 and 100 <= y0 < y1 <= 660.01, name
    for u0, v0, u1, v1, other in boxes[:i]:
        meet = min(x1, u1) - max(x0, u0) > ROUNDING and min(y1, v1) - max(y0, v0) > ROUNDING
        assert not meet, f"{name} on {other}"
print(len(boxes), "rectangles, none on another")
