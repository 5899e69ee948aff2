def work():
    text = ""
    for i in range(100000):
        text += f"item {i}, "
    parts = text.split(", ")
    length = 0
    for part in parts:
        length = length + len(part)
    joined = ";".join(parts)
    return str(len(text)) + " " + str(len(parts)) + " " + str(length) + " " + str(len(joined))
