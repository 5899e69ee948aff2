class RuleError(Exception):
    def __init__(self, field, code):
        super().__init__(f"{field}/{code}")


def make_records(count):
    seed = 3
    records = []
    for id in range(count):
        seed = seed * 16807 % 2147483647
        age = "old" if seed % 6 == 0 else str(seed % 130)
        email = "nobody" if seed % 5 == 0 else f"u{id}@example{seed % 3}.org"
        record = {"id": id, "name": f" User {id} ", "age": age, "email": email}
        if seed % 11 == 0:
            del record["name"]
        records.append(record)
    return records


def clean_record(record):
    return {key: value.strip().lower() if isinstance(value, str) else value for key, value in record.items()}


def check_name(record):
    if "name" not in record:
        raise RuleError("name", "missing")
    if len(record["name"]) < 6:
        raise RuleError("name", "short")
    return record


def check_age(record):
    try:
        age = int(record["age"])
    except ValueError:
        raise Exception("age is not a number")
    if age >= 120:
        raise Exception("nobody is that old")
    if age < 18:
        raise RuleError("age", "minor")
    return {**record, "age": age}


def known_domain(name):
    if name.startswith("example2"):
        raise Exception("unknown")
    return name


def check_email(record):
    parts = record["email"].split("@")
    if len(parts) != 2:
        raise RuleError("email", "form")
    try:
        return {**record, "domain": known_domain(parts[1])}
    except Exception as e:
        raise RuleError("email", str(e))


def work(n):
    good = []
    problems = {}
    finished = 0
    for record in make_records(n):
        try:
            current = clean_record(record)
            for rule in (check_name, check_age, check_email):
                current = rule(current)
            good.append(current)
        except Exception as e:
            problems.setdefault(str(e), []).append(record["id"])
        finally:
            finished += 1
    parts = [f"{key}:{len(problems[key])}:{sum(problems[key])}" for key in sorted(problems)]
    return f"form_checks {finished} {len(good)} {sum(record['age'] for record in good)} {' '.join(parts)}"
