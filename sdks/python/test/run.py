"""Runs the unit tests and prints one line of JSON per test, so that each is counted; --list prints their names alone."""

import json
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent


def names(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from names(one)
        else:
            yield one


class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.broken = {}

    def addFailure(self, test, error):
        self.broken[test.id()] = self._exc_info_to_string(error, test)

    addError = addFailure

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.broken[test.id()] = self._exc_info_to_string(error, test)


def main():
    suite = unittest.TestLoader().discover(str(HERE))
    if "--list" in sys.argv:
        for test in names(suite):
            print(json.dumps({"id": test.id(), "title": test.shortDescription() or test.id()}))
        return
    tests = [test.id() for test in names(suite)]
    result = Result()
    suite.run(result)
    for id in tests:
        print(json.dumps({"id": id, "failure": result.broken.get(id)}))


main()
