"""Times the function `work` of the file in argv[1], called with the number in argv[2] where there is one: prints its result, the first time and the median of later ones, in ms."""

import statistics
import sys
import time

names = {}
with open(sys.argv[1]) as file:
    exec(compile(file.read(), sys.argv[1], "exec"), names)
work = names["work"]
sizes = [int(word) for word in sys.argv[2:]]


def timed():
    start = time.process_time()
    result = work(*sizes)
    return (time.process_time() - start) * 1000, result


cold, result = timed()
times = []
while len(times) < 4 or sum(times) < 250:
    times.append(timed()[0])
print(result)
print(cold)
print(statistics.median(times))
