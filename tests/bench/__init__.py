"""The figures that this project promises, each measured beside what it is compared with.

`make bench` runs them all; start with `__main__`. One module a figure, each with one function
`measure`; `figure` says what a figure is, `games` plays the games that are measured on.
"""
