"""The fuzzer: each kind of bug that it looks for, planted, is found and cut down; sound rules have none."""
