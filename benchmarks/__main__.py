"""``make bench``: what can be measured without data of one's own, and with ``--data DIR`` everything."""

import argparse
import subprocess
import sys

ALONE = ("benchmarks.demo_answers",)
WITH_DATA = ("benchmarks.retrieval_quality", "benchmarks.grading_quality", "benchmarks.turn_latency")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder of the data sets")
    options = parser.parse_args()
    jobs: list[tuple[str, ...]] = [(module,) for module in ALONE]
    if options.data:
        jobs += [(module, "--data", options.data) for module in WITH_DATA]
    codes = []
    for module, *arguments in jobs:
        print(f"\n== {module}", flush=True)
        codes.append(subprocess.run([sys.executable, "-m", module, *arguments], check=False).returncode)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
