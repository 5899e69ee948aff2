class Reader:
    def __init__(self, text):
        self.text = text
        self.at = 0

    def parse(self):
        value = self.value()
        self.skip()
        if self.at != len(self.text):
            raise ValueError(f"unexpected {self.text[self.at]} at {self.at}")
        return value

    def skip(self):
        while self.at < len(self.text) and self.text[self.at] in " \n\t\r":
            self.at += 1

    def value(self):
        self.skip()
        c = self.text[self.at]
        if c == "{":
            return self.object()
        if c == "[":
            return self.array()
        if c == '"':
            return self.string()
        if c == "t":
            self.at += 4
            return True
        if c == "f":
            self.at += 5
            return False
        if c == "n":
            self.at += 4
            return None
        return self.number()

    def object(self):
        result = {}
        self.at += 1
        self.skip()
        while self.text[self.at] != "}":
            key = self.string()
            self.skip()
            if self.text[self.at] != ":":
                raise ValueError(f"expected : at {self.at}")
            self.at += 1
            result[key] = self.value()
            self.skip()
            if self.text[self.at] == ",":
                self.at += 1
                self.skip()
        self.at += 1
        return result

    def array(self):
        items = []
        self.at += 1
        self.skip()
        while self.text[self.at] != "]":
            items.append(self.value())
            self.skip()
            if self.text[self.at] == ",":
                self.at += 1
        self.at += 1
        return items

    def string(self):
        out = ""
        self.at += 1
        while self.text[self.at] != '"':
            if self.text[self.at] == "\\":
                self.at += 1
                out += "\n" if self.text[self.at] == "n" else self.text[self.at]
            else:
                out += self.text[self.at]
            self.at += 1
        self.at += 1
        return out

    def number(self):
        start = self.at
        if self.text[self.at] == "-":
            self.at += 1
        while self.at < len(self.text) and self.text[self.at] in "0123456789.":
            self.at += 1
        text = self.text[start : self.at]
        return float(text) if "." in text else int(text)


def quote(text):
    out = '"'
    for c in text:
        if c in '"\\':
            out += "\\"
        out += c
    return out + '"'


def write(value):
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, list):
        return "[" + ",".join(map(write, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(quote(key) + ":" + write(value[key]) for key in sorted(value)) + "}"
    return str(value)


def make_document(size):
    items = []
    for i in range(size):
        on = "true" if i % 2 == 0 else "false"
        items.append(
            f'{{"id": {i}, "name": "item \\"{i}\\"", "tags": ["a{i % 7}", "b", null], "price": {i * 3}.25, "on": {on}}}'
        )
    return (
        f'{{ "count" : {size},\n "items": [{", ".join(items)}], "meta": {{"empty": [], "none": {{}}, "neg": -12}} }}'
    )


def work(n):
    document = Reader(make_document(n)).parse()
    again = write(document)
    twice = write(Reader(again).parse())
    total = 0
    for item in document["items"]:
        total += item["id"] + len(item["name"]) + int(item["price"] * 4)
    return f"json_reader {len(again)} {total} {'true' if again == twice else 'false'}"
