"""The benchmarks of this project: each figure with its goal, measured beside what it is compared with.

`make bench` runs them all; start with `__main__`. Each figure has a module with one function
`measure`; `figure` defines what it returns, `games` plays the games that it measures.
"""
