"""The fuzz: random cases without end, against arbitrary precision, bad arguments and hostile files.

Plain functions of n and seed. `make test` runs a few seconds of each, `make fuzz` all of it, with a record.
"""
