# SPDX-License-Identifier: Apache-2.0
"""The programs of examples/manifest.json, each recorded until it fails (the correct ones once)."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def output_of(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}")
    return done.stdout


def options_of(doc):
    """BUILD [NAME...] from the command line; `doc` says what the program does."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("build", metavar="BUILD")
    parser.add_argument("names", metavar="NAME", nargs="*", help="only these examples")
    return parser.parse_args()


def recorded(options):
    """For each example: it, its trace, and a function that asks svd-analyze for JSON."""
    analyze = os.path.join(options.build, "bin", "svd-analyze")

    def ask(*words):
        return json.loads(output_of([analyze, words[0], "-q", "--format=json", *words[1:]]))

    with open(os.path.join(ROOT, "examples", "manifest.json"), encoding="utf-8") as manifest:
        examples = json.load(manifest)["examples"]
    for example in examples:
        if options.names and example["name"] not in options.names:
            continue
        with tempfile.TemporaryDirectory(prefix="svd-bench-") as scratch:
            places = {"{bin}": os.path.join(options.build, "examples"), "{scratch}": scratch}
            words = [re.sub(r"\{\w+\}", lambda m: places[m.group()], w) for w in example["program"]]
            trace = os.path.join(scratch, "trace.fb")
            record = [os.path.join(options.build, "bin", "svd-record"), "-q", "--chaos=1", "-o", trace]
            if example["symptom"]:
                record += ["--runs=50", "--until-failure"]
                if "check" in example:
                    record.append("--check=" + example["check"])
            output_of([*record, "--", *words])
            yield example, trace, ask
