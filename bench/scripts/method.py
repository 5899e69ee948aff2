def work():
    words = ["alpha", "beta", "gamma", "delta"]
    total = 0
    for i in range(500000):
        word = words[i % 4]
        if "a" in word:
            total = total + word.find("a")
        total = (total + len(word) + len(words)) % 1000003
    return str(total)
