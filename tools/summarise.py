"""Adds up the results of test runs (JUnit XML) and prints them as one line."""

import sys
import xml.etree.ElementTree as ElementTree


def main(paths):
    passed = failed = skipped = 0
    for path in paths:
        for case in ElementTree.parse(path).iter("testcase"):
            kinds = {child.tag for child in case}
            if kinds & {"failure", "error"} or case.get("status") == "fail":
                failed += 1
            elif "skipped" in kinds or case.get("status") in ("disabled", "notrun"):
                skipped += 1
            else:
                passed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
